"""Whose deed it is: a shortened sentence says of a subject only what the source says of it. Made from templates, with
names, deeds and forms of the sentence drawn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai.answer.claims.prose import compare
from ai.answer.claims.tokens import read_tokens

NAMES = ("Mary Lunt", "John Pike", "Hugh Bale", "Ada", "the mill", "the old brewery", "Dunmore", "the Orla Company")
DEEDS = (
    ("opened the school in 1910", "opened the school", "in 1910"),
    ("taught music at Harle until 1934", "taught music", "until 1934"),
    ("was sold to a bank", "was sold", "to a bank"),
    ("moved to the coast after the flood", "moved", "to the coast"),
)
OF_ANOTHER = (
    "{a} {p} with the help of {b}, who {q}.",
    "{a} {p} in succession to {b}, who {q}.",
    "{a} {p} for {b}, whose son {q}.",
    "{a} {p} after {b} {q}.",
    "{a} {p} before {b} {q}.",
    "{a} {p} while {b} {q}.",
    "{a} {p} when {b} {q}.",
    "{a} {p} because {b} {q}.",
    "{a} {p}, although {b} {q}.",
    "{a} {p}, and {b} {q}.",
    "{a} {p}; {b} {q}.",
    "{a} {p}, beating {b}, who {q}.",
    "{a} {p} and gave it to {b}, which {q}.",
    "{a} wrote a life of {b} (in two parts), who {q}.",
    "Unlike {b}, which {q}, {a} {p}.",
    "{a}, whose uncle {b} {q}, {p}.",
    "{a} met {b}, who {q}, and {p}.",
    "{a} {p}, where {b} {q}.",
    "{a} {p} and {b} {q}.",
    "{a} {p} but {b} {q}.",
    "{a} {p}; however, {b} {q}.",
    "{a} {p}: {b} {q}.",
    "{a} {p} so that {b} {q}.",
    "{a} {p} as {b} {q}.",
    "{a} {p} the year that {b} {q}.",
    "{a} {p} by the time {b} {q}.",
    "{a} {p}, as did {b}, which {q}.",
    "{a} {p} with the clerk and {b}, who {q}.",
    "{a} {p} until finally {b} {q}.",
    "{a} {p} (while {b} {q}).",
    "After {a} {p}, {b} {q}.",
    "Although {a} {p}, {b} later {q}.",
    "{a}'s house {q}.",
    "{a} {p} because {b} {q}.",
    "The day {a} {p}, {b} {q}.",
    "Instead of {a}, {b} {q}.",
    "Against the advice of {a}, {b} {q}.",
    "{a} saw how {b} {q}.",
    "{a} and the clerk {p} and {b} {q}.",
)
"""`b` does `q`, and `a` something else, if anything."""


def borne_out(said: str, source: str) -> bool:
    return compare(read_tokens(said), source, frozenset()).verdict == "borne_out"


def sentence(form: str, **parts: str) -> str:
    made = form.format(**parts)
    return made[:1].upper() + made[1:]


@st.composite
def others_deeds(draw: st.DrawFn) -> tuple[str, str]:
    """A source, and a sentence that gives the deed of one to the other."""
    a, b = draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=2, unique=True))
    (p, *_), (q, head, tail) = draw(st.lists(st.sampled_from(DEEDS), min_size=2, max_size=2, unique=True))
    form = draw(st.sampled_from(OF_ANOTHER))
    said = draw(st.sampled_from(("{a} {q}.", "{a} {head}.", "{a} {head} {tail}.", "{a}, who {p}, {head}.")))
    source = sentence(form, a=a, b=b, p=p, q=q)
    return source, sentence(said, a=a, q=q, head=head, tail=tail, p=p)


@given(others_deeds())
def test_the_deed_of_another_is_not_borne_out(drawn: tuple[str, str]) -> None:
    source, said = drawn
    assert not borne_out(said, source), (said, source)


OWN = (
    ("{a} {p} with the help of {b}, who {q}.", "{b} {q}."),
    ("{a} {p} in succession to {b}, who {q}.", "{b} {q}."),
    ("{a} sold it to {b} (see below), who {q}.", "{b} {q}."),
    ("{a} wrote a life of {b}, who {q}.", "{b} {q}."),
    ("{a}, who {p}, {q}.", "{a} {q}."),
    ("{a}, most of which {p}, {q}.", "{a} {q}."),
    ("{a} (now {b}) {q}.", "{a} {q}."),
    ("{a}, such as {b}, {q}.", "{a} {q}."),
    ("{a} met {b}, who {p}, and {q}.", "{a} {q}."),
    ("{a}, when the war ended, {q}.", "{a} {q}."),
    ("{a} {q} because {b} {p}.", "{a} {q} because {b} {p}."),
    ("{a} {q} after {b} {p}.", "{a} {q}."),
    ("The sister of {a}, who {q}, left.", "The sister of {a} {q}."),
    ("It was {a} who {q}.", "{a} {q}."),
)


@pytest.mark.parametrize(("form", "said"), OWN)
@pytest.mark.parametrize("deed", [each[0] for each in DEEDS])
def test_what_the_source_says_of_it_is(form: str, said: str, deed: str) -> None:
    parts = {"a": "Mary Lunt", "b": "John Pike", "p": "kept the inn at Harby", "q": deed}
    assert borne_out(sentence(said, **parts), sentence(form, **parts))


@given(st.sampled_from(OF_ANOTHER), st.sampled_from(NAMES), st.sampled_from(NAMES))
def test_a_sentence_bears_itself_out(form: str, a: str, b: str) -> None:
    source = sentence(form, a=a, b=b, p=DEEDS[0][0], q=DEEDS[1][0])
    assert borne_out(source, source)


@pytest.mark.parametrize(
    ("said", "source"),
    [
        ("The index rose to 109 in January.", "The index rose from 104 in January to 109 in June."),
        ("In June the index rose from 104.", "The index rose from 104 in January to 109 in June."),
        ("Ann opened the mill in 1934.", "Ann opened the mill in 1910 and the inn in 1934."),
        ("In 1934 Ann opened the mill.", "Ann opened the mill in 1910 and the inn in 1934."),
    ],
)
def test_a_time_stays_with_its_own(said: str, source: str) -> None:
    assert not borne_out(said, source)
