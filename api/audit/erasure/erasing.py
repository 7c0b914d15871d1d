"""An erasure carried out: in every log of the home, in every copy, and what is left elsewhere is named.

Of a source keyed fingerprints of what goes are recorded first; it goes from the store of record, and an entry says so,
from which on no reply that rests on it is recorded (`ai.record.unchanged`); then it goes from the logs, which no later
entry can bring it back to. A search for the fingerprints through every file comes last. A log that was left because it
had been put back takes the redaction too, in an entry that no checkpoint of it covers; the log that is written now says
so in an `incident`, which is signed.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from api.audit.erasure.erasure import (
    ErasureReport,
    Order,
    erase_again,
    erase_from_ledger,
    pseudonym_of,
    recorded_redactions,
)
from api.audit.erasure.remains import remains_of
from api.audit.erasure.scan import fingerprinter, prints_of_source, scan_home, settle
from api.audit.in_force import record_made
from api.audit.log.search import EntrySearch
from api.errors import NoSuchThing
from api.home.backends import backends_of
from api.home.configuration import Configuration
from api.home.request_records import RequestRecords
from api.jobs.uploads import Uploads
from api.wiring import new_id, open_entry_index, open_ingest, open_ledger
from api.wiring.ledger.log import last_shard, log_to_write
from ledger.canonical import canonical_json
from ledger.erasure.fingerprint import pack
from ledger.erasure.redaction import MAX_PRINTS_BYTES, Redaction, Target
from ledger.errors import EntryNotFound
from ledger.ledger import SYSTEM_TENANT, Ledger
from ledger.model import Kind
from ledger.outage import INCIDENT_VERSION


async def carry_out(configuration: Configuration, order: Order) -> ErasureReport:
    """Erase, and report. Raises as `erase_from_ledger` does, and for a source HomeBusy while documents are taken in,
    StoreUnavailable, ChannelError: then the order is given again."""
    return await _searched(configuration, order, await _carried_out(configuration, order))


async def carry_out_all(configuration: Configuration, orders: Sequence[Order]) -> ErasureReport:
    """Carry out several orders, one that finds nothing being no fault, and search the files once, for
    everything that went. Raises as `carry_out`."""
    made: list[ErasureReport] = []
    for order in orders:
        with suppress(NoSuchThing, EntryNotFound):
            made.append(await _carried_out(configuration, order))
    copies: Counter[str] = Counter()
    for each in made:
        copies.update(each.copies)
    whole = ErasureReport(
        tuple(survival for each in made for survival in each.survivals),
        tuple(name for each in made for name in each.redactions),
        copies=dict(copies),
        remains=tuple(dict.fromkeys(remainder for each in made for remainder in each.remains)),
        prints=frozenset(one for each in made for one in each.prints),
    )
    return await _searched(configuration, orders[-1], whole)


async def _carried_out(configuration: Configuration, order: Order) -> ErasureReport:
    """The erasure without the search."""
    if order.target is not Target.SOURCE:
        return await _everywhere(configuration, order, {})
    announced = await _announce(configuration, order)
    gone = await _from_corpus(configuration, order, announced)
    erased = await _everywhere(configuration, order, gone)
    if not erased.survivals and not any(erased.copies.values()):
        raise NoSuchThing(f"tenant {order.tenant} has no source {order.name}")
    redactions = (*announced.redactions, *erased.redactions)
    return replace(erased, redactions=redactions, prints=announced.prints | erased.prints)


async def _from_corpus(configuration: Configuration, order: Order, announced: ErasureReport) -> dict[str, int]:
    """Erase a source from the corpus, and record that it is gone; how many records went, by copy."""
    async with open_ingest(configuration) as ingest:
        sent = await asyncio.to_thread(Uploads(configuration.home, configuration.seal).forget, order.name)
        documents = len(await ingest.erase(order.name, tenant=order.tenant))
        if documents:
            async with log_to_write(configuration) as ledger:
                ordered = next(iter(announced.redactions), None)
                await record_made(ledger, order.tenant, pseudonym_of(order, ledger), ordered=ordered)
    return {"sent files": sent, "documents": documents}


async def _everywhere(configuration: Configuration, order: Order, gone: Mapping[str, int]) -> ErasureReport:
    """Erase from the logs and from what the home keeps beside them; the report, with what is gone already."""
    erased = await _from_logs(configuration, order)
    records = await asyncio.to_thread(
        RequestRecords(configuration.home).erase,
        tenant=order.tenant,
        subject=order.name if order.target is Target.SUBJECT else None,
        entry_ids={each.entry.leaf.entry_id for each in erased.survivals},
    )
    copies = {"idempotency records": records, **gone}
    return replace(erased, copies=copies, remains=remains_of(backends_of(configuration), order.target))


async def carry_out_again(configuration: Configuration, kept: Sequence[bytes] = ()) -> tuple[str, ...]:
    """After a restore: every recorded redaction once more, in every log, and those of `kept` (`erase_again`)."""
    made: list[str] = []
    for shard in range(1, await last_shard(backends_of(configuration).ledger) + 1):
        async with open_ledger(configuration, shard=shard) as ledger:
            details = [*await recorded_redactions(ledger), *kept]
            made += await erase_again(ledger, details, request_id=new_id())
    return tuple(made)


async def _announce(configuration: Configuration, order: Order) -> ErasureReport:
    """Record the fingerprints of what the store of record holds of a source, before it goes."""
    async with log_to_write(configuration) as ledger:
        prints = await prints_of_source(configuration, order.name, order.tenant, ledger)
        made, packed = [], pack(prints)
        for start in range(0, len(packed), MAX_PRINTS_BYTES):
            part = packed[start : start + MAX_PRINTS_BYTES]
            redaction = Redaction(order.target, pseudonym_of(order, ledger), order.basis, (), part)
            made.append((await ledger.redact(redaction, request_id=new_id(), tenant=order.tenant)).entry_id)
    return ErasureReport((), tuple(made), prints=frozenset(prints))


async def _searched(configuration: Configuration, order: Order, erased: ErasureReport) -> ErasureReport:
    """Search every file for what went, and record what was found, in the log that is written now."""
    if not erased.prints:
        return erased  # nothing was left to go
    await asyncio.to_thread(settle, configuration.home)
    async with open_ledger(configuration) as ledger:
        found = await scan_home(configuration, fingerprinter(ledger), erased.prints)
        scan = replace(found, redactions=erased.redactions)
        redaction = Redaction(order.target, pseudonym_of(order, ledger), order.basis, (), b"", scan)
        made = await ledger.redact(redaction, request_id=new_id(), tenant=order.tenant)
    return replace(erased, scan=scan, scan_entry=made.entry_id)


async def _from_logs(configuration: Configuration, order: Order) -> ErasureReport:
    if order.target is Target.SOURCE and not backends_of(configuration).ledger.exists:
        return ErasureReport((), ())  # nobody has asked yet
    last = await last_shard(backends_of(configuration).ledger)
    found: dict[int, ErasureReport] = {}
    nowhere: Exception = NoSuchThing(f"no log of the home knows that {order.target}")
    for shard in range(1, last + 1):
        async with open_ledger(configuration, shard=shard) as ledger:
            async with open_entry_index(configuration, origin=ledger.origin) as index:
                try:
                    search = EntrySearch(ledger, index)
                    found[shard] = await erase_from_ledger(order, search, request_id=new_id())
                except (NoSuchThing, EntryNotFound) as exc:
                    nowhere = exc
            if shard == last and ledger.fork is None:
                await _tell(ledger, {each: erased for each, erased in found.items() if each < last}, order.basis)
    if not found:
        raise nowhere
    survivals = [survival for erased in found.values() for survival in erased.survivals]
    redactions = tuple(name for erased in found.values() for name in erased.redactions)
    prints = frozenset(each for erased in found.values() for each in erased.prints)
    return ErasureReport(tuple(survivals), redactions, prints=prints)


async def _tell(ledger: Ledger, left: dict[int, ErasureReport], basis: str) -> None:
    """Record what went from logs that are left, since nothing of theirs is signed any more."""
    redactions = [name for erased in left.values() for name in erased.redactions]
    if redactions:
        body = {"v": INCIDENT_VERSION, "what": "redacted", "why": basis, "redactions": redactions, "shards": [*left]}
        detail = canonical_json(body)
        await ledger.record(Kind.INCIDENT, tenant=SYSTEM_TENANT, request_id=new_id(), parts={"detail": detail})
