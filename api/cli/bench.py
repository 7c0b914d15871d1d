"""`exhibit bench`: measures the pipeline on a scaled corpus, and compares it with the goals."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.console import emit, note, table
from api.cli.options import AsJson, Home
from api.problems import EXIT_FAILED

if TYPE_CHECKING:
    from api.measure.bench.goals import Verdict

app = typer.Typer(help="Measure the pipeline.", add_completion=False, rich_markup_mode=None)


class Backend(StrEnum):
    """Where the stores are."""

    EMBEDDED = "embedded"
    REAL = "real"


class PeerName(StrEnum):
    """Libraries that can be put beside it."""

    HAYSTACK = "haystack"


@app.callback(invoke_without_command=True)
def bench(
    context: typer.Context,
    *,
    sizes: Annotated[str, typer.Option("--sizes", help="Passages of the corpora, with commas.")] = "1000,10000,100000",
    queries: Annotated[int, typer.Option("--queries", min=5, help="Questions of a round.")] = 200,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Rounds; figures are medians over them.")] = 3,
    peer: Annotated[
        PeerName | None, typer.Option("--peer", help="Put this library beside it (dependency group `bench`).")
    ] = None,
    peer_queries: Annotated[int, typer.Option("--peer-queries", min=5, help="Questions that the peer is asked.")] = 50,
    backend: Annotated[
        Backend,
        typer.Option("--backend", help="real: also on the servers that the environment names, which must be empty."),
    ] = Backend.EMBEDDED,
    seed: Annotated[int, typer.Option("--seed", help="Seed of corpus and questions.")] = 7,
    check: Annotated[bool, typer.Option("--check", help="Exit code 1 unless every goal is met.")] = False,
    home: Annotated[
        Path | None, typer.Option("--home", help="Folder for the corpora, kept; an ingest found there is not repeated.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure ingest, the query path stage by stage, throughput, memory and cold start at each size."""
    if context.invoked_subcommand is not None:
        return
    from api.measure.bench.goals import verdicts
    from api.measure.bench.model import Plan
    from api.measure.bench.report import report_json, report_text
    from api.measure.bench.run import run
    from api.measure.demonstration import sample_corpus

    _check_peer(peer)
    servers = _servers(backend)
    with ExitStack() as stack:
        folder = home or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="exhibit-bench-")))
        plan = Plan(
            folder=folder.absolute(),
            sample=sample_corpus(),
            sizes=_sizes(sizes),
            queries=queries,
            rounds=rounds,
            seed=seed,
            peer=None if peer is None else str(peer),
            peer_queries=peer_queries,
            servers=servers,
        )
        report = run(plan, note)
    emit(report_json(report), as_json=as_json, render=lambda: report_text(report, table))
    missed = [verdict for verdict in verdicts(report) if not verdict.met]
    if check and missed:
        for verdict in missed:
            note(verdict.says)
        raise typer.Exit(EXIT_FAILED)


def _servers(backend: Backend) -> dict[str, str]:
    from api.measure.bench.servers import server_settings

    if backend is Backend.EMBEDDED:
        return {}
    named = server_settings(os.environ)
    if not named.keys() & {"NEO4J_URI", "POSTGIS_DSN", "OPENSEARCH_URL"}:
        raise typer.BadParameter("--backend real needs NEO4J_URI, POSTGIS_DSN or OPENSEARCH_URL")
    return named


def _sizes(text: str) -> tuple[int, ...]:
    try:
        found = tuple(sorted({int(part.replace("_", "")) for part in text.split(",")}))
    except ValueError:
        raise typer.BadParameter("sizes are whole numbers with commas: 1000,10000") from None
    if found[0] < 1_000 or found[-1] > 1_000_000:
        raise typer.BadParameter("sizes lie between 1000 and 1000000 passages")
    return found


def _check_peer(peer: PeerName | None) -> None:
    from api.measure.bench.peer_haystack import available

    if peer is not None and not available():
        raise typer.BadParameter("haystack is not installed; add the dependency group: uv pip install --group bench")


@app.command("ledger")
def ledger_figures(
    *,
    entries: Annotated[int, typer.Option("--entries", min=64, help="Whole entries to append.")] = 2_000,
    leaves: Annotated[int, typer.Option("--leaves", min=1_000, help="Leaves of the log that is verified.")] = 100_000,
    seconds: Annotated[int, typer.Option("--seconds", min=1, help="How long to append at a fixed pace.")] = 10,
    dsn: Annotated[
        str | None, typer.Option("--dsn", help="A PostgreSQL on which a schema may be made; dropped at the end.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Exit code 1 unless every goal is met.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure appends, verification, proofs and size, beside a plain INSERT of the same bytes. A goal that was not
    measured counts as missed."""
    from api.measure.bench.log.ledger import ledger_goals, ledger_json, ledger_rows, measure_ledger
    from api.measure.bench.machine import machine_facts

    with tempfile.TemporaryDirectory(prefix="exhibit-bench-", dir=Path.cwd()) as folder:
        figures = asyncio.run(measure_ledger(Path(folder), entries=entries, leaves=leaves, seconds=seconds, dsn=dsn))
        document = {"machine": machine_facts(Path(folder)), **ledger_json(figures)}
    goals = ledger_goals(figures)
    _tell(document, table(["measure", "figure"], ledger_rows(figures)), goals, check=check, as_json=as_json)


@app.command("audit")
def audit_figures(
    *,
    entries: Annotated[int, typer.Option("--entries", min=100, help="Entries of the log that is searched.")] = 10_000,
    check: Annotated[bool, typer.Option("--check", help="Exit code 1 unless every goal is met.")] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Measure searches, counts and the report of a month in a log of the home's own requests, recorded again until
    there are so many; the home itself is only read. `exhibit demo` makes one that has been asked."""
    from api.cli.ledger.common import with_ledger
    from api.measure.bench.log.audit import audit_goals, audit_json, audit_rows, measure_audit, recorded_of
    from api.measure.bench.machine import machine_facts

    pairs = with_ledger(home, recorded_of)
    if not pairs:
        raise typer.BadParameter("nothing was asked in that home")
    with tempfile.TemporaryDirectory(prefix="exhibit-bench-", dir=Path.cwd()) as folder:
        figures = asyncio.run(measure_audit(Path(folder), pairs, entries=entries))
        document = {"machine": machine_facts(Path(folder)), **audit_json(figures)}
    goals = audit_goals(figures)
    _tell(document, table(["measure", "figure"], audit_rows(figures)), goals, check=check, as_json=as_json)


@app.command("policy")
def policy_figures(
    *,
    requests: Annotated[int, typer.Option("--requests", min=20, help="Requests of a round.")] = 300,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Rounds; figures are medians over them.")] = 5,
    check: Annotated[bool, typer.Option("--check", help="Exit code 1 unless every goal is met.")] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Measure the three policy points: embedded, and with the opa program on a server. A goal that was not measured
    counts as missed."""
    from api.cli.policy.candidate import chosen_bundle
    from api.cli.policy.engines import opa_if_there
    from api.measure.bench.decisions.policy import measure_policy, policy_goals, policy_json, policy_rows
    from api.measure.bench.machine import machine_facts

    bundle, folder = chosen_bundle(None, home)
    figures = asyncio.run(measure_policy(bundle, folder, opa_if_there(), requests=requests, rounds=rounds))
    goals = policy_goals(figures)
    document = {"machine": machine_facts(folder), "policy": bundle.digest, **policy_json(figures)}
    _tell(document, table(["ms", "p50", "p95", "p99"], policy_rows(figures)), goals, check=check, as_json=as_json)


@app.command("shapes")
def shape_figures(
    *,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="How often each question is asked.")] = 10,
    check: Annotated[bool, typer.Option("--check", help="Exit code 1 unless every goal is met.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure what handling tags cost before the search: storage and p50 of the sample with every tag in use beside the
    sample without, and how long the lattice and difference of a publication take."""
    from api.measure.bench.decisions.shapes import measure_shapes, shape_goals, shape_json, shape_rows
    from api.measure.bench.machine import machine_facts
    from api.measure.demonstration import sample_corpus

    with tempfile.TemporaryDirectory(prefix="exhibit-bench-") as folder:
        figures = asyncio.run(measure_shapes(Path(folder), sample_corpus(), rounds=rounds))
        document = {"machine": machine_facts(Path(folder)), **shape_json(figures)}
    goals = shape_goals(figures)
    _tell(document, table(["measure", "figure"], shape_rows(figures)), goals, check=check, as_json=as_json)


@app.command("claims")
def claim_figures(
    *,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Rounds; figures are medians over them.")] = 5,
    check: Annotated[bool, typer.Option("--check", help="Exit code 1 unless every goal is met.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure the processor time of checking drafts of eight sentences, on figures and prose of the sample corpus."""
    from api.measure.bench.decisions.claims import claims_goals, claims_json, measure_claims
    from api.measure.bench.machine import machine_facts

    with tempfile.TemporaryDirectory(prefix="exhibit-bench-") as folder:
        figures = asyncio.run(measure_claims(Path(folder), rounds=rounds))
        document = {"machine": machine_facts(Path(folder)), **claims_json(figures)}
    goals = claims_goals(figures)
    rows = [(kind, f"{each.p50:.2f}", f"{each.p95:.2f}", f"{each.p99:.2f}") for kind, each in figures.items()]
    _tell(document, table(["ms of eight sentences", "p50", "p95", "p99"], rows), goals, check=check, as_json=as_json)


@app.command("budgets")
def budget_figures(
    *,
    check: Annotated[bool, typer.Option("--check", help="Exit code 1 unless every bound is kept.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure how far the wall clock runs past max_latency_ms and timeout_ms, at several bounds, also with slow stores
    and a model that never ends. The worst overrun counts."""
    from api.measure.bench.budgets import budget_goals, budget_json, budget_rows, measure_budgets
    from api.measure.bench.machine import machine_facts

    with tempfile.TemporaryDirectory(prefix="exhibit-bench-") as folder:
        overruns = asyncio.run(measure_budgets(Path(folder)))
        document = {"machine": machine_facts(Path(folder)), **budget_json(overruns)}
    goals = budget_goals(overruns)
    headings = ["request", "where", "bound ms", "wall ms", "over ms", "ended"]
    _tell(document, table(headings, budget_rows(overruns)), goals, check=check, as_json=as_json)


@app.command("page")
def page_figures(
    *,
    times: Annotated[int, typer.Option("--times", min=5, help="How often each request is sent again.")] = 100,
    check: Annotated[bool, typer.Option("--check", help="Exit code 1 unless every goal is met.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure what the page that asks on a map asks of a server, on the sample corpus: suggestions, the first time and
    from the cache, layers, places, features and a tile."""
    from api.measure.bench.machine import machine_facts
    from api.measure.bench.page import measure_page, page_goals, page_json, page_rows

    with tempfile.TemporaryDirectory(prefix="exhibit-bench-") as folder:
        readings = asyncio.run(measure_page(Path(folder), times=times))
        document = {"machine": machine_facts(Path(folder)), **page_json(readings)}
    goals = page_goals(readings)
    headings = ["request", "bytes", "first, ms", "p50", "p95", "processor, p50"]
    _tell(document, table(headings, page_rows(readings)), goals, check=check, as_json=as_json)


def _tell(document: Mapping[str, Any], figures: str, goals: Sequence[Verdict], *, check: bool, as_json: bool) -> None:
    """The figures and the goals, or the document. Exit code 1 with `check` where a goal is missed."""
    emit(document, as_json=as_json, render=lambda: "\n".join([figures, *(goal.says for goal in goals)]))
    if check and not all(goal.met for goal in goals):
        raise typer.Exit(EXIT_FAILED)
