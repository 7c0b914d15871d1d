"""`exhibit ledger claim`: whether the log kept the promise that came with an answer."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.console import bold, configuration, emit
from api.cli.ledger.common import files_in, read_bytes, read_signed, utc
from api.cli.options import AsJson, Home
from api.problems import EXIT_BROKEN_PROMISE, EXIT_NOT_COVERED, EXIT_OK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.ledger import Ledger
    from ledger.proofs.claim import Claim
    from ledger.proofs.promise import Commitment


def claim(
    file: Annotated[Path, typer.Argument(help="The saved body of an answer; - reads it from stdin.")],
    *,
    receipt: Annotated[
        list[Path] | None,
        typer.Option("--receipt", help="A receipt of the log, of any entry; several may be given."),
    ] = None,
    export: Annotated[
        list[Path] | None, typer.Option("--export", help="An exported log; several may be given.")
    ] = None,
    vkey: Annotated[
        list[str] | None,
        typer.Option("--vkey", help="The log's verifier key, to need no home; several after a change of key."),
    ] = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Check the promise in a saved answer against receipts, exports or the home's log. Exit code 10: the log broke it;
    11: not covered yet; 7: the promise or the answer was altered."""
    from ledger.proofs.claim import ClaimVerdict

    body = _body(file)
    if receipt or export:
        found = _by_files(body, receipt or [], export or [], vkey or asyncio.run(_keys_of_home(body, home)))
    elif vkey:
        raise typer.BadParameter("--vkey goes with --receipt or --export, which say what the log shows")
    else:
        found = asyncio.run(_by_home(body, home))
    emit(claim_json(found), as_json=as_json, render=lambda: claim_text(found))
    codes = {
        ClaimVerdict.COVERED: EXIT_OK,
        ClaimVerdict.PENDING: EXIT_NOT_COVERED,
        ClaimVerdict.BROKEN: EXIT_BROKEN_PROMISE,
    }
    raise typer.Exit(codes[found.verdict])


def _body(file: Path) -> Any:
    """The saved body. Raises RequestRejected where there is no file, MalformedNote for what is no JSON."""
    from ledger.errors import MalformedNote

    data = sys.stdin.buffer.read() if str(file) == "-" else read_bytes(file)
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise MalformedNote("the saved answer is not JSON") from None


def _by_files(body: Any, receipts: Sequence[Path], exports: Sequence[Path], vkeys: Sequence[str]) -> Claim:
    from ledger.notes.note import parse_vkey
    from ledger.proofs.claim import best_of, claim_by_folder, claim_by_receipt, promised_in

    promised = promised_in(body, [parse_vkey(each) for each in vkeys])
    found = [claim_by_receipt(promised, read_signed(path), vkeys=vkeys) for path in receipts]
    found += [claim_by_folder(promised, files_in(folder), vkeys=vkeys) for folder in exports]
    return best_of(found)


async def _keys_of_home(body: Any, home: Path | None) -> tuple[str, ...]:
    ledger = await _promised_log(body, home)
    try:
        return ledger.vkeys
    finally:
        await ledger.aclose()


async def _by_home(body: Any, home: Path | None) -> Claim:
    """The verdict of the home's own log, as it is now: what is not covered after the merge delay is broken."""
    from api.wiring.clock import clock_ms
    from ledger.notes.note import parse_vkey
    from ledger.proofs.claim import overdue, promised_in

    ledger = await _promised_log(body, home)
    try:
        promised = promised_in(body, [parse_vkey(each) for each in ledger.vkeys])
        return overdue(await _by_log(promised, ledger), clock_ms())
    finally:
        await ledger.aclose()


async def _promised_log(body: Any, home: Path | None) -> Ledger:
    """The home's log that a promise names, else the one that is written: it will not have signed the promise. Raises
    RequestRejected where the home has none."""
    from api.errors import RequestRejected
    from api.home.backends import backends_of
    from api.wiring.ledger.log import last_shard, open_log

    configured = configuration(home)
    if not backends_of(configured).ledger.exists:
        raise RequestRejected("there is no log here; give --vkey KEY, and --receipt or --export")
    promise = body.get("promise") if isinstance(body, dict) else None
    named = str(promise.get("key")) if isinstance(promise, dict) else ""
    last = await last_shard(backends_of(configured).ledger)
    for shard in range(1, last):
        ledger = await open_log(configured, shard=shard)
        if named.rpartition("+")[0] == ledger.origin:
            return ledger
        await ledger.aclose()
    return await open_log(configured, shard=last)


async def _by_log(promised: Commitment, ledger: Ledger) -> Claim:
    """Against the checkpoint of now; against the last one, where the log was abandoned."""
    from ledger.errors import EntryNotFound
    from ledger.proofs.claim import claim_by_folder, claim_by_receipt

    if ledger.fork is None:
        await ledger.checkpoint()
    checkpoint = await ledger.latest_checkpoint()
    try:
        receipt = await ledger.receipt(promised.entry_id, disclose=(), size=checkpoint.head.size)
        return claim_by_receipt(promised, receipt, vkeys=ledger.vkeys)
    except EntryNotFound:
        files = {path: data async for path, data in ledger.export(checkpoint)}
        return claim_by_folder(promised, files.get, vkeys=ledger.vkeys)


def claim_json(claim: Claim) -> dict[str, Any]:
    """A claim as a document."""
    of = claim.promised
    return {
        "verdict": str(claim.verdict),
        "breach": None if claim.breach is None else str(claim.breach),
        "detail": claim.detail,
        "origin": of.origin,
        "entry_id": of.entry_id,
        "leaf_hash": of.leaf_hash,
        "replica": of.replica,
        "rseq": of.rseq,
        "t_ms": of.t_ms,
        "due_ms": of.due_ms,
        "index": claim.index,
        "size": claim.size,
    }


def claim_text(claim: Claim) -> str:
    """A claim for people: the verdict first, then what was promised."""
    of = claim.promised
    lines = [
        f"{bold(str(claim.verdict))}: {claim.detail}",
        f"promised by {of.origin} at {utc(of.t_ms)}, to be covered by {utc(of.due_ms)}",
        f"entry {of.entry_id}, leaf {of.leaf_hash}, number {of.rseq} of {of.replica}",
    ]
    if claim.breach is not None:
        lines.append("keep the saved answer and what was compared with it: they are the evidence against the log")
    return "\n".join(lines)
