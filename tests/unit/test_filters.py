"""The filter language: one meaning, whatever evaluates it. The reference is plain Python over plain values."""

from __future__ import annotations

import operator
import random
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.errors import FilterInvalid
from retrieval.filters import (
    MAX_CONDITIONS,
    MAX_DEPTH,
    MAX_OPERANDS,
    canonical_filter,
    key_of,
    parse_filter,
    value_of,
)
from retrieval.fulltext.tantivy import TantivyChannel, TantivyIndex
from retrieval.index import IndexBatch
from retrieval.model import Lifecycle, Query
from retrieval.registry.sql_store import SqlRecordStore
from retrieval.registry.sqlite import open_sqlite_store
from retrieval.vector.numpy import NumpyVectorChannel, NumpyVectorIndex
from tests.corpora import TENANT, Corpus, corpus, hidden
from tests.fakes_retrieval import HashEmbedder

COMPARE = {"lt": operator.lt, "lte": operator.le, "gt": operator.gt, "gte": operator.ge}
VALUES: tuple[Any, ...] = ("", "a", "A", "ä", "b", "2022-01-01", "2022-01-01T", 0, -0.0, 1, -1, 2.5, 1e300, True, False)
FIELDS = ("lang", "tags", "size", "draft", "absent")

scalars = st.sampled_from(VALUES)
kept = st.dictionaries(st.sampled_from(FIELDS[:-1]), scalars | st.lists(scalars, min_size=1, max_size=3).map(tuple))


def one(name: str, operand: Any) -> Any:
    return st.dictionaries(st.sampled_from(FIELDS), operand, min_size=1, max_size=2).map(lambda body: {name: body})


leaves = st.one_of(
    *(one(name, scalars) for name in ("eq", "ne", *COMPARE)),
    *(one(name, st.lists(scalars, max_size=3)) for name in ("in", "nin", "contains_any", "contains_all")),
    one("exists", st.booleans()),
)
filters = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"any": parts}),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"all": parts}),
        inner.map(lambda part: {"not": part}),
        st.tuples(leaves, inner).map(lambda both: both[0] | both[1]),
    ),
    max_leaves=6,
)


def kind(value: Any) -> type:
    return bool if isinstance(value, bool) else str if isinstance(value, str) else float


def same(one: Any, other: Any) -> bool:
    return kind(one) is kind(other) and bool(one == other)


def holds(wanted: Mapping[str, Any], fields: Mapping[str, Any]) -> bool:
    """What a filter means, said again without any of the product's code."""

    def values(name: str) -> list[Any]:
        value = fields.get(name, ())
        return list(value) if isinstance(value, tuple) else [value]

    def leaf(name: str, field: str, operand: Any) -> bool:
        held = values(field)
        match name:
            case "eq":
                return any(same(v, operand) for v in held)
            case "ne" | "nin":
                return not leaf("eq" if name == "ne" else "in", field, operand)
            case "in" | "contains_any":
                return any(same(v, o) for v in held for o in operand)
            case "contains_all":
                return all(any(same(v, o) for v in held) for o in operand)
            case "exists":
                return bool(held) is operand
            case _:
                return any(kind(v) is kind(operand) and COMPARE[name](v, operand) for v in held)

    def member(name: str, body: Any) -> bool:
        match name:
            case "any":
                return any(holds(part, fields) for part in body)
            case "all":
                return all(holds(part, fields) for part in body)
            case "not":
                return not holds(body, fields)
            case _:
                return all(leaf(name, field, operand) for field, operand in body.items())

    return all(member(name, body) for name, body in wanted.items())


@given(scalars, scalars)
def test_keys_order_as_values_do(one: Any, other: Any) -> None:
    if kind(one) is kind(other):
        assert (key_of(one) < key_of(other)) is (one < other)
    assert (key_of(one) == key_of(other)) is same(one, other)


@given(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs"])),
        st.booleans(),
        st.integers(-(2**53), 2**53),
        st.floats(allow_nan=False, allow_infinity=False),
    )
)
def test_a_value_comes_back_from_its_key(value: Any) -> None:
    assert same(value_of(key_of(value)), value)


class Stores:
    """One corpus in every store that filters, with metadata that a test may replace."""

    def __init__(self, content: Corpus, records: SqlRecordStore, channels: list[Any]) -> None:
        self.content, self.records, self.channels = content, records, channels
        self.visible = {d.facts.document_id for d in content.documents if not d.facts.document_id.startswith("h")}
        self.scope = Corpus(tuple(d for d in content.documents if d.facts.document_id in self.visible)).scope()

    async def searched(self, channel: Any, among: frozenset[str]) -> set[str]:
        found: set[str] = set()
        for text in (
            "County railroad storm office settler flood market",
            "population Ashfield Birchmoor Coldwater Dunlap",
        ):
            run = await channel.search(Query(text, self.scope, 500, documents=among))
            found |= {hit.record_id.split("#")[0] for hit in run.hits}
        return found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stores(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stores]:
    folder: Path = tmp_path_factory.mktemp("filters")
    content = corpus(11, documents=9) + hidden(12, documents=4)
    records = open_sqlite_store(folder / "record.sqlite")
    embedder = HashEmbedder()
    indexes = [TantivyIndex(folder / "text"), NumpyVectorIndex(folder / "vector", embedder=embedder)]
    for batch in content.batches():
        ids = {r.document_id for r in batch.records}
        documents = [d for d in content.documents if d.facts.document_id in ids]
        await records.put_all(documents, batch, lifecycle=Lifecycle.ACTIVE)
        for index in indexes:
            await index.add(batch)
    for index in indexes:
        await index.commit()
    channels = [
        TantivyChannel(folder / "text"),
        NumpyVectorChannel(folder / "vector", embedder=embedder, minimum_milli=-1000),
    ]
    yield Stores(content, records, channels)
    for part in (*channels, *indexes, records):
        await part.aclose()


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("seed", range(12))
async def test_a_filter_means_the_same_everywhere(stores: Stores, seed: int) -> None:
    """Twelve times: random metadata for all documents, ten random filters, each against plain Python."""
    chance = random.Random(seed)
    told: dict[str, Mapping[str, Any]] = {}
    for document in stores.content.documents:
        document_id = document.facts.document_id
        told[document_id] = drawn_metadata(chance)
        await stores.records.set_metadata(document_id, told[document_id])
    for _ in range(10):
        wanted = drawn_filter(chance, 3)
        expected = {d for d in stores.visible if holds(wanted, told[d])}
        matched = await stores.records.matching(parse_filter(wanted), scope=stores.scope)
        assert matched == expected, canonical_filter(wanted)
        for channel in stores.channels:
            found = await stores.searched(channel, matched)
            assert found <= expected
            assert found == await stores.searched(channel, frozenset(stores.visible)) & expected


def drawn_metadata(chance: Any) -> dict[str, Any]:
    fields = [f for f in FIELDS[:-1] if chance.random() < 0.8]
    return {
        f: chance.choice(VALUES) if chance.random() < 0.6 else tuple(chance.choices(VALUES, k=chance.randint(1, 3)))
        for f in fields
    }


def drawn_filter(chance: Any, depth: int) -> dict[str, Any]:
    name = chance.choice(
        ["eq", "ne", *COMPARE, "in", "nin", "contains_any", "contains_all", "exists", "any", "all", "not"]
    )
    if name in ("any", "all"):
        return {name: [drawn_filter(chance, depth - 1) for _ in range(2)]} if depth else {"eq": {"lang": "a"}}
    if name == "not":
        return {"not": drawn_filter(chance, depth - 1)} if depth else {"ne": {"lang": "a"}}
    operand: Any = chance.choice(VALUES)
    if name in ("in", "nin", "contains_any", "contains_all"):
        operand = chance.choices(VALUES, k=chance.randint(0, 3))
    elif name == "exists":
        operand = chance.random() < 0.5
    return {name: {chance.choice(FIELDS): operand}}


@given(filters, kept)
@settings(max_examples=50, deadline=None)
def test_every_filter_of_the_language_is_read(wanted: Any, fields: Mapping[str, Any]) -> None:
    parse_filter(wanted)
    assert holds({"not": wanted}, fields) is not holds(wanted, fields)


@pytest.mark.parametrize(
    "wanted",
    [
        [],
        "x",
        None,
        {"eq": {}},
        {"eq": 1},
        {"eq": {"a": None}},
        {"eq": {"a": {"b": 1}}},
        {"eq": {"a": [1]}},
        {"eq": {"a b": 1}},
        {"eq": {"": 1}},
        {"eq": {"a" * 65: 1}},
        {"eq": {"a": float("nan")}},
        {"eq": {"a": float("inf")}},
        {"eq": {"a": 10**400}},
        {"eq": {"a": "\ud800"}},
        {"eq": {"a": "x" * 501}},
        {"in": {"a": 1}},
        {"in": {"a": [None]}},
        {"in": {"a": list(range(MAX_OPERANDS + 1))}},
        {"exists": {"a": 1}},
        {"any": []},
        {"any": {}},
        {"any": [1]},
        {"all": "x"},
        {"not": []},
        {"regex": {"a": "x"}},
        {"lang": "en"},
        {"eq": {f"f{i}": i for i in range(MAX_CONDITIONS + 1)}},
    ],
    ids=str,
)
def test_what_means_nothing_is_refused_by_place(wanted: Any) -> None:
    with pytest.raises(FilterInvalid) as refused:
        parse_filter(wanted)
    assert refused.value.where.startswith("filters")
    assert "\ud800" not in str(refused.value)


def test_filters_nest_so_deep_and_no_deeper() -> None:
    wanted: dict[str, Any] = {"eq": {"a": 1}}
    for _ in range(MAX_DEPTH - 1):
        wanted = {"not": wanted}
    parse_filter(wanted)
    with pytest.raises(FilterInvalid):
        parse_filter({"not": wanted})


def test_the_short_form_names_fields() -> None:
    assert parse_filter({"lang": "en"}, shorthand=True) == parse_filter({"eq": {"lang": "en"}})
    assert parse_filter({"lang": ["en", "de"]}, shorthand=True) == parse_filter({"in": {"lang": ["en", "de"]}})
    assert parse_filter({"eq": {"lang": "en"}}, shorthand=True) == parse_filter({"eq": {"lang": "en"}})


@pytest.mark.asyncio(loop_scope="module")
async def test_standard_fields_and_hidden_documents(stores: Stores) -> None:
    one = sorted(stores.visible)[0]
    by_id = await stores.records.matching(parse_filter({"eq": {"doc_id": one}}), scope=stores.scope)
    assert by_id == {one}
    unseen = next(d.facts.document_id for d in stores.content.documents if d.facts.document_id not in stores.visible)
    assert not await stores.records.matching(parse_filter({"eq": {"doc_id": unseen}}), scope=stores.scope)
    assert unseen not in await stores.records.metadata([one, unseen], scope=stores.scope)
    told = (await stores.records.metadata([one], scope=stores.scope))[one]
    assert (told["doc_id"], told["title"]) == (one, f"Title of {one}")


@pytest.mark.asyncio(loop_scope="module")
async def test_facts_and_metadata_change_apart(stores: Stores) -> None:
    one = sorted(stores.visible)[1]
    await stores.records.set_metadata(one, {"lang": "de", "tags": ("x", "y"), "size": 3})
    facts = await stores.records.facts_of(one)
    assert facts is not None
    await stores.records.set_facts(replace(facts, title="Another title"))
    told = (await stores.records.metadata([one], scope=stores.scope))[one]
    assert {k: told[k] for k in ("lang", "tags", "size", "title")} == {
        "lang": "de",
        "tags": ("x", "y"),
        "size": 3,
        "title": "Another title",
    }
    hash_before = await stores.records.manifest_hash(TENANT)
    await stores.records.set_metadata(one, {"lang": "fr"})
    assert await stores.records.manifest_hash(TENANT) != hash_before


async def test_a_document_that_goes_takes_its_metadata_along(tmp_path: Path) -> None:
    content = corpus(3, documents=2)
    store = open_sqlite_store(tmp_path / "record.sqlite")
    document = replace(content.documents[0], metadata={"lang": "en"})
    batch = IndexBatch(TENANT, [r for r in content.records if r.document_id == document.facts.document_id])
    for state in (Lifecycle.ACTIVE, Lifecycle.ACTIVE):
        await store.put_all([document], batch, lifecycle=state)
    assert await store.matching(parse_filter({"eq": {"lang": "en"}}), scope=content.scope()) == {
        document.facts.document_id
    }
    await store.put_all([replace(document, metadata={})], batch, lifecycle=Lifecycle.ACTIVE)
    assert not await store.matching(parse_filter({"eq": {"lang": "en"}}), scope=content.scope())
    await store.aclose()
