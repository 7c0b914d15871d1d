"""What no store can keep is found wherever it stands, and nothing else is refused."""

from __future__ import annotations

from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.errors import LoadError
from retrieval.ingest.records.storable import require_storable
from retrieval.model import EntityRef

TEXTS = st.text(st.sampled_from("a\\u0é東"), max_size=8)
VALUES = st.recursive(
    TEXTS | st.integers(-(2**70), 2**70) | st.none() | st.builds(EntityRef, TEXTS, TEXTS, TEXTS),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(TEXTS, inner, max_size=3)
        | st.dictionaries(TEXTS, inner, max_size=3).map(MappingProxyType)
        | st.tuples(inner, inner)
    ),
    max_leaves=8,
)


@settings(max_examples=50, deadline=None)
@given(VALUES)
def test_what_can_be_kept_is_let_through(value: object) -> None:
    require_storable("a.json", value)


@settings(max_examples=50, deadline=None)
@given(VALUES, st.sampled_from(["\x00", "\ud800", "\udfff"]), TEXTS)
def test_what_cannot_is_named(value: object, character: str, text: str) -> None:
    bad = text + character + text
    named = f"a.json: a name or value holds U\\+{ord(character):04X}"
    for holder in (bad, [bad], {bad: 1}, {"k": (bad,)}, MappingProxyType({"k": bad}), frozenset((bad,))):
        with pytest.raises(LoadError, match=named):
            require_storable("a.json", value, holder)
        with pytest.raises(LoadError, match=named):
            require_storable("a.json", value, EntityRef("e", "n", "t"), [holder])
