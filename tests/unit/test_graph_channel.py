"""The graph channel: relations with the record that states them, passages that name things together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import apsw
import pytest

from retrieval.algebra.operations import Lookup
from retrieval.graph.edges import time_keys
from retrieval.graph.sqlite import GraphChannel, GraphIndex
from retrieval.index import IndexBatch, surface_key
from retrieval.model import EntityRef, Intent, Mention, Query, RecordKind, Run, TimeRange
from retrieval.scope import Scope
from tests.structured import POP, SCOPE, SECRET, TENANT, mention, naming, record, relation

KANSA, OSAGE = EntityRef("nation:kansa", "Kansa", "nation"), EntityRef("nation:osage", "Osage", "nation")
KANSAS = EntityRef("state:20", "Kansas", "state")
FIRST, SECOND, THIRD = (EntityRef(f"treaty:{i}", f"Treaty {i}", "treaty") for i in (1, 2, 3))
SANTA_FE, AGENCY = EntityRef("place:santa-fe", "Santa Fe", "place"), EntityRef("place:agency", "Agency", "place")
SUNDAY = EntityRef("event:black-sunday", "Black Sunday", "event")
DAY = EntityRef("date:1935-04-14", "April 14, 1935", "date")
COUNTY = EntityRef("county:1", "Alder County", "county")
HAMLET, REALM = EntityRef("hamlet:1", "Ash", "hamlet"), EntityRef("realm:1", "Midrealm", "realm")
ROWS = [  # nation, treaty, place, year
    ("t#1", KANSA, FIRST, SANTA_FE, 1825),
    ("t#2", KANSA, SECOND, AGENCY, 1854),
    ("t#3", OSAGE, SECOND, AGENCY, 1854),
    ("t#4", OSAGE, THIRD, SANTA_FE, 1860),
]
PASSAGES = {
    "p#1": ["Kansas", "1857", "Governor Walker"],
    "p#2": ["Kansas", "1857"],
    "p#3": ["Kansas"],
    "p#4": ["1857"],
    "p#5": ["Kansas", "Governor Walker"],
    "p#6": ["Osage"],
}


def graph() -> IndexBatch:
    records = [
        record(i, RecordKind.PASSAGE, statement="signed", time=TimeRange.year(year), entities=(nation, treaty, place))
        for i, nation, treaty, place, year in ROWS
    ]
    records += [record(i, RecordKind.PASSAGE) for i in (*PASSAGES, "e#1", "m#1")]
    edges = [relation(nation, "signed", treaty, i, year) for i, nation, treaty, _, year in ROWS]
    edges += [relation(treaty, "signed_at", place, i, year) for i, _, treaty, place, year in ROWS]
    edges += [relation(SUNDAY, "occurred_on", DAY, "e#1", 1935), relation(COUNTY, "located_in", KANSAS, "m#1")]
    edges += [relation(HAMLET, "located_in", REALM, "m#1")]
    return IndexBatch(TENANT, records, (), edges, [mention(i, said) for i, names in PASSAGES.items() for said in names])


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[GraphIndex]:
    opened = GraphIndex.open(tmp_path / "graph.sqlite")
    await opened.add(graph())
    await opened.commit()
    yield opened
    await opened.aclose()


@pytest.fixture
async def channel(index: GraphIndex, tmp_path: Path) -> AsyncIterator[GraphChannel]:
    opened = GraphChannel.open(tmp_path / "graph.sqlite")
    yield opened
    await opened.aclose()


def ids(run: Run) -> list[str]:
    return [hit.record_id for hit in run.hits]


async def test_a_relation_of_a_named_entity_is_found_with_its_path(channel: GraphChannel) -> None:
    run = await channel.search(naming("Treaties of the Kansa", [KANSA]))
    assert ids(run) == ["t#1", "t#2"]
    assert run.hits[0].path == ("nation:kansa -signed-> treaty:1",)


async def test_the_time_of_the_question_leaves_other_times_out(channel: GraphChannel) -> None:
    assert ids(await channel.search(naming("Treaties of the Kansa in 1825", [KANSA], [1825]))) == ["t#1"]
    assert ids(await channel.search(naming("Treaties of the Kansa in 1826", [KANSA], [1826]))) == []


async def test_a_place_is_an_end_of_a_relation_too(channel: GraphChannel) -> None:
    run = await channel.search(naming("What treaties were signed at Santa Fe?", [SANTA_FE]))
    assert ids(run) == ["t#1", "t#4"]
    assert run.hits[0].path[0] == "treaty:1 -signed_at-> place:santa-fe"


async def test_two_hops_join_what_signed_the_same_treaty(channel: GraphChannel) -> None:
    run = await channel.search(naming("Who signed with the Kansa in 1854?", [KANSA], [1854]))
    assert ids(run)[:2] == ["t#2", "t#3"]
    assert run.hits[1].path[:2] == ("nation:kansa -signed-> treaty:2", "nation:osage -signed-> treaty:2")


async def test_without_a_name_relation_and_time_are_enough(channel: GraphChannel) -> None:
    assert ids(await channel.search(naming("Which nations signed treaties in 1854?", [], [1854]))) == ["t#2", "t#3"]
    assert ids(await channel.search(naming("Which nations signed treaties in 1855?", [], [1855]))) == []
    assert ids(await channel.search(naming("Which nations signed treaties?", []))) == []


async def test_a_question_that_names_no_relation_gets_no_relation_of_its_time(channel: GraphChannel) -> None:
    assert ids(await channel.search(naming("How was the weather in 1854?", [], [1854]))) == []


async def test_what_happened_on_a_day(channel: GraphChannel) -> None:
    query = Query("What happened on April 14, 1935?", SCOPE, 20, Intent(times=(TimeRange.year(1935),)))
    assert ids(await channel.search(query)) == ["e#1"]
    assert (await channel.search(query)).limitations == ()


async def test_records_of_the_time_that_do_not_name_the_place_say_so(channel: GraphChannel) -> None:
    run = await channel.search(naming("What happened in Kansas in 1825?", [KANSAS], [1825]))
    assert ids(run) == ["t#1"]
    assert [x.code for x in run.limitations] == ["PLACE_NOT_NAMED"]
    narrow = await channel.search(naming("What happened in Alder County in 1825?", [COUNTY], [1825]))
    assert (narrow.hits, narrow.limitations) == ((), ())


@pytest.mark.parametrize(
    ("place", "found"), [(REALM, ["t#1"]), (HAMLET, []), (KANSA, []), (SANTA_FE, []), (SUNDAY, [])]
)
async def test_the_corpus_says_in_which_kinds_others_lie(
    channel: GraphChannel, place: EntityRef, found: list[str]
) -> None:
    run = await channel.search(naming(f"What happened to {place.name} in 1825?", [place], [1825]))
    assert [i for i in ids(run) if i == "t#1" and place != KANSA] == (found if place != SANTA_FE else ids(run))
    assert bool(run.limitations) is bool(found)


async def test_passages_that_name_two_things_follow_best_first(channel: GraphChannel) -> None:
    query = naming("What did Governor Walker do in Kansas in 1857?", [KANSAS], [1857])
    walker = Mention("Governor Walker", 9, 24, ())
    query = Query(query.text, SCOPE, 20, Intent((walker, *query.intent.mentions), query.intent.times))
    assert ids(await channel.search(query)) == ["p#1", "p#2", "p#5"]


async def test_a_name_goes_with_the_last_document_that_says_it(index: GraphIndex, tmp_path: Path) -> None:
    def names() -> set[str]:
        return {row[0] for row in apsw.Connection(str(tmp_path / "graph.sqlite")).execute("SELECT key FROM posting")}

    assert surface_key("Governor Walker") in names()
    await index.remove([record("p#1", RecordKind.PASSAGE).document_id])
    await index.commit()
    assert names() == {f"={e.entity_id}" for _, *row, _ in ROWS for e in row} | {"#1825", "#1854", "#1860"}


async def test_one_name_alone_is_not_enough_for_a_passage(channel: GraphChannel) -> None:
    assert not {"p#1", "p#2", "p#3"} & set(ids(await channel.search(naming("Tell of Kansas", [KANSAS]))))


async def test_a_question_of_figures_is_not_answered_with_relations(channel: GraphChannel) -> None:
    query = naming("What was the population of Alder County?", [COUNTY])
    assert ids(await channel.search(query)) == ["m#1"]
    intent = Intent(query.intent.mentions, operations=(Lookup(POP, (COUNTY.entity_id,), None),))
    assert ids(await channel.search(Query(query.text, SCOPE, 20, intent))) == []


async def test_nothing_named_finds_nothing(channel: GraphChannel) -> None:
    for text in ("", "signed treaties", "?", "located in", "MATCH (n) DETACH DELETE n"):
        assert ids(await channel.search(naming(text))) == []


async def test_an_unknown_name_is_not_answered_with_what_others_did(channel: GraphChannel) -> None:
    intent = Intent((Mention("Atlantis", 5, 13, ()),), (TimeRange.year(1854),))
    assert ids(await channel.search(Query("Did  Atlantis sign treaties in 1854?", SCOPE, 20, intent))) == []


async def test_hidden_relations_are_neither_shown_nor_followed(channel: GraphChannel, index: GraphIndex) -> None:
    questions = [
        naming("Treaties of the Kansa", [KANSA]),
        naming("Who signed with the Kansa in 1854?", [KANSA], [1854]),
        naming("Which nations signed treaties in 1855?", [], [1855]),
        naming("What happened in Kansas in 1857?", [KANSAS], [1857]),
        naming("What did the Kansa trade?", [KANSA]),
    ]
    before = [await channel.search(q) for q in questions]
    hidden = [
        relation(KANSA, "signed", THIRD, "h#1", 1854, SECRET),
        relation(OSAGE, "signed", FIRST, "h#1", 1855, SECRET),
        relation(KANSA, "trade", OSAGE, "h#1", None, SECRET),  # a relation that only hidden records know
        *[relation(FIRST, "signed_at", EntityRef(f"place:{i}", "x", "place"), "h#1", 1825, SECRET) for i in range(100)],
    ]
    said = [mention("h#1", "Kansas", SECRET), mention("h#1", "1857", SECRET)]
    await index.add(IndexBatch(TENANT, [record("h#1", RecordKind.PASSAGE, SECRET)], (), hidden, said))
    await index.add(
        IndexBatch("other", [record("f#1", RecordKind.PASSAGE)], (), [relation(KANSA, "signed", THIRD, "f#1")])
    )
    await index.commit()
    assert [await channel.search(q) for q in questions] == before
    seeing = Scope(TENANT, SCOPE.class_ids | {SECRET.class_id})
    assert "h#1" in ids(await channel.search(naming("What did the Kansa trade?", [KANSA], scope=seeing)))


async def test_a_hub_is_not_followed(channel: GraphChannel, index: GraphIndex) -> None:
    many = [EntityRef(f"county:x{i}", f"County {i}", "county") for i in range(100)]
    edges = [relation(c, "located_in", KANSAS, f"c#{i}") for i, c in enumerate(many)]
    records = [record(f"c#{i}", RecordKind.PASSAGE) for i in range(100)]
    await index.add(IndexBatch(TENANT, records, (), edges))
    await index.commit()
    assert ids(await channel.search(naming("Where is Alder County located?", [COUNTY]))) == ["m#1"]


@pytest.mark.parametrize(
    ("time", "keys"),
    [
        (TimeRange.year(1857), ["#1857"]),
        (TimeRange.year(1854, 1856), ["#1854", "#1855", "#1856"]),
        (TimeRange.year(1700, 1900), []),
    ],
)
def test_times_are_looked_for_as_fine_as_they_are(time: TimeRange, keys: list[str]) -> None:
    assert time_keys(time) == keys
