"""Retrieval without an answer: the pipeline's own front half, ending at the admitted items, for R0 basic and R2.

Same gate, scope, intent, channels, bundle and evidence point as a question; no model. The `retrieval` entry is durable
before anything leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ai.case import Case, Faulted, Services
from ai.errors import AIError
from ai.focus_pipeline import check_gate, decide_scope, narrow, read_question, search
from ai.found import Found
from ai.model import Ask
from ai.passage_search import Passed
from ai.profiles import Profile
from ai.retrieval_reads import StoreReads
from ai.retrieval_record import record_retrieval, record_retrieval_fault
from ai.retrieval_surface import MOST_NAMED, Surface, decide, show, surface_profile
from ledger.errors import LedgerError
from ledger.model import EntryRef
from policy.errors import PolicyError
from retrieval.bundle import Gathered
from retrieval.errors import RetrievalError


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What leaves: the surface's body, what is behind it (`passed` where the surface shapes hits), and where it is
    recorded."""

    body: Mapping[str, Any]
    found: Found
    passed: tuple[Passed, ...]
    entry: EntryRef


async def retrieve(ask: Ask, *, services: Services, profile: Profile, surface: Surface) -> Retrieved:
    """Search on the ground of `profile`, decide, record, and only then give back what the surface shows of it.

    Raises `LedgerUnavailable` when nothing could be recorded, and `Faulted` (with the entry and the cause) when an
    engine or a store failed, or where R2's surfaces have nothing to show for it; that is recorded too.
    """
    case = Case.of(ask, services=services, profile=surface_profile(surface, ask, profile))
    try:
        case = check_gate(case, services)
        case = await decide_scope(case, services)
        case = await read_question(case, services)
        case = await narrow(case, services)
        gathered = await look(case, surface, services)
        reads = StoreReads(case, services)
        found = await decide(case, surface, gathered, reads, services)
        shown = await show(found, surface, reads, services)
        given = reads.given(named=tuple(gathered.records) if surface.ids and gathered is not None else ())
        return Retrieved(
            shown.body, found, shown.passed, await record_retrieval(found, surface, shown.body, given, services)
        )
    except LedgerError:
        raise
    except Exception as exc:
        entry = await record_retrieval_fault(case, exc, services)
        if isinstance(exc, PolicyError | AIError | RetrievalError):
            raise Faulted(ask.request_id, entry.entry_id, exc) from exc
        raise


async def look(case: Case, surface: Surface, services: Services) -> Gathered | None:
    """What the channels find, or what answers to the names; None where nothing is looked for."""
    if not case.decided.allowed:
        return None
    if surface.ids:
        return await _named(case, surface.ids, services)
    return await search(case, services) if surface.searches else None


async def _named(case: Case, ids: tuple[str, ...], services: Services) -> Gathered:
    """Chunks, and all passages of documents, in the order of the names. What is not there and what is not admitted is
    left out alike."""
    wanted: list[str] = []
    for each in dict.fromkeys(ids):
        wanted += (await services.store.passages(each, scope=case.scope))[:MOST_NAMED] or (each,)
    records = await services.store.fetch(wanted, scope=case.scope)
    return Gathered((), {each: records[each] for each in dict.fromkeys(wanted) if each in records})
