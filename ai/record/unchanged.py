"""A reply is recorded as one only while what it rests on stands.

The log's own order decides: the entry is refused where a change of what the tenant holds (`config`, `redaction`) came
before it and after its reading began. Then the store is asked again, and the reply goes on the record if nothing that
it rests on was touched.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from ai.case.case import Case, Services
from ai.errors import CorpusChanged
from ai.governance.admission import Access
from ai.model import AdmittedItem
from ledger.errors import EntryOvertaken
from ledger.model import EntryRef
from retrieval.bundle import GatheredRuns
from retrieval.model import SourcedRecord


async def record_unchanged(
    case: Case,
    gathered: GatheredRuns | None,
    items: Iterable[AdmittedItem],
    services: Services,
    append: Callable[[int], Awaitable[EntryRef]],
) -> EntryRef:
    """The entry that `append` makes of a reply for a size of the log. Raises CorpusChanged where a source that the
    reply rests on was changed: then nothing is on the record."""
    since = case.log_size
    rests_on = {} if gathered is None else dict(gathered.records)
    shown = [item.evidence for item in items]
    for evidence in shown:
        rests_on |= {sourced.record.record_id: sourced for sourced in evidence.records}
    computed = any(evidence.computed is not None for evidence in shown)
    while True:
        try:
            return await append(since)
        except EntryOvertaken as exc:
            since = await services.ledger.size()
            if not await _stands(case, rests_on, services, computed=computed):
                raise CorpusChanged("a source was changed while the reply was made") from exc


async def record_reading(
    access: Access, services: Services, append: Callable[[int | None], Awaitable[EntryRef]]
) -> None:
    """The entry that `append` makes of a reading outside a question, which is made anew rather than compared: raises
    CorpusChanged where the tenant's corpus was changed since it began and an entry says so. Nothing is on the record
    then."""
    since = None if access.began is None else access.began.log_size
    while True:
        try:
            await append(since)
            return
        except EntryOvertaken as exc:
            since = await services.ledger.size()
            held = await services.store.corpus_version(access.subject.tenant)
            if access.began is None or held != access.began.corpus_version:
                raise CorpusChanged("a source was changed while this was read") from exc


async def _stands(case: Case, rests_on: dict[str, SourcedRecord], services: Services, *, computed: bool) -> bool:
    """True if nothing was changed in the store, or nothing of these records; a computation rests on whatever it could
    have been made from."""
    held = await services.store.holdings(case.ask.subject.tenant)
    if held.corpus_version == case.corpus_version:
        return True
    return not computed and await services.store.fetch(list(rests_on), scope=case.scope) == rests_on
