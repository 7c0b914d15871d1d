"""Which clause is the reason, the end or the time of which: the two of a sentence do not change places around the word
that joins them. Made from templates."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ai.answer.claims.prose import compare
from ai.answer.claims.tokens import read_tokens

CLAUSES = (
    "the force was increased",
    "the mill burned down",
    "at the last return the island held 691 men",
    "by the end of May nobody was left in Dunmore",
    "on the eastern side the river broke its banks",
    "in the winter of 1834 the school was closed",
    "from Harle to the coast a road was built",
)
JOINTS = ("because", "so that", "before", "after", "until", "although", "unless")


def borne_out(said: str, source: str) -> bool:
    return compare(read_tokens(said), source, frozenset()).verdict == "borne_out"


def joined(first: str, joint: str, second: str, *, comma: bool = False, ahead: bool = False) -> str:
    text = f"{joint} {second}, {first}" if ahead else f"{first}{',' * comma} {joint} {second}"
    return f"{text[:1].upper()}{text[1:]}."


PAIRS = st.lists(st.sampled_from(CLAUSES), min_size=2, max_size=2, unique=True)


@given(PAIRS, st.sampled_from(JOINTS), st.booleans(), st.booleans())
def test_clauses_that_change_places_are_not_borne_out(pair: list[str], joint: str, comma: bool, said: bool) -> None:
    first, second = pair
    source = joined(first, joint, second, comma=comma)
    traded = joined(second, joint, first, comma=said)
    assert not borne_out(traded, source), (traded, source)


@given(PAIRS, st.sampled_from(JOINTS), st.booleans())
def test_a_sentence_is_borne_out_by_itself(pair: list[str], joint: str, comma: bool) -> None:
    source = joined(pair[0], joint, pair[1], comma=comma)
    assert borne_out(source, source)
