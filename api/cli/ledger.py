"""`exhibit ledger`: what was recorded, and whether it still holds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.console import bold, configuration, emit, note, table
from api.cli.options import AsJson, Home
from api.problems import EXIT_VERIFICATION

if TYPE_CHECKING:
    from ledger.ledger import Ledger
    from ledger.model import Entry, VerifyReport

app = typer.Typer(help="Read and verify the ledger.", no_args_is_help=True, rich_markup_mode=None)
EntryId = Annotated[str, typer.Argument(help="Id of the entry.")]


@app.command("list")
def list_entries(
    *,
    after: Annotated[int, typer.Option("--after", help="Only entries above this index.")] = -1,
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="Most entries.")] = 100,
    kind: Annotated[str | None, typer.Option("--kind", help="Only this kind.")] = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Entries by index."""
    from api.records import entry_json
    from ledger.model import Kind

    if kind is not None and kind not in list(Kind):
        raise typer.BadParameter(f"unknown kind {kind!r}; known: {', '.join(Kind)}")
    chosen = None if kind is None else Kind(kind)
    found = _with_ledger(home, lambda ledger: ledger.entries(after=after, limit=limit, kind=chosen))
    rows = [[e.index, e.leaf.kind, _time(e.leaf.t_ms), e.leaf.entry_id, e.leaf_hash[:16]] for e in found]
    emit(
        [entry_json(entry) for entry in found],
        as_json=as_json,
        render=lambda: table(["index", "kind", "time", "entry", "leaf"], rows),
    )


@app.command()
def show(
    entry_id: EntryId,
    *,
    part: Annotated[str | None, typer.Option("--part", help="Print this part as recorded.")] = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """One entry: what it commits to, and with --part the recorded bytes of a part."""
    from api.records import entry_json

    if part is not None:
        print(_with_ledger(home, lambda ledger: ledger.part(entry_id, part)).decode("utf-8", "replace"))
        return
    entry = _with_ledger(home, lambda ledger: ledger.entry(entry_id))
    emit(entry_json(entry), as_json=as_json, render=lambda: _shown(entry))


@app.command()
def verify(
    *,
    receipt: Annotated[
        Path | None, typer.Option("--receipt", help="Verify this receipt instead of the whole log.")
    ] = None,
    vkey: Annotated[
        str | None, typer.Option("--vkey", help="The log's verifier key, for --receipt without the folder.")
    ] = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Recompute everything from the stored bytes. Exit code 7: something does not hold; the first thing is named."""
    if receipt is not None:
        _verify_receipt(receipt, vkey or _with_ledger(home, _vkey), as_json=as_json)
        return
    report = _with_ledger(home, lambda ledger: ledger.verify())
    emit(report_json(report), as_json=as_json, render=lambda: report_text(report))
    if not report.ok:
        raise typer.Exit(EXIT_VERIFICATION)


@app.command()
def checkpoint(home: Home = None, as_json: AsJson = False) -> None:
    """The signed checkpoint of the log's head, and the key that verifies it."""

    async def both(ledger: Ledger) -> tuple[str, str]:
        return await ledger.checkpoint(), ledger.vkey

    text, vkey = _with_ledger(home, both)
    note(f"verifier key: {vkey}")
    emit({"checkpoint": text, "vkey": vkey}, as_json=as_json, render=lambda: text.rstrip("\n"))


@app.command()
def proof(entry_id: EntryId, home: Home = None, as_json: AsJson = False) -> None:
    """The receipt of an entry, which verifies offline: exhibit ledger verify --receipt FILE --vkey KEY."""
    text = _with_ledger(home, lambda ledger: receipt_of(ledger, entry_id))
    emit({"entry_id": entry_id, "receipt": text}, as_json=as_json, render=lambda: text.rstrip("\n"))


async def receipt_of(ledger: Ledger, entry_id: str) -> str:
    """The receipt, with question or answer and the cited sources disclosed."""
    from api.records import disclosures

    return await ledger.receipt(entry_id, disclose=await disclosures(await ledger.entry(entry_id), ledger))


def report_json(report: VerifyReport) -> dict[str, Any]:
    """A verification as a document."""
    return {
        "verdict": str(report.verdict),
        "size": report.size,
        "root": report.root,
        "entries": report.entries,
        "parts": report.parts,
        "erased": report.erased,
        "checkpoints": report.checkpoints,
        "witnessed": report.witnessed,
        "problems": [
            {"step": p.step, "detail": p.detail, "index": p.index, "entry_id": p.entry_id, "part": p.part}
            for p in report.problems
        ],
        "dangling": [ref.entry_id for ref in report.dangling],
    }


def report_text(report: VerifyReport) -> str:
    """A verification for people: the verdict first, then each thing that does not hold."""
    lines = [
        f"{bold(str(report.verdict))}: {report.entries} entries, {report.parts} parts, {report.checkpoints} checkpoints"
    ]
    lines += [
        f"root {report.root}",
        "witnessed" if report.witnessed else "unwitnessed: the operator alone vouches for the checkpoints",
    ]
    lines += [str(problem) for problem in report.problems]
    lines += [f"dangling intent {ref.entry_id}: its request ended without an outcome" for ref in report.dangling]
    return "\n".join(lines)


def _verify_receipt(path: Path, vkey: str, *, as_json: bool) -> None:
    from api.errors import RequestRejected
    from ledger.receipt import verify_receipt

    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise RequestRejected(f"{path} cannot be read: {getattr(exc, 'strerror', None) or 'not UTF-8'}") from None
    verified = verify_receipt(text, vkey=vkey)
    document = {
        "verdict": "intact",
        "origin": verified.origin,
        "index": verified.index,
        "size": verified.size,
        "leaf_hash": verified.leaf_hash,
        "entry_id": verified.leaf.entry_id,
        "parts": sorted(verified.parts),
        "sources": sorted(verified.sources),
        "witnessed": verified.witnessed,
    }
    shown = f"intact: entry {verified.leaf.entry_id} is leaf {verified.index} of {verified.size} in {verified.origin}"
    emit(
        document, as_json=as_json, render=lambda: f"{shown}; discloses {', '.join(sorted(verified.parts)) or 'nothing'}"
    )


def _with_ledger(home: Path | None, work: Callable[[Ledger], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        from api.wiring import open_ledger

        async with open_ledger(configuration(home)) as ledger:
            return await work(ledger)

    return asyncio.run(run())


async def _vkey(ledger: Ledger) -> str:
    return ledger.vkey


def _shown(entry: Entry) -> str:
    leaf = entry.leaf
    head = [
        f"{bold(str(leaf.kind))} {leaf.entry_id}",
        f"index {entry.index}, {_time(leaf.t_ms)}, request {leaf.request_id}",
    ]
    refs = [f"{ref.rel} {ref.id}" for ref in leaf.refs]
    return "\n".join([*head, f"leaf {entry.leaf_hash}", *refs, "", table(["part", "commitment"], leaf.parts.items())])


def _time(t_ms: int) -> str:
    return datetime.fromtimestamp(t_ms / 1000, UTC).isoformat(timespec="milliseconds")
