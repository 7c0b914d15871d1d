"""A report as text for people; as JSON it is the dataclasses themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from api.measure.bench.goals import verdicts
from api.measure.bench.model import TO_PROMPT, Report, SizeFigures
from api.measure.bench.statistics import Percentiles

Table = Callable[[Sequence[str], Iterable[Sequence[object]]], str]


def report_json(report: Report) -> dict[str, Any]:
    """The report and its verdicts as one document."""
    document = asdict(report)
    for measured, shown in zip(report.sizes, document["sizes"], strict=True):
        shown["ingested"]["passages_per_s"] = round(measured.ingested.passages_per_s, 1)
    return document | {"goals": [asdict(verdict) | {"met": verdict.met} for verdict in verdicts(report)]}


def report_text(report: Report, table: Table) -> str:
    """The report as tables, one block after another."""
    return "\n\n".join(_blocks(report, table))


_INGEST = ("size", "files", "passages", "records", "s", "passages/s", "peak MiB", "disk MiB")
_BESIDE = (
    *("size", "channel", "n", "statements", "p50", "p99", "bare p50", "bare p99", "x", "more"),
    *("folder p50", "p99"),
)


def _blocks(report: Report, table: Table) -> Iterator[str]:
    yield "\n".join(f"{name}: {_plain(value)}" for name, value in {**report.machine, **report.plan}.items())
    yield "Ingest\n" + table(_INGEST, map(_ingest, report.sizes))
    yield "On disk, MiB\n" + table(
        ["size", *_names(report, lambda m: m.ingested.disk_mib)],
        _columns(report, lambda m: m.ingested.disk_mib),
    )
    yield "Stages, ms\n" + _spreads(report, table, lambda m: m.load.stages)
    yield "Channels, ms\n" + _spreads(report, table, lambda m: m.load.channels)
    yield "Sums per request, ms\n" + _spreads(report, table, lambda m: m.load.sums)
    yield "Whole request, ms\n" + _spreads(report, table, lambda m: m.load.requests)
    yield "Requests per second\n" + table(
        ["", *(f"{m.size:,}" for m in report.sizes)],
        ([name, *(m.load.throughput[name] for m in report.sizes)] for name in report.sizes[0].load.throughput),
    )
    yield "Outcomes of a round\n" + table(
        ["kind", *(f"{m.size:,}" for m in report.sizes)],
        ([kind, *(_plain(m.load.outcomes[kind]) for m in report.sizes)] for kind in report.sizes[0].load.outcomes),
    )
    yield "Process\n" + table(
        ["size", "peak MiB under load", "cold start s"],
        ([f"{m.size:,}", m.load.peak_memory_mib, m.cold_start_s] for m in report.sizes),
    )
    if on_servers := [m for m in report.sizes if m.servers]:
        yield from _server_blocks(replace(report, sizes=tuple(on_servers)), table)
    if any(m.peer for m in report.sizes):
        yield "Peer: question to prompt, ms\n" + table(
            ["size", "peer", "passages", "index s", "p50", "p95", "p99", "peak MiB", "ours p50", "peer / ours"],
            (_peer(m) for m in report.sizes if m.peer),
        )
    yield "Goals\n" + "\n".join(verdict.says for verdict in verdicts(report))


def _server_blocks(report: Report, table: Table) -> Iterator[str]:
    """Of sizes that were measured on servers too."""
    there = replace(
        report,
        sizes=tuple(
            replace(m, ingested=m.servers.ingested, load=m.servers.load) for m in report.sizes if m.servers is not None
        ),
    )
    yield "On servers: ingest\n" + table(_INGEST, map(_ingest, there.sizes))
    yield "On servers: channels, ms\n" + _spreads(there, table, lambda m: m.load.channels)
    yield "On servers: whole request, ms\n" + _spreads(there, table, lambda m: m.load.requests)
    beside = "each channel by itself, the driver alone with the same statements, the folder's"
    yield f"On servers: {beside}, ms\n" + table(_BESIDE, (row for m in report.sizes for row in _beside(m)))


def _ingest(measured: SizeFigures) -> list[object]:
    done = measured.ingested
    return [
        f"{measured.size:,}", done.files, f"{done.passages:,}", f"{done.records:,}", f"{done.seconds:.1f}",
        f"{done.passages_per_s:,.0f}", done.peak_memory_mib, round(sum(done.disk_mib.values()), 1),
    ]  # fmt: skip


def _beside(measured: SizeFigures) -> Iterator[list[object]]:
    for name, one in (measured.servers.beside if measured.servers else {}).items():
        ours, bare, folder = one.channel, one.bare, one.embedded
        yield [
            f"{measured.size:,}", name, ours.n, one.statements, f"{ours.p50:.2f}", f"{ours.p99:.2f}", f"{bare.p50:.2f}",
            f"{bare.p99:.2f}", f"{one.times:.2f}", f"{one.more_ms:.2f}", f"{folder.p50:.2f}",
            f"{folder.p99:.2f}",
        ]  # fmt: skip


def _peer(measured: SizeFigures) -> list[object]:
    peer = measured.peer
    if peer is None:
        raise AssertionError("there was no peer")
    ours = measured.load.sums[TO_PROMPT].p50
    return [
        f"{measured.size:,}", peer.name, f"{peer.passages:,}", peer.index_seconds, *_numbers(peer.query),
        peer.peak_memory_mib, f"{ours:.2f}", f"{peer.query.p50 / ours:.1f}",
    ]  # fmt: skip


def _spreads(report: Report, table: Table, of: Callable[[SizeFigures], Mapping[str, Percentiles]]) -> str:
    """One row per name, three columns per size."""
    headings = [f"{name} {size}" for size in (f"{m.size:,}" for m in report.sizes) for name in ("p50", "p95", "p99")]
    rows = []
    for name in _names(report, of):
        found = [of(measured).get(name) for measured in report.sizes]
        rows.append([name, *(cell for one in found for cell in (("", "", "") if one is None else _numbers(one)))])
    return table(["", *headings], rows)


def _numbers(one: Percentiles) -> tuple[str, str, str]:
    return f"{one.p50:.2f}", f"{one.p95:.2f}", f"{one.p99:.2f}"


def _names(report: Report, of: Callable[[SizeFigures], Mapping[str, object]]) -> list[str]:
    return list(dict.fromkeys(name for measured in report.sizes for name in of(measured)))


def _columns(report: Report, of: Callable[[SizeFigures], Mapping[str, float]]) -> Iterator[list[object]]:
    for measured in report.sizes:
        yield [f"{measured.size:,}", *(of(measured).get(name, "") for name in _names(report, of))]


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_plain(item)}" for name, item in value.items())
    return " ".join(str(item) for item in value) if isinstance(value, tuple | list) else str(value)
