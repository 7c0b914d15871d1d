"""Grade R3: the stores asked again, inside the recorded scope, and how what they find has drifted since.

Drift is no fault: documents come and go. It is listed by channel and record id, so that an auditor can tell an answer
that rested on other evidence from one that was made differently.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ai.answer.evidence import search_query
from ai.canonical import canonical, digest, to_json
from ai.case.case import Case, Services
from retrieval.bundle import GatheredRuns, gather
from retrieval.filters import parse_filter
from retrieval.model import Hit, Run


@dataclass(frozen=True, slots=True)
class Drift:
    """One thing that a store finds otherwise now. `what` is `store`, `gone`, `new`, `rank`, `score` or `record`."""

    channel: str
    what: str
    record_id: str
    detail: str = ""


async def search_again(case: Case, services: Services) -> GatheredRuns:
    """The recorded query to the channels of the recorded profile, its filter over today's metadata. Raises
    `StoreUnavailable`."""
    filters = case.ask.options.search.filters
    if filters:
        wanted = parse_filter(json.loads(filters), shorthand=True)
        case = replace(case, documents=await services.store.matching(wanted, scope=case.scope))
    channels = [channel for channel in services.channels if channel.name in case.profile.channels]
    return await gather(
        search_query(case),
        channels=channels,
        store=services.store,
        deadlines_s=case.profile.channel_deadlines_s,
        slots=services.slots,
    )


def drift_between(recorded: GatheredRuns, now: GatheredRuns) -> tuple[Drift, ...]:
    """Everything that differs, by channel, then by record; empty for the same runs over the same records."""
    if canonical([to_json(run) for run in recorded.runs]) == canonical([to_json(run) for run in now.runs]):
        return tuple(_records(recorded, now))
    before, after = _by_channel(recorded), _by_channel(now)
    found: list[Drift] = []
    for channel in sorted({*before, *after}):
        found += _of_channel(channel, before.get(channel), after.get(channel))
    return (*found, *_records(recorded, now))


def _by_channel(gathered: GatheredRuns) -> Mapping[str, Run]:
    return {str(run.channel): run for run in gathered.runs}


def _of_channel(channel: str, recorded: Run | None, now: Run | None) -> Iterator[Drift]:
    if recorded is not None and now is not None and recorded.store != now.store:
        yield Drift(channel, "store", "", f"{recorded.store} then, {now.store} now")
    before = {} if recorded is None else {hit.record_id: hit for hit in recorded.hits}
    after = {} if now is None else {hit.record_id: hit for hit in now.hits}
    for record_id in sorted({*before, *after}):
        yield from _of_hit(channel, record_id, before.get(record_id), after.get(record_id))


def _of_hit(channel: str, record_id: str, recorded: Hit | None, now: Hit | None) -> Iterator[Drift]:
    if now is None and recorded is not None:
        yield Drift(channel, "gone", record_id, f"rank {recorded.rank} then")
    elif recorded is None and now is not None:
        yield Drift(channel, "new", record_id, f"rank {now.rank} now")
    elif recorded is not None and now is not None and recorded.rank != now.rank:
        yield Drift(channel, "rank", record_id, f"{recorded.rank} then, {now.rank} now")
    elif recorded is not None and now is not None and to_json(recorded) != to_json(now):
        yield Drift(channel, "score", record_id)


def _records(recorded: GatheredRuns, now: GatheredRuns) -> Iterator[Drift]:
    """Records that both found and that read otherwise now."""
    for record_id in sorted(set(recorded.records) & set(now.records)):
        if digest(to_json(recorded.records[record_id].record)) != digest(to_json(now.records[record_id].record)):
            yield Drift("store of record", "record", record_id, "its content has changed")
