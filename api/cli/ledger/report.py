"""`exhibit ledger report`: a month of the log, as JSON and as a page, with its receipt."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.console import bold, configuration, emit, note
from api.cli.ledger.common import read_bytes, read_signed, with_ledger, write_files
from api.cli.options import AsJson, Home

if TYPE_CHECKING:
    from api.audit.log.month_report import Month

REPORT, PAGE, RECEIPT = "report.json", "report.html", "report.receipt"


def report(
    *,
    month: Annotated[str | None, typer.Option("--month", help="The month, UTC, such as 2026-01.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="A folder for report.json, report.html and report.receipt.")
    ] = None,
    check: Annotated[
        Path | None, typer.Option("--check", help="Instead: verify the report in that folder against the log.")
    ] = None,
    parts: Annotated[bool, typer.Option("--parts", help="Verify every part too, which takes longer.")] = False,
    tenant: Annotated[str | None, typer.Option("--tenant", help="Only this tenant; default: all.")] = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Entries, outcomes, denials, overrides, erasures, publications, verification and witnesses of a month. With --out
    the report is recorded, and the receipt of that entry is its receipt. Exit code 7 with --check: it does not hold."""
    from api.audit.log.month_report import Month

    if (month is None) == (check is None) or (check is not None and out is not None):
        raise typer.BadParameter("give --month, with or without --out, or --check")
    if check is not None:
        _check(home, check, as_json=as_json)
        return
    if out is not None and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise typer.BadParameter(f"{out} is not empty")
    made = asyncio.run(_made(home, Month.parse(month or ""), tenant, out, parts=parts))
    if out is not None:
        note(f"written to {out}; verify it: exhibit ledger report --check {out}")
    emit(made, as_json=as_json, render=lambda: _text(made))


async def _made(home: Path | None, month: Month, tenant: str | None, out: Path | None, *, parts: bool) -> Any:
    from api.audit.log.month_report import month_report, record_report
    from api.audit.log.search import EntrySearch
    from api.cli.ledger.verify import report_json
    from api.web.page import page
    from api.wiring import open_entry_index, require_ledger, trust_policy
    from api.wiring.ledger.log import log_to_write

    configured = configuration(home)
    require_ledger(configured)
    policy = trust_policy(configured.settings)
    async with (
        log_to_write(configured) as ledger,
        open_entry_index(configured, origin=ledger.origin) as index,
    ):
        verified = {**report_json(await ledger.verify(policy=policy, contents=parts)), "parts_verified": parts}
        made = await month_report(
            EntrySearch(ledger, index), month, tenant=tenant, policy=policy, verification=verified
        )
        if out is not None:
            data = (json.dumps(made, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()
            html = page("report.html.j2", style="report.css", report=made).encode()
            receipt = await record_report(ledger, data, html)
            write_files({out / REPORT: data, out / PAGE: html, out / RECEIPT: receipt.encode()}, parents=True)
    return made


def _check(home: Path | None, folder: Path, *, as_json: bool) -> None:
    from api.audit.log.month_report import check_report

    data, html, receipt = read_bytes(folder / REPORT), read_bytes(folder / PAGE), read_signed(folder / RECEIPT)
    found = with_ledger(home, lambda ledger: check_report(ledger, data, html, receipt))
    emit(
        found,
        as_json=as_json,
        render=lambda: (
            f"{bold('intact')}: {found['month']}, {found['entries']} entries, recorded as {found['entry_id']}"
        ),
    )


def _text(made: dict[str, Any]) -> str:
    entries, checkpoints = made["entries"], made["checkpoints"]
    lines = [
        bold(f"{made['month']}: {entries['count']} entries at checkpoint {made['checkpoint']['size']}"),
        f"kinds: {_pairs(entries['kinds'])}",
        f"outcomes: {_pairs(made['outcomes'])}",
        *(f"denied by {each['rule']} {each['code']}: {each['requests']}" for each in made["denials"]),
        *(f"{each['action']} {each['after']} by {each['by']}: {each['why']}" for each in made["publications"]),
        f"overrides: {len(made['overrides'])}, erasures: {len(made['erasures'])}, incidents: {len(made['incidents'])}",
        f"verification: {made['verification']['verdict']}",
        f"checkpoints: {checkpoints['count']}, {checkpoints['cosigned']} of them cosigned",
        *(f"witness {each['name']}: {each['cosigned']}, last {each['last_time']}" for each in checkpoints["witnesses"]),
    ]
    return "\n".join(lines)


def _pairs(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "none"
