"""A month of the log as a report: entries, outcomes, denials by rule, overrides, erasures, publications, verification,
checkpoints and witnesses; and the entry that records it, whose receipt is the receipt of the report.

Which entries are counted is told by the log itself: those of the month below the checkpoint that the report is made
at, as leaves. `leaves_root` is the root of the RFC 6962 tree over their leaf hashes by index, so that whoever has the
leaves counts them again. Outcomes are those of the index of entries, which is brought up to the log before.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from api.audit.entries.export import time_text
from api.audit.log.search import EntrySearch
from api.errors import RequestRejected
from api.home.identity.principal import LOCAL_ID
from ledger.canonical import canonical_json
from ledger.erasure.redaction import Redaction, parse_detail
from ledger.errors import LedgerError, PartErased, VerificationFailed
from ledger.ledger import SYSTEM_TENANT, Ledger
from ledger.merkle.tree import root_of
from ledger.model import Checkpoint, Entry, Kind
from ledger.notes.cosignature import cosigned_at
from ledger.notes.note import parse_checkpoint_text, parse_note, parse_vkey, verify_checkpoint
from ledger.notes.trust import TrustPolicy
from ledger.proofs.receipt import verify_with_any
from ledger.search.entry_index import EntryQuery

VERSION = "exhibit.report/1"
_MONTH = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")
_PAGE = 500
_POINTS = ("policy.query", "policy.evidence", "policy.answer")


@dataclass(frozen=True, slots=True)
class Month:
    """A calendar month, UTC: milliseconds from `since_ms` until before `until_ms`."""

    name: str
    since_ms: int
    until_ms: int

    @classmethod
    def parse(cls, text: str) -> Month:
        """The month written as `2026-01`. Raises RequestRejected."""
        if not _MONTH.fullmatch(text) or text.startswith("0000") or text == "9999-12":
            raise RequestRejected("a month is written as 2026-01")
        year, month = map(int, text.split("-"))
        first = datetime(year, month, 1, tzinfo=UTC)
        following = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        return cls(text, *(round(each.timestamp() * 1000) for each in (first, following)))


@dataclass(frozen=True, slots=True)
class Counted:
    """The entries of a month below a checkpoint, by index."""

    entries: tuple[Entry, ...]

    @property
    def leaves_root(self) -> str:
        """The root of the tree over their leaf hashes, hex."""
        return root_of(bytes.fromhex(each.leaf_hash) for each in self.entries).hex()

    def of(self, *kinds: Kind) -> list[Entry]:
        """Those of these kinds."""
        return [each for each in self.entries if each.leaf.kind in kinds]


async def counted(ledger: Ledger, month: Month, *, size: int, tenant: str | None) -> Counted:
    """The entries of the month among the first `size`, of one tenant or of all. Raises LedgerUnavailable."""
    found: list[Entry] = []
    after = -1
    while after < size - 1 and (page := await ledger.entries(after=after, limit=_PAGE, tenant=tenant)):
        found += [each for each in page if each.index < size and month.since_ms <= each.leaf.t_ms < month.until_ms]
        after = page[-1].index
    return Counted(tuple(found))


async def month_report(
    search: EntrySearch,
    month: Month,
    *,
    tenant: str | None,
    policy: TrustPolicy | None,
    verification: Mapping[str, Any],
) -> dict[str, Any]:
    """The report at a checkpoint that is signed now. Raises LedgerUnavailable, LogForked, and VerificationFailed for a
    recorded detail that was changed."""
    ledger = search.ledger
    checkpoint = await ledger.checkpoint()
    _, head = parse_checkpoint_text(parse_note(checkpoint).text)
    entries = await counted(ledger, month, size=head.size, tenant=tenant)
    outcomes, denied = await _outcomes(search, month, entries, tenant)
    details = [each async for each in _details(ledger, entries.of(Kind.CONFIG))]
    return {
        "v": VERSION,
        "month": month.name,
        "since": time_text(month.since_ms),
        "until": time_text(month.until_ms),
        "tenant": tenant,
        "log": {"origin": ledger.origin, "vkeys": list(ledger.vkeys)},
        "checkpoint": {"size": head.size, "root": head.root.hex(), "note": checkpoint},
        "entries": {
            "count": len(entries.entries),
            "first": entries.entries[0].index if entries.entries else None,
            "last": entries.entries[-1].index if entries.entries else None,
            "leaves_root": entries.leaves_root,
            "kinds": _counts(str(each.leaf.kind) for each in entries.entries),
        },
        "outcomes": outcomes,
        "denials": await _denials(ledger, denied),
        "publications": [each for each in map(_publication, details) if each],
        "overrides": [each for detail in details for each in _overrides(detail)],
        "sources_changed": [each for each in map(_source_change, details) if each],
        "erasures": await _erasures(ledger, entries.of(Kind.REDACTION)),
        "incidents": [_place(each) for each in entries.of(Kind.INCIDENT)],
        "verification": dict(verification),
        "checkpoints": await _checkpoints(ledger, entries, policy, month),
    }


async def record_report(ledger: Ledger, report: bytes, page: bytes) -> str:
    """Record that the report was made, and give the receipt of that entry: the receipt of the report. Raises
    LedgerUnavailable."""
    made = json.loads(report)
    detail = {
        "v": VERSION,
        "month": made["month"],
        "report_sha256": hashlib.sha256(report).hexdigest(),
        "page_sha256": hashlib.sha256(page).hexdigest(),
        "size": made["checkpoint"]["size"],
        "root": made["checkpoint"]["root"],
        "entries": made["entries"]["count"],
        "leaves_root": made["entries"]["leaves_root"],
        "who": LOCAL_ID,
    }
    recorded = await ledger.record(
        Kind.CONFIG,
        tenant=made["tenant"] or SYSTEM_TENANT,
        request_id=f"report:{detail['report_sha256'][:32]}",
        parts={"detail": canonical_json(detail)},
    )
    return await ledger.receipt(recorded.entry_id, disclose=("detail",))


async def check_report(ledger: Ledger, report: bytes, page: bytes, receipt: str) -> dict[str, Any]:
    """Verify a report against its receipt, and count its entries again in the log. Raises VerificationFailed,
    MalformedNote; the message names what does not hold."""
    verified = verify_with_any(receipt, vkeys=ledger.vkeys)
    try:
        told = json.loads(verified.parts["detail"])
        made, month = json.loads(report), Month.parse(told["month"])
        digests = [hashlib.sha256(data).hexdigest() for data in (report, page)]
        if [told["report_sha256"], told["page_sha256"]] != digests:
            raise VerificationFailed("report", "the report or its page is not the one that was recorded")
        keys = [parse_vkey(each) for each in ledger.vkeys]
        head = verify_checkpoint(made["checkpoint"]["note"], *keys, origin=ledger.origin)
    except (KeyError, TypeError, ValueError) as exc:
        raise VerificationFailed("report", f"the receipt is of no report: {type(exc).__name__}") from exc
    if (told["size"], told["root"]) != (head.size, head.root.hex()):
        raise VerificationFailed("report", "the report was made at another checkpoint")
    again = await counted(ledger, month, size=head.size, tenant=made["tenant"])
    if (told["entries"], told["leaves_root"]) != (len(again.entries), again.leaves_root):
        raise VerificationFailed("report", "the log holds other entries of that month than the report counted")
    return {"verdict": "intact", "month": month.name, "entries": told["entries"], "entry_id": verified.leaf.entry_id}


# ---------------------------------------------------------------- what is counted


def _counts(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _place(entry: Entry) -> dict[str, Any]:
    return {"entry_id": entry.leaf.entry_id, "time": time_text(entry.leaf.t_ms)}


async def _outcomes(
    search: EntrySearch, month: Month, entries: Counted, tenant: str | None
) -> tuple[dict[str, int], list[Entry]]:
    """How the requests ended, and those that were denied."""
    by_index = {each.index: each for each in entries.entries}
    while await search.catch_up() <= max(by_index, default=-1):
        continue
    alias = None if tenant is None else search.ledger.pseudonym("tenant", tenant)
    query = EntryQuery(tenant=alias, kind=Kind.OUTCOME, since_ms=month.since_ms, until_ms=month.until_ms)
    ended: dict[int, str] = {}
    after = -1
    while page := await search.index.find(query, after=after, limit=_PAGE):
        ended |= {each.index: each.outcome or "ERASED" for each in page if each.index in by_index}
        after = page[-1].index
    return _counts(ended.values()), [by_index[index] for index, said in sorted(ended.items()) if said == "DENY"]


async def _denials(ledger: Ledger, denied: Sequence[Entry]) -> list[dict[str, Any]]:
    """How many requests each rule denied, by its reason code; a request counts once for each rule."""
    counts = Counter[tuple[str, str]]()
    for entry in denied:
        runs: list[Mapping[str, Any]] = []
        holders = [entry, *[await ledger.entry(ref.id) for ref in entry.leaf.refs if ref.rel == "intent"]]
        for holder in holders:
            contents = await ledger.contents(holder, _POINTS)
            runs += [run for data in contents.values() if data for run in json.loads(data)]
        reasons = [each for run in runs if run["decision"]["effect"] == "deny" for each in run["decision"]["reasons"]]
        counts.update({(each["rule"], each["code"]) for each in reasons})
    ranked = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return [{"rule": rule, "code": code, "requests": count} for (rule, code), count in ranked]


async def _details(ledger: Ledger, entries: Sequence[Entry]) -> AsyncIterator[tuple[Entry, Mapping[str, Any]]]:
    for entry in entries:
        data = (await ledger.contents(entry, ("detail",))).get("detail")
        detail = json.loads(data) if data else {}
        yield entry, detail if isinstance(detail, Mapping) else {}


def _publication(found: tuple[Entry, Mapping[str, Any]]) -> dict[str, Any] | None:
    entry, detail = found
    for name in ("policy_publication", "policy_rollback"):
        if name in detail:
            told = {key: detail[name].get(key) for key in ("before", "after", "by", "why")}
            return {**_place(entry), "action": name.removeprefix("policy_"), **told}
    return None


def _overrides(found: tuple[Entry, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The widenings that a person accepted against the gates of a publication."""
    entry, detail = found
    told = detail.get("policy_publication") or {}
    return [{**_place(entry), "accepted": str(each), "by": told.get("by")} for each in told.get("widenings") or ()]


def _source_change(found: tuple[Entry, Mapping[str, Any]]) -> dict[str, Any] | None:
    entry, detail = found
    if detail.get("v") != "exhibit.source/1":
        return None
    return {**_place(entry), **{key: detail.get(key) for key in ("action", "source_id", "who", "why")}}


async def _erasures(ledger: Ledger, entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Each redaction, and what the search for what it erased found: an entry of its own, which is told with those that
    it is about."""
    details = {each.leaf.entry_id: await _redaction(ledger, each) for each in entries}
    scans = [each.scan for each in details.values() if each is not None and each.scan is not None]
    searched = {name: "clean" if scan.clean else "something was left" for scan in scans for name in scan.redactions}
    found = []
    for entry in entries:
        redaction = details[entry.leaf.entry_id]
        if redaction is None:
            told: dict[str, Any] = dict.fromkeys(("target", "basis", "entries", "parts", "searched"))
        elif redaction.scan is None:
            named = {"target": str(redaction.target), "basis": redaction.basis}
            counts = {"entries": len(redaction.entry_ids), "parts": len(redaction.parts)}
            told = {**named, **counts, "searched": searched.get(entry.leaf.entry_id)}
        else:
            continue
        found.append({**_place(entry), **told})
    return found


async def _redaction(ledger: Ledger, entry: Entry) -> Redaction | None:
    try:
        return parse_detail(await ledger.part(entry.leaf.entry_id, "detail"))
    except PartErased:
        return None


async def _checkpoints(ledger: Ledger, entries: Counted, policy: TrustPolicy | None, month: Month) -> dict[str, Any]:
    """The checkpoints whose newest entry was counted, and what the witnesses of the policy signed in the month."""
    every = await ledger.checkpoints()
    sizes = {each.index + 1 for each in entries.entries}
    made = [each for each in every if each.head.size in sizes]
    return {
        "count": len(made),
        "first_size": made[0].head.size if made else None,
        "last_size": made[-1].head.size if made else None,
        "cosigned": sum(bool(each.cosignatures) for each in made),
        "witnesses": [_witness(each.name, each.key, every, month) for each in (policy.witnesses if policy else ())],
    }


def _witness(name: str, key: Any, every: Sequence[Checkpoint], month: Month) -> dict[str, Any]:
    signed = [(each.head.size, at_ms) for each in every if (at_ms := _signed_ms(each, key, month)) is not None]
    last = max(signed, default=None)
    return {
        "name": name,
        "cosigned": len(signed),
        "last_size": None if last is None else last[0],
        "last_time": None if last is None else time_text(last[1]),
    }


def _signed_ms(checkpoint: Checkpoint, key: Any, month: Month) -> int | None:
    """When the witness signed it, if that was in the month."""
    try:
        at_s = cosigned_at(checkpoint.text, key) if checkpoint.cosignatures else None
    except LedgerError:
        return None
    return None if at_s is None or not month.since_ms <= at_s * 1000 < month.until_ms else at_s * 1000
