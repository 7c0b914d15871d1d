"""What every EntryIndex promises; each test runs over every backend."""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ledger.errors import LedgerUnavailable
from ledger.model import Kind
from ledger.search.entry_index import FACETS, EntryCounts, EntryFacts, EntryIndex, EntryQuery, counts_of
from ledger.search.signature import bits_of, signature_of
from ledger.search.sql import SqlEntryIndex
from tests.ledger_doubles import fixed_ids


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[EntryIndex]:
    made = await SqlEntryIndex.open_sqlite(tmp_path / "index.sqlite")
    yield made
    await made.aclose()


TEXTS = ("the ferry at lecompton", "a treaty of 1867", "ab", "the ferry of topeka")
KEYS = {"t0": bytes(16), "t1": bytes(15) + b"1"}


def has_bit(signature: bytes, bit: int) -> bool:
    return signature[bit // 8] & 1 << bit % 8 != 0


def asked(text: str, *tenants: str) -> EntryQuery:
    """A query for a text among the entries of these tenants."""
    return EntryQuery(bits={tenant: bits_of(text, KEYS[tenant]) for tenant in tenants})


def facts(count: int, *, first: int = 0) -> list[EntryFacts]:
    """Entries that differ from each other in every field."""
    ids = fixed_ids(first + 1)
    return [
        EntryFacts(
            index=n,
            entry_id=ids(),
            kind=list(Kind)[n % len(Kind)],
            t_ms=1_000 + n,
            tenant=f"t{n % 2}",
            request_id=f"r{n}",
            leaf_hash=f"{n:064x}",
            outcome=f"OUTCOME{n % 3}" if n % 5 else None,
            model=f"m{n % 3}" if n % 5 else None,
            actor=f"a{n % 4}" if n % 7 else None,
            rules=tuple(sorted({f"Q{n % 3}", f"E{n % 2}"})),
            places=(f"p{n % 5}",) if n % 2 else (),
            sources=tuple(f"s{m}" for m in range(n % 4)),
            held=(f"s{4 + n % 3}",) if n % 2 else (),
            cited=("s2",) if n % 4 > 2 else (),
            signature=signature_of(TEXTS[n % len(TEXTS)], KEYS[f"t{n % 2}"]) if n % 5 else b"",
        )
        for n in range(first, first + count)
    ]


async def test_an_empty_index(index: EntryIndex) -> None:
    assert await index.position() == 0
    assert await index.find(EntryQuery(), after=-1, limit=10) == ()


async def test_facts_come_back_whole(index: EntryIndex) -> None:
    kept = facts(12)
    await index.extend(kept)
    assert await index.position() == 12
    assert await index.find(EntryQuery(), after=-1, limit=100) == tuple(kept)
    assert await index.find(EntryQuery(), after=4, limit=3) == tuple(kept[5:8])


QUERIES = {
    "tenant": EntryQuery(tenant="t1"),
    "kind": EntryQuery(kind=Kind.OUTCOME),
    "id": EntryQuery(entry_id=facts(12)[3].entry_id),
    "hash": EntryQuery(leaf_hash=f"{7:064x}"),
    "request": EntryQuery(request_id="r5"),
    "outcome": EntryQuery(outcome="OUTCOME1"),
    "model": EntryQuery(model="m2"),
    "actor": EntryQuery(actor="a1"),
    "rule": EntryQuery(rule="E1"),
    "place": EntryQuery(place="p3"),
    "source": EntryQuery(source="s1"),
    "holding what was admitted": EntryQuery(holding="s1"),
    "holding what was not": EntryQuery(holding="s5"),
    "cited": EntryQuery(cited="s2"),
    "source that is admitted and not cited": EntryQuery(cited="s1"),
    "source that is only held": EntryQuery(source="s5"),
    "since": EntryQuery(since_ms=1_006),
    "until": EntryQuery(until_ms=1_006),
    "text": asked("ferry", "t0", "t1"),
    "text of one tenant": asked("ferry", "t0"),
    "text of one tenant, among those of another": EntryQuery(tenant="t1", bits=asked("ferry", "t0").bits),
    "text under the key of another tenant": EntryQuery(bits={"t0": bits_of("ferry", KEYS["t1"])}),
    "text that is in no entry": asked("steamboat", "t0", "t1"),
    "text too short for a signature": asked("ab", "t0"),
    "text of no tenant": EntryQuery(bits={}),
    "several": EntryQuery(tenant="t1", outcome="OUTCOME1", source="s0"),
    "nothing": EntryQuery(actor="nobody"),
    "a wildcard is no wildcard": EntryQuery(actor="%"),
    "a quote is text": EntryQuery(rule="' OR 1=1 --"),
}


NOTHING = (
    "nothing",
    "text of one tenant, among those of another",
    "text under the key of another tenant",
    "text that is in no entry",
    "text of no tenant",
    "source that is admitted and not cited",
    "source that is only held",
    "a wildcard is no wildcard",
    "a quote is text",
)


def matches(query: EntryQuery, each: EntryFacts) -> bool:
    """The meaning of a query, read from its fields."""
    lists = {"rule": each.rules, "place": each.places, "source": each.sources, "cited": each.cited}
    lists["holding"] = (*each.sources, *each.held)
    for field in dataclasses.fields(query):
        value = getattr(query, field.name)
        if value is None:
            continue
        if field.name == "since_ms":
            held = each.t_ms >= value
        elif field.name == "until_ms":
            held = each.t_ms < value
        elif field.name == "bits":
            bits = value.get(each.tenant)
            held = (
                bits is not None
                and (not bits or bool(each.signature))
                and all(has_bit(each.signature, bit) for bit in bits)
            )
        else:
            held = value in lists[field.name] if field.name in lists else getattr(each, field.name) == value
        if not held:
            return False
    return True


@pytest.mark.parametrize("name", QUERIES)
async def test_a_query_finds_what_its_fields_say(index: EntryIndex, name: str) -> None:
    kept = facts(24)
    await index.extend(kept)
    expected = tuple(each for each in kept if matches(QUERIES[name], each))
    assert await index.find(QUERIES[name], after=-1, limit=100) == expected
    assert await index.find(QUERIES[name], after=9, limit=100) == tuple(e for e in expected if e.index > 9)
    assert bool(expected) == (name not in NOTHING)


async def test_pages_under_growth_have_no_gap_and_no_duplicate(index: EntryIndex) -> None:
    await index.extend(facts(10))
    query, seen, after, size = EntryQuery(tenant="t1"), list[int](), -1, 10
    while page := await index.find(query, after=after, limit=2):
        seen += [each.index for each in page]
        after = page[-1].index
        if size < 30:
            await index.extend(facts(5, first=size))
            size += 5
    assert seen == [n for n in range(size) if n % 2]


async def test_two_writers_add_an_entry_once(index: EntryIndex) -> None:
    await index.extend(facts(6))
    await index.extend(facts(8))
    assert [each.index for each in await index.find(EntryQuery(), after=-1, limit=100)] == list(range(8))


async def test_a_gap_is_refused(index: EntryIndex) -> None:
    with pytest.raises(ValueError, match="follow"):
        await index.extend(facts(2, first=1))
    assert await index.position() == 0


async def test_replaced_facts_are_gone(index: EntryIndex) -> None:
    kept = facts(12)
    await index.extend(kept)
    bare = dataclasses.replace(
        kept[6], actor=None, outcome=None, model=None, rules=(), places=(), sources=(), held=(), cited=()
    )
    await index.replace([bare])
    await index.shrink()
    assert await index.find(EntryQuery(), after=5, limit=1) == (bare,)
    assert await index.position() == 12


async def test_a_closed_index_is_unavailable(index: EntryIndex) -> None:
    await index.aclose()
    with pytest.raises(LedgerUnavailable):
        await index.position()


def day(each: EntryFacts) -> str:
    return datetime.fromtimestamp(each.t_ms / 1000, UTC).date().isoformat()


def counts(query: EntryQuery, kept: list[EntryFacts]) -> EntryCounts:
    """The meaning of the counts, read from what is kept."""
    matching = [each for each in kept if matches(query, each)]
    values: dict[str, dict[str, int]] = {
        "kind": {str(value): sum(e.kind is value for e in matching) for value in Kind},
        "outcome": {value: sum(e.outcome == value for e in matching) for value in {e.outcome or "" for e in kept}},
        "rule": {value: sum(value in e.rules for e in matching) for value in {r for e in kept for r in e.rules}},
        "model": {value: sum(e.model == value for e in matching) for value in {e.model or "" for e in kept}},
        "source": {value: sum(value in e.sources for e in matching) for value in {s for e in kept for s in e.sources}},
        "cited": {value: sum(value in e.cited for e in matching) for value in {s for e in kept for s in e.cited}},
        "place": {value: sum(value in e.places for e in matching) for value in {p for e in kept for p in e.places}},
        "actor": {value: sum(e.actor == value for e in matching) for value in {e.actor or "" for e in kept}},
        "day": {value: sum(day(e) == value for e in matching) for value in {day(e) for e in kept}},
    }
    told = {
        name: tuple(sorted(((v, n) for v, n in each.items() if n), key=lambda pair: (-pair[1], pair[0])))
        for name, each in values.items()
    }
    return EntryCounts(len(matching), told)


@pytest.mark.parametrize("name", QUERIES)
async def test_a_count_is_of_all_that_a_query_finds(index: EntryIndex, name: str) -> None:
    kept = facts(24)
    await index.extend(kept)
    expected = counts(QUERIES[name], kept)
    assert await index.count(QUERIES[name]) == expected
    assert counts_of(each for each in kept if matches(QUERIES[name], each)) == expected
    assert bool(expected.entries) == (name not in NOTHING)


async def test_an_empty_index_counts_nothing(index: EntryIndex) -> None:
    assert await index.count(EntryQuery()) == EntryCounts(0, dict.fromkeys(FACETS, ()))


async def test_reading_waits_for_no_writer(tmp_path: Path) -> None:
    index = await SqlEntryIndex.open_sqlite(tmp_path / "index.sqlite")
    await index.extend(facts(5))
    with closing(sqlite3.connect(tmp_path / "index.sqlite", isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM entries")
        assert await index.position() == 5
        assert len(await index.find(EntryQuery(), after=-1, limit=10)) == 5
        assert (await index.count(EntryQuery())).entries == 5
        writer.execute("ROLLBACK")
    await index.extend(facts(1, first=5))
    assert await index.position() == 6
    await index.aclose()


async def test_the_tenants_of_the_entries_are_named(index: EntryIndex) -> None:
    assert await index.tenants() == ()
    await index.extend(facts(5))
    assert await index.tenants() == ("t0", "t1")


@pytest.mark.parametrize("places", [(0, 4_095, 4_096, 4_097, 4_299), (4_299,), ()], ids=["edges", "the last", "none"])
async def test_a_text_is_found_wherever_in_a_long_log_its_entries_are(
    index: EntryIndex, places: tuple[int, ...]
) -> None:
    held = signature_of(TEXTS[0], KEYS["t0"])
    kept = [
        dataclasses.replace(each, tenant="t0", signature=held if each.index in places else b"") for each in facts(4_300)
    ]
    await index.extend(kept)
    query = asked("ferry", "t0")
    assert [each.index for each in await index.find(query, after=-1, limit=100)] == list(places)
    assert [each.index for each in await index.find(query, after=0, limit=2)] == [n for n in places if n][:2]
    assert (await index.count(query)).entries == len(places)
