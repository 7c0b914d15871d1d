"""Leaf bytes: one form per meaning, and everything else refused."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.canonical import canonical_any, canonical_json
from ledger.entry.leaf import encode_leaf, parse_leaf, strict_object
from ledger.entry.leaf_form import read_form
from ledger.errors import EntryRefused, MalformedLeaf
from ledger.model import LEAF_MAX_BYTES, PART_NAMES, Kind, Leaf, Ref, TreeHead
from tests.ledger_vectors import FOLDER
from tests.ledger_vectors.leaves import REFERRED, leaf

VECTORS = json.loads((FOLDER / "leaves.json").read_text())


@pytest.mark.parametrize("kind", Kind)
def test_bytes_and_back(kind: Kind) -> None:
    data = encode_leaf(leaf(kind))
    assert parse_leaf(data) == read_form(data) == leaf(kind)
    assert list(parse_leaf(data).parts) == list(PART_NAMES[kind])
    assert rfc8785.dumps(json.loads(data)) == data
    assert len(data) <= LEAF_MAX_BYTES


def test_every_kind_has_its_parts() -> None:
    assert set(PART_NAMES) == set(Kind)
    every = [name for names in PART_NAMES.values() for name in names]
    assert all(name == name.lower() and name.isascii() for name in every)


tokens = st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9._:-]{0,20}\Z")
hashes = st.binary(min_size=32, max_size=32)
counts = st.integers(1, 2**53 - 1)
leaves = st.builds(
    lambda kind, committed, rels, **fields: leaf(
        kind,
        parts=dict(zip(PART_NAMES[kind], committed, strict=False)),
        refs=tuple(Ref(rel, REFERRED, "ef" * 32) for rel in rels),
        **fields,
    ),
    st.sampled_from(Kind),
    st.lists(hashes.map(bytes.hex), min_size=12, max_size=12),
    st.sets(st.from_regex(r"\A[a-z][a-z0-9_-]{0,8}\Z"), max_size=3),
    t_ms=counts,
    rseq=counts,
    tenant=tokens,
    replica=tokens,
    request_id=tokens,
    seen=st.builds(TreeHead, counts, hashes),
)


@given(leaves)
@settings(max_examples=30)
def test_every_leaf_has_the_one_form_and_it_is_its_canonical_json(made: Leaf) -> None:
    data = encode_leaf(made)
    assert rfc8785.dumps(strict_object(data)) == data
    assert read_form(data) == made


@given(leaves, st.data())
@settings(max_examples=30)
def test_no_other_bytes_have_it(made: Leaf, data: st.DataObject) -> None:
    """Whatever one edit makes of a leaf is refused, or is the canonical JSON of another leaf."""
    whole = encode_leaf(made)
    at = data.draw(st.integers(0, len(whole)))
    gone = data.draw(st.integers(0, 2))
    edited = (
        whole[:at] + data.draw(st.sampled_from([b"", b"0", b" ", b'"', b"{", b",", b"a", b"\n"])) + whole[at + gone :]
    )
    read = read_form(edited)
    assert read is None or encode_leaf(read) == rfc8785.dumps(strict_object(edited)) == edited


@pytest.mark.parametrize("vector", VECTORS["negative"], ids=lambda vector: str(vector["name"]))
def test_nothing_else_has_the_one_form(vector: dict[str, str]) -> None:
    data = base64.b64decode(vector["leaf"])
    assert len(data) > LEAF_MAX_BYTES or read_form(data) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"entry_id": "1"},
        {"t_ms": -1},
        {"t_ms": 2**53},
        {"tenant": "Jane Doe"},
        {"replica": ""},
        {"rseq": 0},
        {"request_id": "a b"},
        {"request_id": "\ud800"},
        {"parts": {}},
        {"refs": (Ref("Bad", REFERRED, "ab" * 32),)},
        {"refs": tuple(Ref(f"r{i}", REFERRED, "ab" * 32) for i in range(40))},
        {"seen": TreeHead(0, b"short")},
    ],
)
def test_the_encoder_refuses_what_the_parser_would(changes: dict[str, Any]) -> None:
    with pytest.raises(EntryRefused):
        encode_leaf(leaf(**changes))


@given(st.integers(0, 8 * len(encode_leaf(leaf())) - 1))
@settings(max_examples=50)
def test_a_flipped_bit_is_refused_or_another_leaf(bit: int) -> None:
    data = bytearray(encode_leaf(leaf()))
    data[bit // 8] ^= 1 << bit % 8
    try:
        parsed = parse_leaf(bytes(data))
    except MalformedLeaf:
        return
    assert parsed != leaf()
    assert encode_leaf(parsed) == bytes(data)


json_values = st.recursive(
    st.text(st.characters(exclude_categories=["Cs"]))
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.booleans()
    | st.none(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(max_codepoint=300)), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(json_values)
@settings(max_examples=200)
def test_fast_canonical_bytes_are_those_of_rfc_8785(value: Any) -> None:
    assert canonical_json(value) == rfc8785.dumps(value)


any_json = st.recursive(
    st.text(st.characters(exclude_categories=["Cs"]))
    | st.sampled_from(["", "1e5", ":1e5,", "[1.0]", "sha256:3e10", "\uffff", "\U00010000", "\ue000"])
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.floats(-180, 180)
    | st.integers(-(10**15), 10**15).map(float)
    | st.booleans()
    | st.none(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(["\uffff", "\U00010000", "\ue000"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.lists(any_json, max_size=4) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), any_json))
@settings(max_examples=400)
def test_canonical_bytes_of_anything_are_those_of_rfc_8785(value: Any) -> None:
    assert canonical_any(value) == rfc8785.dumps(value)


@pytest.mark.parametrize("value", [[2**53], [-(2**53)], ["\ud800"], [{1}], [b"x"], {"a": [2**60]}])
def test_what_has_no_canonical_bytes_is_refused(value: Any) -> None:
    with pytest.raises((rfc8785.CanonicalizationError, UnicodeError)):
        canonical_any(value)


@given(st.text(st.characters(max_codepoint=127)))
@settings(max_examples=100)
def test_ascii_text_with_control_characters_is_canonical_too(text: str) -> None:
    assert canonical_json({text: [text]}) == rfc8785.dumps({text: [text]})
