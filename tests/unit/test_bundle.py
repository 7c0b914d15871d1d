"""The bundle: only what is admitted, as if nothing else had been found; bounded, numbered, reproducible."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.bundle import BundleLimits, BundleRules, assemble, count_tokens, gather
from retrieval.channels.fan_out import Slots
from retrieval.errors import ChannelUnavailable
from retrieval.model import ChannelName, Computation, EvidenceBundle, Hit, Run, SourcedRecord
from retrieval.registry.store import RecordStore
from retrieval.spatial.facts import Fact, digest_of_facts
from tests.corpora import COUNTIES, corpus, hidden, probe
from tests.fakes_retrieval import MemoryRecords, ScriptedChannel, broken

CORPUS = corpus(5, documents=10)
RECORDS = CORPUS.sourced()
QUERY = probe(COUNTIES[0], 1880, CORPUS.scope())
WIDE = BundleLimits(max_items=1000, max_tokens=10**6, max_tokens_per_source=10**6, per_source_items=1000)


def computed(*inputs: str) -> Computation:
    known = [RECORDS[each].record for each in inputs if each in RECORDS]
    facts = [fact for record in known if (fact := Fact.of(record)) is not None]
    return Computation("sum", {"n": len(inputs)}, inputs, digest_of_facts(facts), {"value": 1}, f"{inputs} make one.")


def random_runs(seed: int, ids: list[str]) -> list[Run]:
    """Four runs over the ids, each in its own order, with some computed hits."""
    chance = random.Random(seed)
    runs = []
    for channel in ChannelName:
        found = chance.sample(ids, chance.randint(0, len(ids)))
        hits = [Hit(n, r, 1 / n) for n, r in enumerate(found, start=1)]
        if len(found) > 2 and channel is ChannelName.SPATIAL:
            made = computed(*found[:2])
            hits.append(Hit(len(hits) + 1, made.record_id, 0.0, made))
        runs.append(Run(channel, "s", tuple(hits)))
    return runs


def bundle(
    runs: list[Run],
    records: Mapping[str, SourcedRecord] = RECORDS,
    *,
    limits: BundleLimits = WIDE,
    excluded: frozenset[str] = frozenset(),
) -> EvidenceBundle:
    return assemble(runs, records, query=QUERY, rules=BundleRules(), limits=limits, excluded=excluded)


@given(st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_what_has_no_record_leaves_no_trace(seed: int) -> None:
    unseen = hidden(seed).sourced()
    runs = random_runs(seed, [*RECORDS, *unseen])
    only = []
    for run in runs:
        kept = [h for h in run.hits if set(h.computed.inputs if h.computed else [h.record_id]) <= set(RECORDS)]
        only.append(replace(run, hits=tuple(replace(h, rank=n) for n, h in enumerate(kept, start=1))))
    assert bundle(runs) == bundle(only)


@given(st.integers(0, 2**32), st.integers(0, 10))
@settings(max_examples=40, deadline=None)
def test_what_is_excluded_leaves_no_trace(seed: int, count: int) -> None:
    excluded = frozenset(random.Random(seed).sample(sorted(RECORDS), count))
    without = {i: s for i, s in RECORDS.items() if i not in excluded}
    runs = random_runs(seed, list(RECORDS))
    assert bundle(runs, excluded=excluded) == bundle(runs, without)


@given(st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_items_are_numbered_from_one_and_each_record_is_accounted_for_once(seed: int) -> None:
    runs = random_runs(seed, list(RECORDS))
    made = bundle(runs)
    assert [item.index for item in made.items] == list(range(1, len(made.items) + 1))
    shown = [item.record_id for item in made.items]
    folded = [d.record.record_id for item in made.items for d in item.duplicates]
    assert sorted(shown + folded) == sorted({h.record_id for run in runs for h in run.hits})
    assert made.candidates == len(shown) + len(folded)


@given(st.integers(0, 2**32), st.integers(1, 9), st.integers(1, 400), st.integers(1, 300), st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_every_limit_holds(seed: int, items: int, tokens: int, per_source: int, source_items: int) -> None:
    limits = BundleLimits(items, tokens, per_source, source_items)
    made = bundle(random_runs(seed, list(RECORDS)), limits=limits)
    assert len(made.items) <= items
    of: dict[str, list[int]] = {}
    for item in made.items:
        record = item.first.record
        words = item.computed.statement if item.computed else record.statement or record.text
        of.setdefault(item.first.source.source_id, []).append(min(count_tokens(words), per_source))
    assert sum(map(sum, of.values())) <= tokens
    assert all(len(sizes) <= source_items and sum(sizes) <= per_source for sizes in of.values())


@given(st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_the_runs_order_changes_no_item(seed: int) -> None:
    runs = random_runs(seed, list(RECORDS))
    assert bundle(runs[::-1]).items == bundle(runs).items


def test_ranks_close_up_and_the_runs_behind_the_bundle_are_the_admitted_ones() -> None:
    first, second = list(RECORDS)[:2]
    made = bundle([Run(ChannelName.VECTOR, "s", (Hit(1, first, 0.9), Hit(2, "gone", 0.8), Hit(3, second, 0.7)))])
    assert made.runs[0].hits == (Hit(1, first, 0.9), Hit(2, second, 0.7))


def test_a_computed_item_needs_every_input() -> None:
    ids = list(RECORDS)[:2]
    made = computed(*ids)
    run = Run(ChannelName.SPATIAL, "s", (Hit(1, made.record_id, 1.0, made),))
    assert [r.record.record_id for r in bundle([run]).items[0].records] == ids
    assert bundle([run], excluded=frozenset(ids[1:])).items == ()
    assert bundle([run], {ids[0]: RECORDS[ids[0]]}).items == ()
    assert bundle([run], excluded=frozenset({made.record_id})).items == ()


def test_a_computed_item_without_inputs_is_no_evidence() -> None:
    made = computed()
    assert bundle([Run(ChannelName.SPATIAL, "s", (Hit(1, made.record_id, 1.0, made),))]).items == ()


def test_the_fused_score_is_the_sum_of_the_integer_contributions() -> None:
    first = next(iter(RECORDS))
    runs = [Run(c, "s", (Hit(1, first, 1.0),)) for c in (ChannelName.VECTOR, ChannelName.FULLTEXT)]
    assert bundle(runs).items[0].fused_score == 2 * (10**9 // 61) / 10**9


@pytest.mark.parametrize("field", ["max_items", "max_tokens", "max_tokens_per_source", "per_source_items"])
def test_a_limit_of_nothing_is_refused(field: str) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        BundleLimits(**{field: 0})


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("é" * 4, 2), ("\ud800", 1)]
)
def test_the_token_counter(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


async def test_gather_fetches_once_inside_the_scope_with_the_inputs_of_computed_items() -> None:
    unseen = hidden(1)
    ids = list(RECORDS)[:3]
    made = computed(ids[1], ids[2])
    channels = [
        ScriptedChannel(ChannelName.VECTOR, [Hit(1, ids[0], 1.0), Hit(2, unseen.records[0].record_id, 0.5)]),
        ScriptedChannel(ChannelName.SPATIAL, [Hit(1, made.record_id, 1.0, made)]),
        broken(ChannelName.GRAPH, ChannelUnavailable),
    ]
    store = MemoryRecords((CORPUS + unseen).sourced())
    found = await gather(
        QUERY,
        channels=channels,
        store=cast(RecordStore, store),
        deadlines_s=dict.fromkeys(ChannelName, 5.0),
        slots=Slots(4),
    )
    assert store.fetches == 1
    assert set(found.records) == set(ids)
    assert [limitation.channel for limitation in found.limitations] == [ChannelName.GRAPH]
    assert set(found.timings_ms) == {"vector", "postgis", "neo4j", "fetch"}


async def test_gather_leaves_out_a_channel_that_computed_from_what_no_record_states() -> None:
    ids = list(RECORDS)[:3]
    made = replace(computed(ids[1], ids[2]), input_digest="sha256:" + "0" * 64)
    channels = [
        ScriptedChannel(ChannelName.VECTOR, [Hit(1, ids[0], 1.0)]),
        ScriptedChannel(ChannelName.SPATIAL, [Hit(1, made.record_id, 1.0, made)]),
    ]
    store = MemoryRecords(CORPUS.sourced())
    deadlines = dict.fromkeys(ChannelName, 5.0)
    found = await gather(
        QUERY, channels=channels, store=cast(RecordStore, store), deadlines_s=deadlines, slots=Slots(4)
    )
    assert {run.channel: len(run.hits) for run in found.runs} == {ChannelName.VECTOR: 1, ChannelName.SPATIAL: 0}
    assert [(each.code, each.channel) for each in found.limitations] == [("CHANNEL_FAULT", ChannelName.SPATIAL)]


async def test_gather_asks_the_store_nothing_when_nothing_was_found() -> None:
    store = MemoryRecords(RECORDS)
    channels = [ScriptedChannel(ChannelName.VECTOR)]
    deadlines = dict.fromkeys(ChannelName, 5.0)
    found = await gather(
        QUERY, channels=channels, store=cast(RecordStore, store), deadlines_s=deadlines, slots=Slots(4)
    )
    assert (store.fetches, dict(found.records)) == (0, {})
