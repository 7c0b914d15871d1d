"""Names found in questions: what is known, what reads like a name and is not, and what is no name at all."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from retrieval.gazetteer import Gazetteer
from retrieval.index import GazetteerEntry
from retrieval.model import EntityRef


def entry(entity_id: str, *names: str, document_id: str = "d1", class_id: str = "c") -> GazetteerEntry:
    return GazetteerEntry(EntityRef(entity_id, names[0], entity_id.partition(":")[0]), names, class_id, document_id)


ENTRIES = [
    entry("county:20177", "Shawnee County", "Shawnee", "Shawnee Co."),
    entry("county:20045", "Douglas County", "Douglas"),
    entry("city:topeka", "Topeka", "Topeka, Kansas", "Topeka, KS"),
    entry("city:kansas-city", "Kansas City"),
    entry("city:liberal", "Liberal"),
    entry("city:leavenworth", "Leavenworth"),
    entry("city:st-marys", "St. Marys"),
    entry("state:20", "Kansas", "KS"),
    entry("state:20", "Kansas", document_id="d2"),
    entry("state:29", "Missouri"),
    entry("nation:shawnee", "Shawnee"),
    entry("nation:ana-da-ca", "Ana-da-ca"),
    entry("place:ft-atkinson", "Ft. Atkinson"),
]
GAZETTEER = Gazetteer(ENTRIES)


def found(text: str, gazetteer: Gazetteer = GAZETTEER) -> list[tuple[str, list[str]]]:
    return [(m.surface, [c.entity_id for c in m.candidates]) for m in gazetteer.find(text)]


@pytest.mark.parametrize(
    ("text", "surface", "entity_id"),
    [
        ("population of Shawnee County in 1930", "Shawnee County", "county:20177"),
        ("population of shawnee county", "shawnee county", "county:20177"),
        ("SHAWNEE COUNTY", "SHAWNEE COUNTY", "county:20177"),
        ("in Shawnee Co. then", "Shawnee Co", "county:20177"),
        ("Shawnee County's people", "Shawnee County", "county:20177"),
        ("Shawnee County\u2019s people", "Shawnee County", "county:20177"),
        ("in Topeka, KS?", "Topeka, KS", "city:topeka"),
        ("at Fort Atkinson", "Fort Atkinson", "place:ft-atkinson"),
        ("at ft. atkinson", "ft. atkinson", "place:ft-atkinson"),
        ("Saint Marys", "Saint Marys", "city:st-marys"),
        ("the Ana da ca", "Ana da ca", "nation:ana-da-ca"),
        ("Kansas City", "Kansas City", "city:kansas-city"),
        ("the town of Liberal", "Liberal", "city:liberal"),
        ("(Topeka)", "Topeka", "city:topeka"),
        ("\u201cTopeka\u201d", "Topeka", "city:topeka"),
    ],
)
def test_a_known_name_is_found_however_it_is_written(text: str, surface: str, entity_id: str) -> None:
    assert found(text) == [(surface, [entity_id])]


def test_a_name_of_several_has_every_candidate_in_order_of_id() -> None:
    assert found("the Shawnee") == [("Shawnee", ["county:20177", "nation:shawnee"])]


@pytest.mark.parametrize(
    ("text", "surface"),
    [
        ("What was the population of Atlantis County in 1930?", "Atlantis County"),
        ("Atlantis County in 1930", "Atlantis County"),
        ("who lived in Atlantis", "Atlantis"),
        ("Atlantis's king", "Atlantis"),
        ("in Medicine Lodge", "Medicine Lodge"),
        ("the Battle of Mine Creek", "Battle of Mine Creek"),
        ("at Fort Leavenworth", "Fort Leavenworth"),
        ("in Topeka Heights", "Topeka Heights"),
        ("in New Topeka", "New Topeka"),
        ("in St. Louis", "St. Louis"),
        ("by Élan", "Élan"),
    ],
)
def test_a_name_that_nothing_answers_to_is_a_mention_without_candidates(text: str, surface: str) -> None:
    assert found(text) == [(surface, [])]


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "What happened then?",
        "Describe the railroad.",
        "How many Counties grew in May and on Sunday?",
        "a liberal policy",
        "Liberally speaking",
        "WHAT IS ATLANTIS",
        "In the US, was it so?",
        "Population Of The Largest City In March 1930",
        "1930",
        "?!.,;:'\"()",
        "Summarise the story. Treaties were signed.",
    ],
)
def test_what_is_no_name_is_no_mention(text: str) -> None:
    assert found(text) == []


def test_a_name_does_not_reach_across_a_sentence() -> None:
    assert found("Is it in Kansas? City life was hard.") == [("Kansas", ["state:20"])]


def test_a_word_of_kind_after_a_name_makes_no_other_name() -> None:
    assert found("Kansas Territory") == [("Kansas", ["state:20"])]


def test_places_beside_each_other_are_two_names() -> None:
    assert [s for s, _ in found("Topeka, Missouri")] == ["Topeka", "Missouri"]


def test_entities_names_types_and_home() -> None:
    assert GAZETTEER.entity("city:topeka") == EntityRef("city:topeka", "Topeka", "city")
    assert GAZETTEER.entity("city:nowhere") is None
    assert GAZETTEER.names("city:topeka") == ("Topeka", "Topeka, Kansas", "Topeka, KS")
    assert [e.entity_id for e in GAZETTEER.of_type("state")] == ["state:20", "state:29"]
    assert [e.entity_id for e in GAZETTEER.named("shawnee co.")] == ["county:20177"]
    assert GAZETTEER.named("nowhere") == ()
    assert GAZETTEER.home("state") == EntityRef("state:20", "Kansas", "state")
    assert GAZETTEER.home("river") is None
    assert GAZETTEER.home("county") is None  # two counties, each of one document: a tie


def test_an_empty_gazetteer_knows_only_that_names_are_unknown() -> None:
    assert found("the population of Topeka", Gazetteer()) == [("Topeka", [])]


@given(st.randoms(use_true_random=False))
@settings(max_examples=20)
def test_the_order_of_entries_makes_no_difference(chance: random.Random) -> None:
    shuffled = list(ENTRIES)
    chance.shuffle(shuffled)
    text = "Shawnee County, Topeka, Kansas City, the Shawnee, Atlantis"
    assert Gazetteer(shuffled).find(text) == GAZETTEER.find(text)
    assert Gazetteer(shuffled).home("state") == GAZETTEER.home("state")


WORDS = st.sampled_from(
    [
        "Shawnee",
        "County",
        "Topeka",
        "Kansas",
        "City",
        "Atlantis",
        "of",
        "the",
        "in",
        "1930",
        "St.",
        "Co.",
        "'s",
        ",",
        "?",
    ]
)


@given(st.one_of(st.text(max_size=200), st.lists(WORDS, max_size=20).map(" ".join)))
@example("KaNSAS- CITY A00")
@settings(max_examples=200)
def test_mentions_are_slices_of_the_text_in_order_and_apart(text: str) -> None:
    end = 0
    for mention in GAZETTEER.find(text):
        assert mention.start_char >= end
        assert mention.end_char > mention.start_char
        assert text[mention.start_char : mention.end_char] == mention.surface
        end = mention.end_char


@given(
    st.sampled_from([n for e in ENTRIES for n in e.names if n != "KS"]),
    st.sampled_from(["{}", "in {}?", "of {}, then"]),
)
@settings(max_examples=50)
def test_every_name_is_found_in_a_sentence(name: str, sentence: str) -> None:
    known = {e.entity.entity_id for e in ENTRIES if name in e.names}
    assert known <= {c.entity_id for m in GAZETTEER.find(sentence.format(name)) for c in m.candidates}
