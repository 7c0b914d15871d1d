"""`exhibit ledger verify`: whether what was recorded still holds. Exit code 7 if not; the first thing is named."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.console import bold, configuration, emit
from api.cli.ledger.common import PolicyFile, Shard, files_in, read_signed, trust_policy, utc, with_ledger
from api.cli.options import AsJson, Home
from api.problems import EXIT_VERIFICATION

if TYPE_CHECKING:
    from ledger.ledger import Ledger
    from ledger.model import Problem, VerifyReport
    from ledger.notes.trust import TrustPolicy
    from ledger.proofs.folder import FolderReport
    from ledger.proofs.receipt import VerifiedReceipt

UNWITNESSED = "unwitnessed: the operator alone vouches for the checkpoints"


def verify(
    *,
    receipt: Annotated[
        Path | None, typer.Option("--receipt", help="Verify this receipt instead of the whole log.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option("--export", help="Verify this exported folder instead of the log.")
    ] = None,
    vkey: Annotated[
        list[str] | None,
        typer.Option("--vkey", help="The log's verifier key, to need no home; several after a change of key."),
    ] = None,
    policy: PolicyFile = None,
    seen: Annotated[
        Path | None, typer.Option("--seen", help="With --receipt: the checkpoint that the entry had seen.")
    ] = None,
    outside: Annotated[
        list[Path] | None, typer.Option("--outside", help="A checkpoint that you hold: the log must lead to it.")
    ] = None,
    witness: Annotated[
        bool, typer.Option("--witness", help="Ask the witnesses of the policy whether they have seen more.")
    ] = False,
    shard: Shard = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Recompute everything from the stored bytes. Exit code 7: something does not hold; the first thing is named."""
    _check_together(receipt=receipt, export=export, seen=seen, policy=policy, outside=outside, witness=witness)
    trusted = trust_policy(policy)
    if receipt is not None:
        _receipt(read_signed(receipt), keys_of(vkey, home, shard), trusted, seen, as_json=as_json)
    elif export is not None:
        _folder(export, keys_of(vkey, home, shard), trusted, as_json=as_json)
    else:
        _log(home, shard, trusted, [read_signed(path) for path in outside or ()], ask=witness, as_json=as_json)


def _check_together(
    *,
    receipt: Path | None,
    export: Path | None,
    seen: Path | None,
    policy: Path | None,
    outside: list[Path] | None,
    witness: bool,
) -> None:
    """Raise BadParameter for options of which one would be passed over in silence."""
    if receipt is not None and export is not None:
        raise typer.BadParameter("--receipt and --export are two things to verify; give one")
    if (receipt is not None or export is not None) and (outside or witness):
        raise typer.BadParameter("--outside and --witness are for a log, not for a receipt or an export")
    if witness and policy is None:
        raise typer.BadParameter("--witness needs --policy, which names the witnesses")
    if seen is not None and (receipt is None or policy is None):
        raise typer.BadParameter("--seen needs --receipt and --policy")


def _log(
    home: Path | None, shard: int | None, policy: TrustPolicy | None, outside: list[str], *, ask: bool, as_json: bool
) -> None:
    async def work(ledger: Ledger, *, written: bool) -> VerifyReport:
        from ledger.errors import LogForked

        try:
            for note in outside if written else ():
                await ledger.head.compare(note)
            if ask and written and policy is not None:
                await _ask_witnesses(ledger, policy)
        except LogForked:
            pass  # the report names it
        report = await ledger.verify(policy=policy if written else None)
        return _with_problems(report, await _of_index(home, ledger))

    reports = asyncio.run(_of_logs(home, shard, work))
    last = max(reports)
    reports[last] = _with_problems(reports[last], asyncio.run(_of_erasures(home)))
    emit(_logs_json(reports, policy), as_json=as_json, render=lambda: _logs_text(reports, policy))
    if not all(report.ok for report in reports.values()):
        raise typer.Exit(EXIT_VERIFICATION)


async def _of_logs(home: Path | None, shard: int | None, work: Any) -> dict[int, VerifyReport]:
    """Each log of the home by its number, or that one; earlier ones are not signed any more, so no policy and no
    checkpoint of today is asked of them."""
    from api.home.backends import backends_of
    from api.wiring import open_ledger
    from api.wiring.ledger.log import last_shard

    configured = configuration(home)
    async with open_ledger(configured, shard=shard):
        last = await last_shard(backends_of(configured).ledger)
    found = {}
    for number in range(1, last + 1) if shard is None else (shard,):
        async with open_ledger(configured, shard=number) as ledger:
            found[number] = await work(ledger, written=shard is not None or number == last)
    return found


def _logs_json(reports: Mapping[int, VerifyReport], policy: TrustPolicy | None) -> dict[str, Any]:
    """The log that is written, and beside it all of the home; the verdict and the problems are those of all."""
    every = [{"shard": number, **report_json(report)} for number, report in reports.items()]
    broken = [each for each in every if each["verdict"] != "intact"]
    verdict = (broken or every)[0]["verdict"]
    problems = [problem for each in every for problem in each["problems"]]
    notes = [] if policy is None else list(policy.notes)
    return every[-1] | {"verdict": verdict, "problems": problems, "notes": notes, "logs": every}


def _logs_text(reports: Mapping[int, VerifyReport], policy: TrustPolicy | None) -> str:
    notes = [] if policy is None else [f"note: {each}" for each in policy.notes]
    several = len(reports) > 1
    told = [(f"log {number} of this home: " if several else "") + report_text(each) for number, each in reports.items()]
    return "\n".join([*told, *notes])


async def _of_index(home: Path | None, ledger: Ledger) -> tuple[Problem, ...]:
    """Where the index of entries says something else than the log; nothing where there is none yet."""
    from api.home.backends import backends_of
    from api.home.stores import Embedded
    from api.wiring.ledger.entry_index import index_file, open_entry_index

    configured = configuration(home)
    if (
        isinstance(backends_of(configured).ledger.store, Embedded)
        and not index_file(configured, ledger.origin).exists()
    ):
        return ()
    from api.audit.log.search import EntrySearch
    from ledger.model import Problem

    async with open_entry_index(configured, origin=ledger.origin) as index:
        differing = await EntrySearch(ledger, index).differences()
    said = "the index of entries has another entry or none here; to mend it: exhibit ledger search --mend"
    return tuple(Problem("search-index", said, index=number) for number in differing)


async def _of_erasures(home: Path | None) -> tuple[Problem, ...]:
    """Where a file of the home holds something of what redactions say was erased."""
    from api.audit.erasure.scan import search_again
    from ledger.model import Problem

    scan = await search_again(configuration(home))
    if scan is None:
        return ()
    found = [f"{where} holds {count} fingerprints of what was erased" for where, count in scan.hits]
    unread = [f"{where} could not be searched for what was erased" for where in scan.unread]
    return tuple(Problem("erased", said) for said in (*found, *unread))


def _with_problems(report: VerifyReport, more: tuple[Problem, ...]) -> VerifyReport:
    from ledger.model import Verdict

    return replace(report, verdict=Verdict.BROKEN, problems=(*report.problems, *more)) if more else report


async def _ask_witnesses(ledger: Ledger, policy: TrustPolicy) -> None:
    from api.wiring import open_cosigner

    async with open_cosigner(ledger, policy) as cosigner:
        await ledger.show_to(cosigner)


def keys_of(given: list[str] | None, home: Path | None, shard: int | None) -> tuple[str, ...]:
    """The verifier keys that were given, else those of the home's log. Raises RequestRejected for neither."""
    from api.errors import RequestRejected
    from api.home.backends import backends_of

    if given:
        return tuple(given)
    if not backends_of(configuration(home)).ledger.exists:
        raise RequestRejected("give the log's verifier key: --vkey KEY, from a channel that you trust")

    async def of_home(ledger: Ledger) -> tuple[str, ...]:
        return ledger.vkeys

    found: tuple[str, ...] = with_ledger(home, of_home, shard=shard)
    return found


def _folder(folder: Path, vkeys: tuple[str, ...], policy: TrustPolicy | None, *, as_json: bool) -> None:
    from ledger.notes.note import parse_vkey
    from ledger.proofs.folder import verify_folder

    report = verify_folder(files_in(folder), keys=[parse_vkey(each) for each in vkeys], policy=policy)
    emit(_folder_json(report), as_json=as_json, render=lambda: _folder_text(report))
    if report.problems:
        raise typer.Exit(EXIT_VERIFICATION)


def _folder_json(report: FolderReport) -> dict[str, Any]:
    return {
        "verdict": str(report.verdict),
        "origin": report.origin,
        "size": report.head.size,
        "root": report.head.root.hex(),
        "witnessed": report.witnessed is not None,
        "problems": [_problem_json(problem) for problem in report.problems],
    }


def _folder_text(report: FolderReport) -> str:
    lines = [f"{bold(str(report.verdict))}: {report.head.size} entries of {report.origin}"]
    lines += [f"root {report.head.root.hex()}", "witnessed" if report.witnessed else UNWITNESSED]
    return "\n".join([*lines, *map(str, report.problems)])


def _receipt(
    text: str, vkeys: tuple[str, ...], policy: TrustPolicy | None, seen: Path | None, *, as_json: bool
) -> None:
    from ledger.proofs.receipt import seen_at, verify_with_any

    verified = verify_with_any(text, vkeys=vkeys, policy=policy)
    after_s = None
    if seen is not None and policy is not None:
        after_s = seen_at(verified, read_signed(seen), vkeys=vkeys, policy=policy)
    emit(_receipt_json(verified, after_s), as_json=as_json, render=lambda: _receipt_text(verified, after_s))


def _receipt_json(verified: VerifiedReceipt, after_s: int | None) -> dict[str, Any]:
    return {
        "verdict": "intact",
        "origin": verified.origin,
        "index": verified.index,
        "size": verified.size,
        "leaf_hash": verified.leaf_hash,
        "entry_id": verified.leaf.entry_id,
        "parts": sorted(verified.parts),
        "sources": sorted(verified.sources),
        "witnessed": verified.witnessed,
        "not_before_s": after_s,
        "not_after_s": None if verified.cosigned is None else verified.cosigned.by_s,
    }


def _receipt_text(verified: VerifiedReceipt, after_s: int | None) -> str:
    from ledger.entry.parts import source_name

    disclosed = [*sorted(verified.parts), *map(source_name, sorted(verified.sources))]
    lines = [
        f"intact: entry {verified.leaf.entry_id} is leaf {verified.index} of {verified.size} in {verified.origin}"
        f"; discloses {', '.join(disclosed) or 'nothing'}"
    ]
    if verified.cosigned is None:
        return "\n".join([*lines, UNWITNESSED])
    lines.append(f"witnessed by {', '.join(sorted(verified.cosigned.times_s))}")
    if after_s is not None:
        lines.append(f"not before {utc(after_s * 1000)}")
    return "\n".join([*lines, f"not after {utc(verified.cosigned.by_s * 1000)}"])


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
        "witnessed_size": report.witnessed_size,
        "problems": [_problem_json(problem) for problem in report.problems],
        "dangling": [ref.entry_id for ref in report.dangling],
    }


def report_text(report: VerifyReport) -> str:
    """A verification for people: the verdict first, then each thing that does not hold."""
    counts = f"{report.entries} entries, {report.parts} parts, {report.checkpoints} checkpoints"
    lines = [
        f"{bold(str(report.verdict))}: {counts}",
        f"root {report.root}",
        f"witnessed up to {report.witnessed_size} entries" if report.witnessed else UNWITNESSED,
    ]
    lines += [str(problem) for problem in report.problems]
    lines += [f"dangling intent {ref.entry_id}: its request ended without an outcome" for ref in report.dangling]
    return "\n".join(lines)


def _problem_json(p: Problem) -> dict[str, Any]:
    return {"step": p.step, "detail": p.detail, "index": p.index, "entry_id": p.entry_id, "part": p.part}
