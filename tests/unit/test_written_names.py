"""Names and years as a text writes them out."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from retrieval.english.names import written_names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("It lies in Sri Lanka. Colombo is near.", ["Sri Lanka", "Colombo"]),
        ("The ferry of J. R. Mead. Horace Greeley saw it.", ["J. R. Mead", "Horace Greeley"]),
        ("They met Capt. Black at Fort St. Mary in 1869.", ["Capt. Black", "Fort St. Mary", "1869"]),
        ("The U.S. Army left.", ["U.S. Army"]),
        ("The Society of the Cincinnati", ["Society of the Cincinnati"]),
        ("nothing of the kind", []),
        ("He. It. The. An", []),
        ("Al", []),
        ("", []),
    ],
)
def test_names_end_where_sentences_end(text: str, names: list[str]) -> None:
    assert [name for name, _ in written_names(text)] == names


@given(st.text(alphabet="ABab .'’&-\r\n0189é", max_size=60))
@example("A\rA00")
@example("The Aa. Bb. The 1")
def test_names_stand_at_or_after_where_they_are_said_to(text: str) -> None:
    for name, at in written_names(text):
        assert name in " ".join(text[at:].split())
