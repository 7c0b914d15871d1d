"""Erasure: an entry, a subject or a source goes from the ledger and from every copy that this home keeps.

In the ledger the salts, keys and contents of the parts are deleted in the transaction of a redaction entry; the leaves,
and with them every proof, stay. After that the copies: the index of entries, the idempotency records, and for a source
the store of record and the channels' indexes. Each step may be repeated; a crash between two leaves work for the next
call, never a half-written log.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ai.record.entry_facts import actor_pseudonym, held_sources, source_pseudonym
from api.audit.erasure.remains import Remainder
from api.audit.erasure.scan import prints_of_parts
from api.audit.log.search import EntryCriteria, EntrySearch
from api.errors import NoSuchThing, RequestRejected
from ledger.entry.parts import source_number
from ledger.erasure.fingerprint import pack
from ledger.erasure.redaction import Redaction, Scan, Target, batches, parse_detail
from ledger.ledger import Ledger
from ledger.model import PART_NAMES, SOURCES, Entry, Kind
from ledger.search.entry_index import EntryQuery

_PAGE = 500
# What quotes or renders a source, beside the source itself.
QUOTING = frozenset({"candidates", "bundle", "calls", "answer", "replay"})
# What holds its words where it was only found, and where somebody left a remark on it.
FOUND = frozenset({"calls", "replay"})
REMARK = "context"
KEPT_KINDS = frozenset({Kind.REDACTION, Kind.KEY, Kind.CONFIG, Kind.INCIDENT})


@dataclass(frozen=True, slots=True)
class Order:
    """The order for an erasure. `name` is an entry id, a subject's id or a source's or document's id; `parts` None is
    everything of an entry or subject, and of a source everything that holds its text."""

    target: Target
    name: str
    tenant: str
    basis: str
    parts: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Survival:
    """The remains of one entry: the parts that went now, those that stay, and the grade that replay can still
    reach."""

    entry: Entry
    erased: tuple[str, ...]
    kept: tuple[str, ...]

    @property
    def grade(self) -> str:
        """R1 needs every part of an outcome and of its intent; bytes and proofs hold in any case."""
        return "R0" if self.erased else "as before"


@dataclass(frozen=True, slots=True)
class ErasureReport:
    """The report: entries, ids of the redaction entries with the fingerprints that they record, how many records went
    from each other copy, what is left where no command of ours reaches, and what the search found afterwards, with the
    entry that says so."""

    survivals: tuple[Survival, ...]
    redactions: tuple[str, ...]
    copies: Mapping[str, int] = field(default_factory=dict)
    remains: tuple[Remainder, ...] = ()
    prints: frozenset[bytes] = frozenset()
    scan: Scan | None = None
    scan_entry: str | None = None


async def erase_from_ledger(order: Order, search: EntrySearch, *, request_id: str) -> ErasureReport:
    """Redact, then free the room. Raises NoSuchThing where no entry answers to the order, RequestRejected for a part
    that is none, LedgerUnavailable: then what was redacted before stays redacted, and the order may be given again."""
    ledger = search.ledger
    _check_parts(order.parts)
    if order.target is not Target.ENTRY:
        await search.mend()  # what is erased follows from the log, never from the index alone
    targets = await _targets(order, search)
    if not targets and order.target is not Target.SOURCE:  # a source may be in the corpus alone
        raise NoSuchThing(f"tenant {order.tenant} has no entry for that {order.target}")
    survivals = [await _survival(order, entry, ledger) for entry in targets]
    names = {each.entry.leaf.entry_id: each.erased for each in survivals if each.erased}
    redactions, everything = [], set[bytes]()
    of = (order.name,) if order.target is Target.SOURCE else ()
    for number, parts in enumerate(batches(names), start=1):
        going = {part.entry_id: names[part.entry_id] for part in parts}
        prints = await prints_of_parts(ledger, going, of)
        redaction = Redaction(order.target, pseudonym_of(order, ledger), order.basis, parts, pack(prints))
        made = await ledger.redact(redaction, request_id=f"{request_id}-{number}")
        redactions.append(made.entry_id)
        everything |= prints
    await ledger.shrink()
    await search.catch_up()
    return ErasureReport(tuple(survivals), tuple(redactions), prints=frozenset(everything))


async def erase_again(ledger: Ledger, details: Sequence[bytes], *, request_id: str) -> tuple[str, ...]:
    """Carry out redactions that a restored backup does not know of, or has undone; gives the new redaction entries.
    Raises MalformedLeaf for a detail that is none."""
    made = []
    for number, detail in enumerate(details, start=1):
        redaction = parse_detail(detail)
        stored = {each: set(await ledger.part_names(each)) for each in redaction.entry_ids}
        if any(part.name in stored[part.entry_id] for part in redaction.parts):
            made.append((await ledger.redact(redaction, request_id=f"{request_id}-{number}")).entry_id)
    if made:
        await ledger.shrink()
    return tuple(made)


async def recorded_redactions(ledger: Ledger) -> list[bytes]:
    """The details of all redactions of the log, oldest first."""
    return [await ledger.part(entry.leaf.entry_id, "detail") async for entry in ledger.every(kind=Kind.REDACTION)]


def erased_json(erased: ErasureReport) -> dict[str, Any]:
    """The report as a document."""
    return {
        "entries": [
            {
                "entry_id": each.entry.leaf.entry_id,
                "kind": str(each.entry.leaf.kind),
                "index": each.entry.index,
                "erased": list(each.erased),
                "kept": list(each.kept),
                "inclusion_proof": "holds",
                "grade": each.grade,
            }
            for each in erased.survivals
        ],
        "redactions": list(erased.redactions),
        "copies": dict(erased.copies),
        "remains": [asdict(each) for each in erased.remains],
        "scan": erased.scan and {**erased.scan.document(), "entry_id": erased.scan_entry},
    }


async def _targets(order: Order, search: EntrySearch) -> list[Entry]:
    """The entries of the tenant that the order is about, with the remarks on them, by index."""
    found = {each.index: each async for each in _named(order, search)}
    if order.target is not Target.SOURCE:
        found |= {each.index: each async for each in _remarks(list(found.values()), order.tenant, search.ledger)}
    return [found[index] for index in sorted(found)]


async def _named(order: Order, search: EntrySearch) -> AsyncIterator[Entry]:
    tenant = search.ledger.pseudonym("tenant", order.tenant)
    if order.target is Target.ENTRY:
        entry = await search.ledger.entry(order.name)
        if entry.leaf.tenant == tenant and entry.leaf.kind not in KEPT_KINDS:
            yield entry
        return
    wanted = (
        EntryCriteria(EntryQuery(tenant=order.tenant), subject=order.name)
        if order.target is Target.SUBJECT
        else EntryCriteria(EntryQuery(tenant=order.tenant, holding=order.name))
    )
    after: int | None = -1
    while after is not None:
        page = await search.page(wanted, after=after, limit=_PAGE)
        for found, _ in page.found:  # one that was changed is not passed over: reading it says so
            yield found if isinstance(found, Entry) else await search.ledger.entry(found.entry_id)
        after = page.next


async def _remarks(entries: Sequence[Entry], tenant: str, ledger: Ledger) -> AsyncIterator[Entry]:
    """Feedback on these entries, whoever gave it: it may quote them."""
    if not entries:
        return
    about, after = {each.leaf.entry_id for each in entries}, min(each.index for each in entries)
    async for entry in ledger.every(after=after, kind=Kind.RETRIEVAL, tenant=tenant):
        if any(ref.rel == "about" and ref.id in about for ref in entry.leaf.refs):
            yield entry


async def _survival(order: Order, entry: Entry, ledger: Ledger) -> Survival:
    stored = await ledger.part_names(entry.leaf.entry_id)
    gone = set(stored) if order.target is not Target.SOURCE else await _of_source(order.name, entry, ledger)
    if order.parts is not None:
        gone &= {name for name in stored if name in order.parts or _family(name) in order.parts}
    return Survival(entry, tuple(sorted(gone)), tuple(name for name in stored if name not in gone))


async def _of_source(name: str, entry: Entry, ledger: Ledger) -> set[str]:
    """The parts of an entry that hold words of the source: itself, and what quotes it; of one that was only found, what
    keeps everything that was."""
    contents = await ledger.contents(entry)
    own = set()
    for part, data in contents.items():
        if source_number(part) is not None:
            document_id = json.loads(data)["document_id"]
            if name in (document_id, document_id.rpartition("@")[0]):
                own.add(part)
    if own:
        return own | {part for part in contents if part in QUOTING and contents[part]}
    held = set(FOUND) if name in _held(contents, "replay") else set()
    if held and b'"expansions":' in contents.get("answer", b""):
        held.add("answer")  # the names in it are those of what was found
    held |= {REMARK} if name in _held(contents, REMARK) else set()
    return {part for part in held if contents.get(part)}


def _held(contents: Mapping[str, bytes], part: str) -> set[str]:
    return held_sources({part: json.loads(contents[part])}) if contents.get(part) else set()


def _family(name: str) -> str:
    """`sources` stands for every source."""
    return SOURCES if source_number(name) is not None else name


def _check_parts(parts: Collection[str] | None) -> None:
    known = {name for names in PART_NAMES.values() for name in names}
    unknown = sorted(name for name in parts or () if name not in known and source_number(name) is None)
    if unknown:
        raise RequestRejected(f"no entry has a part {unknown[0]!r}")


def pseudonym_of(order: Order, ledger: Ledger) -> str:
    """The target of an order as the ledger names it."""
    match order.target:
        case Target.SUBJECT:
            return actor_pseudonym(order.name, ledger)
        case Target.SOURCE:
            return source_pseudonym(order.name, ledger)
        case Target.ENTRY:
            return order.name
