"""JSON of an engine is read in one way, however it is written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.canonical import encode_plain, parse_plain

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**54), 2**54) | st.floats(allow_nan=True) | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=12,
)


def outcome(text: bytes) -> Any:
    try:
        return "read", parse_plain(text)
    except ValueError:
        return "refused", None


@given(_JSON, st.booleans(), st.booleans())
def test_compact_text_is_read_as_any_other(value: object, ascii_only: bool, newline: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":")).encode() + b"\n" * newline
    assert outcome(text) == outcome(b" " + text)  # padded text goes the long way


@given(_JSON)
def test_what_is_plain_comes_back(value: object) -> None:
    try:
        text = encode_plain(value)
    except ValueError:
        return
    if outcome(text)[0] == "read":
        assert encode_plain(parse_plain(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        b'{"a":1,"a":1}',
        b'{"a":1,"b":{"c":1,"c":2}}',
        b'[{"a":1},{"a":1,"a":1}]',
        b"1.0",
        b"[1e3]",
        b"-0.0",
        b"9007199254740992",
        b"-9007199254740992",
        b"18446744073709551616",
        b"NaN",
        b"[Infinity]",
        '{"é":1}'.encode(),
        b"[" * 3000,
        b'{"a":1}{"b":1}',
        b'{"a":1}\n{"b":1}',
        b'{"a":1,}',
        b"",
        b"\xff",
        b'{"a":\xff}',
    ],
)
def test_what_engines_read_differently_is_refused(text: bytes) -> None:
    assert outcome(text) == ("refused", None)
