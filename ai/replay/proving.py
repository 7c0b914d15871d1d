"""Grade R0: every part that a receipt can disclose is opened against its commitment, the leaf against a signed
checkpoint, and what is missing must have been erased by a redaction on record."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ai.replay.comparison import Stage
from ledger.entry.parts import parse_source_commitments, source_name
from ledger.erasure.redaction import parse_detail
from ledger.errors import LedgerError, MalformedLeaf, PartErased, VerificationFailed
from ledger.ledger import Ledger
from ledger.model import SOURCES, Entry, Kind


@dataclass(frozen=True, slots=True)
class Proven:
    """The bytes of an entry as far as they hold; `names` are all parts that it commits to, sources among them."""

    stages: tuple[Stage, ...]
    parts: dict[str, bytes]
    names: tuple[str, ...]
    erased: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """True if nothing is changed, and nothing missing that was not erased."""
        return all(stage.same for stage in self.stages)


async def prove(entry: Entry, ledger: Ledger) -> Proven:
    """Open everything. Never raises what a changed byte raises: it is a stage that does not hold."""
    parts, stages = await _opened(entry, ledger)
    names = list(entry.leaf.parts)
    try:
        count = len(parse_source_commitments(parts[SOURCES])) if parts.get(SOURCES) else 0
        names += [source_name(number) for number in range(1, count + 1)]
    except VerificationFailed as exc:
        stages.append(Stage(f"commitment {SOURCES}", False, reason_of(exc)))
    unopened = {stage.name.removeprefix("commitment ") for stage in stages}
    missing = [name for name in names if name not in parts and name not in unopened]
    accounted = await _redacted(entry, ledger) if missing else frozenset()
    for name in missing:
        if name not in accounted:
            stages.append(Stage(f"commitment {name}", False, "the part is missing, and no redaction names it"))
    try:
        await ledger.receipt(entry.leaf.entry_id, disclose=())
        stages.append(Stage("inclusion", True))
    except LedgerError as exc:
        stages.append(Stage("inclusion", False, reason_of(exc)))
    erased = tuple(name for name in missing if name in accounted)
    return Proven(tuple(stages), parts, tuple(names), erased)


async def _opened(entry: Entry, ledger: Ledger) -> tuple[dict[str, bytes], list[Stage]]:
    """All at once; one by one where something does not hold, to name it."""
    try:
        return await ledger.contents(entry), []
    except LedgerError:
        pass
    parts, stages = dict[str, bytes](), list[Stage]()
    stored = await ledger.part_names(entry.leaf.entry_id)
    for name in dict.fromkeys((*entry.leaf.parts, *stored)):
        try:
            parts[name] = await ledger.part(entry.leaf.entry_id, name)
        except PartErased:
            continue
        except LedgerError as exc:
            stages.append(Stage(f"commitment {name}", False, reason_of(exc)))
    return parts, stages


async def _redacted(entry: Entry, ledger: Ledger) -> Collection[str]:
    """The parts of the entry that redactions on record name."""
    found = set[str]()
    async for redaction in ledger.every(after=entry.index, kind=Kind.REDACTION):
        if any(ref.id == entry.leaf.entry_id for ref in redaction.leaf.refs):
            found |= await _named(redaction, entry.leaf.entry_id, ledger)
    return found


async def _named(redaction: Entry, entry_id: str, ledger: Ledger) -> set[str]:
    try:
        detail = parse_detail(await ledger.part(redaction.leaf.entry_id, "detail"))
    except (LedgerError, MalformedLeaf):
        return set()
    return {part.name for part in detail.parts if part.entry_id == entry_id}


def reason_of(exc: Exception) -> str:
    """The first line of what went wrong."""
    return f"{type(exc).__name__}: {exc}".splitlines()[0]
