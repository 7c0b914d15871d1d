"""Sealed parts: what was put in comes out, and nothing else opens."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.entry.parts import (
    SealedEntry,
    commitment,
    open_part,
    parse_source_commitments,
    seal_entry,
    source_name,
    source_number,
)
from ledger.errors import EntryRefused, VerificationFailed
from ledger.model import PART_NAMES, Kind, SealedPart

ID = "018bcfe5-6800-7000-8000-000000000001"
KEY = b"k" * 32


def seal(parts: dict[str, bytes], sources: list[bytes], kind: Kind = Kind.OUTCOME) -> SealedEntry:
    return seal_entry(kind, entry_id=ID, parts=parts, sources=sources, tenant_key=KEY, entropy=os.urandom)


def named(sealed: SealedEntry, name: str) -> SealedPart:
    return next(part for part in sealed.parts if part.name == name)


@given(st.binary(max_size=3000) | st.binary(min_size=1, max_size=20).map(lambda data: data * 5000))
@settings(max_examples=50)
def test_what_was_sealed_opens(data: bytes) -> None:
    sealed = seal({"answer": data}, [])
    part = open_part(named(sealed, "answer"), entry_id=ID, tenant_key=KEY, committed=sealed.commitments["answer"])
    assert part.data == data
    assert commitment(part.salt, "answer", data) == sealed.commitments["answer"]


def test_every_part_of_the_kind_is_there_absent_ones_as_empty_bytes() -> None:
    sealed = seal({"answer": b"x"}, [b"one", b"two"])
    assert tuple(sealed.commitments) == PART_NAMES[Kind.OUTCOME]
    assert {part.name for part in sealed.parts} == {*PART_NAMES[Kind.OUTCOME], "sources/1", "sources/2"}
    part = open_part(named(sealed, "bundle"), entry_id=ID, tenant_key=KEY, committed=sealed.commitments["bundle"])
    assert part.data == b""


def test_equal_content_does_not_look_equal() -> None:
    one, two = seal({"answer": b"yes"}, []), seal({"answer": b"yes"}, [])
    assert one.commitments["answer"] != two.commitments["answer"]
    assert len({part.salt for part in one.parts}) == len(one.parts)
    assert b"yes" not in named(one, "answer").blob


@pytest.mark.parametrize(
    ("kind", "parts", "sources"),
    [
        (Kind.INTENT, {"answer": b""}, []),
        (Kind.OUTCOME, {"question": b""}, []),
        (Kind.OUTCOME, {"sources": b"[]"}, []),
        (Kind.OUTCOME, {"sources/1": b""}, []),
        (Kind.OUTCOME, {"": b""}, []),
        (Kind.INTENT, {}, [b"source"]),
        (Kind.KEY, {"question": b""}, []),
        (Kind.OUTCOME, {"answer": bytes(64 * 1024 * 1024 + 1)}, []),
    ],
)
def test_parts_that_the_kind_does_not_have(kind: Kind, parts: dict[str, bytes], sources: list[bytes]) -> None:
    with pytest.raises(EntryRefused):
        seal(parts, sources, kind)


@pytest.mark.parametrize(("field", "step"), [("salt", "salt"), ("key", "key"), ("blob", "part")])
def test_every_flipped_byte_is_found_and_named(field: str, step: str) -> None:
    sealed = seal({"answer": b"forty-two"}, [])
    part = named(sealed, "answer")
    data = getattr(part, field)
    for i in range(len(data)):
        flipped: dict[str, Any] = {field: data[:i] + bytes([data[i] ^ 1]) + data[i + 1 :]}
        changed = dataclasses.replace(part, **flipped)
        with pytest.raises(VerificationFailed) as failed:
            open_part(changed, entry_id=ID, tenant_key=KEY, committed=sealed.commitments["answer"])
        assert failed.value.step == step
    for cut in (b"", data[:-1], data + b"\0", data[:5]):
        shorter: dict[str, Any] = {field: cut}
        changed = dataclasses.replace(part, **shorter)
        with pytest.raises(VerificationFailed):
            open_part(changed, entry_id=ID, tenant_key=KEY, committed=sealed.commitments["answer"])


def test_a_part_opens_only_in_its_place_with_its_key_and_commitment() -> None:
    sealed = seal({"answer": b"x", "bundle": b"y"}, [])
    answer, bundle = named(sealed, "answer"), named(sealed, "bundle")
    committed = sealed.commitments["answer"]
    renamed = dataclasses.replace(bundle, name="answer")
    for part, entry_id, key, expected in (
        (renamed, ID, KEY, committed),
        (dataclasses.replace(answer, blob=bundle.blob), ID, KEY, committed),
        (dataclasses.replace(answer, key=bundle.key), ID, KEY, committed),
        (dataclasses.replace(answer, salt=bundle.salt), ID, KEY, committed),
        (answer, ID[:-1] + "2", KEY, committed),
        (answer, ID, b"x" * 32, committed),
        (answer, ID, KEY, sealed.commitments["bundle"]),
    ):
        with pytest.raises(VerificationFailed):
            open_part(part, entry_id=entry_id, tenant_key=key, committed=expected)


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"[1]", b'["ab"]', b'[ "%s"]' % (b"ab" * 32), b'["%s",]' % (b"ab" * 32), b'["%s"]' % (b"AB" * 32),
     b'["%s"]\n' % (b"ab" * 32), b"\xff", b'[["%s"]]' % (b"ab" * 32), b'"%s"' % (b"ab" * 32)],
)  # fmt: skip
def test_what_is_no_array_of_commitments(data: bytes) -> None:
    with pytest.raises(VerificationFailed) as failed:
        parse_source_commitments(data)
    assert failed.value.step == "sources"


def test_arrays_of_commitments() -> None:
    assert parse_source_commitments(b"[]") == ()
    assert parse_source_commitments(b'["%s"]' % (b"ab" * 32)) == ("ab" * 32,)


@pytest.mark.parametrize(
    "name", ["sources", "sources/", "sources/0", "sources/01", "sources/-1", "sources/1/", "answer"]
)
def test_names_that_are_no_source(name: str) -> None:
    assert source_number(name) is None


def test_source_names_count_from_one() -> None:
    assert source_name(1) == "sources/1"
    assert source_number("sources/12") == 12
