"""A setting found again from its digest: exactly where one number is another."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai.canonical import canonical, digest, digest_of
from ai.replay.recovery import recovered

NUMBER = st.integers(0, 300)
NAME = st.text("abcdef_", min_size=1, max_size=6)
FLAT = st.dictionaries(NAME, st.one_of(NUMBER, st.booleans(), st.text("ab:,1", max_size=4)), min_size=1, max_size=5)
TREE = st.dictionaries(NAME, st.one_of(NUMBER, FLAT), min_size=1, max_size=4)


def places(tree: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Where its numbers are."""
    found = [(tree, name) for name, value in tree.items() if type(value) is int]
    for value in tree.values():
        found += places(value) if isinstance(value, dict) else []
    return found


@settings(max_examples=60, deadline=None)
@given(TREE, st.data())
def test_one_other_number_is_found(tree: dict[str, Any], data: st.DataObject) -> None:
    known = canonical(tree)
    if not (numbers := places(tree)):
        return
    where, name = data.draw(st.sampled_from(numbers))
    where[name] = data.draw(NUMBER)
    assert recovered(digest(tree), known, most=300) == canonical(tree)


@settings(max_examples=40, deadline=None)
@given(TREE, st.data())
def test_nothing_is_found_that_has_another_digest(tree: dict[str, Any], data: st.DataObject) -> None:
    known = canonical(tree)
    changed = json.loads(known)
    numbers = places(changed)
    for where, name in numbers:
        where[name] += data.draw(st.integers(301, 400))
    found = recovered(digest(changed), known, most=300)
    assert found is None if numbers else found is None or digest_of(found) == digest(changed)


@pytest.mark.parametrize("known", [b"", b"{}", b"[]", b'{"a":"1"}', b'{"a":-1}', b'{"a":1.5}', b'{"a":01}', b"7"])
def test_what_has_no_whole_number_is_not_searched(known: bytes) -> None:
    assert recovered(digest_of(b'{"a":2}'), known, most=5) is None
