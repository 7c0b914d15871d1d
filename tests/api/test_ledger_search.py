"""Auditors search the ledger: every filter, pages under appends, lists and tables; nobody else, and no other tenant."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import httpx
import pytest

from ai.record.entry_facts import cited_sources
from api.schemas.evidence import EntriesResponse
from tests.api_world import FERRY, POPULATION

pytestmark = pytest.mark.asyncio(loop_scope="session")
ENTRIES = "/api/v1/ledger/entries"
FILTERS: dict[str, str] = {
    "id": "01900000-0000-7000-8000-000000000000",
    "hash": "0" * 64,
    "request_id": "r",
    "text": "Shawnee",
    "actor": "0" * 32,
    "subject": "key:x",
    "outcome": "ANSWER",
    "rule": "Q12",
    "model": "extractive",
    "place": "Shawnee County",
    "source": "county-population",
    "cited": "county-population",
    "since": "2020-01-01T00:00:00Z",
    "until": "2120-01-01T00:00:00Z",
}


async def asked(client: httpx.AsyncClient, question: str = POPULATION) -> str:
    body = (await client.post("/api/v1/ai/query", json={"question": question})).json()
    return str(body["provenance"]["entry_id"])


async def found(client: httpx.AsyncClient, **filters: str | int) -> list[dict[str, Any]]:
    """Every page."""
    entries: list[dict[str, Any]] = []
    after: int | None = -1
    while after is not None:
        response = await client.get(ENTRIES, params={**filters, "after": after})
        assert response.status_code == 200, response.text
        page = EntriesResponse.model_validate(response.json())
        entries += [each.model_dump() for each in page.entries]
        after = page.next
    return entries


def ids(entries: list[dict[str, Any]]) -> set[str]:
    return {entry["entry_id"] for entry in entries}


async def test_each_filter_finds_the_entry_and_its_opposite_does_not(connect: Any) -> None:
    async with connect("contributor") as asker, connect("auditor") as auditor:
        entry_id = await asked(asker, FERRY)
        [entry] = await found(auditor, id=entry_id)
        document = (await auditor.get(f"{ENTRIES}/{entry_id}/prov")).json()
        [person] = [agent for agent in document["agent"].values() if "exhibit:pseudonym" in agent]
        assert (entry["outcome"], entry["actor"]) == ("ANSWER", person["exhibit:pseudonym"])
        stamp = ["2020-01-01T00:00:00Z", "2100-01-01T00:00:00Z"]
        for name, right, wrong in [
            ("hash", entry["leaf_hash"], "0" * 64),
            ("request_id", entry["request_id"], "another"),
            ("text", "william NACE", "william knave"),
            ("actor", entry["actor"], "0" * 32),
            ("outcome", "ANSWER", "DENY"),
            ("model", "extractive", "llama"),
            ("place", "lecompton", "Topeka"),
            ("source", "ferry", "diary"),
            ("cited", "ferry", "diary"),
            ("since", stamp[0], stamp[1]),
            ("until", stamp[1], stamp[0]),
        ]:
            assert entry_id in ids(await found(auditor, **{name: right})), name
            assert entry_id not in ids(await found(auditor, **{name: wrong})), name


async def test_what_is_admitted_and_what_is_cited_are_found_apart(connect: Any) -> None:
    async with connect("contributor") as asker, connect("auditor") as auditor:
        answered = await asked(asker, FERRY)
        abstained = await asked(asker, "What did William Nace eat at Lecompton?")
        [entry] = await found(auditor, id=abstained, summary="true")
        assert (entry["outcome"], entry["summary"]["cited"]) == ("ABSTAIN", [])
        assert "ferry" in entry["summary"]["sources"]
        assert {answered, abstained} <= ids(await found(auditor, source="ferry"))
        cited = ids(await found(auditor, cited="ferry"))
        assert answered in cited and abstained not in cited


async def test_a_figure_cites_what_it_was_computed_from_too() -> None:
    computed = {"inputs": [{"chunk_id": "table@2#r1"}, {"chunk_id": "map@1#f"}]}
    cited = {"1": {"document_id": "table@2", "computed": computed}, "2": {"document_id": "paper", "computed": None}}
    assert cited_sources({"citations": cited}) == {"table", "table@2", "map", "map@1", "paper"}
    assert cited_sources({}) == cited_sources({"citations": {}}) == set()


async def test_a_table_has_question_answer_sources_place_and_parts(connect: Any) -> None:
    async with connect("contributor") as asker, connect("auditor") as auditor:
        asked_with = {"question": POPULATION, "context": {"place": "Shawnee County"}}
        body = (await asker.post("/api/v1/ai/query", json=asked_with)).json()
        entry_id = body["provenance"]["entry_id"]
        params = {"id": entry_id, "format": "csv", "summary": "true", "parts": ["answer", "sources/1"]}
        [row] = csv.DictReader(io.StringIO((await auditor.get(ENTRIES, params=params)).text))
        [found_entry] = (await auditor.get(ENTRIES, params=params | {"format": "json"})).json()["entries"]
        bare = (await auditor.get(ENTRIES, params={"id": entry_id, "format": "csv"})).text
        [twin] = csv.DictReader(io.StringIO((await auditor.get("/audit.csv", params=params)).text))
    assert (row["question"], row["answer"], row["place"]) == (POPULATION, body["answer"], "Shawnee County")
    assert set(row["cited"].split()) == {each["source_id"] for each in body["citations"].values()}
    assert set(row["sources"].split()) >= {each["source_id"] for each in body["evidence"]}
    assert json.loads(row["part answer"])["answer"] == body["answer"]
    assert json.loads(row["part sources/1"])["index"] == 1
    assert found_entry["contents"] == {"answer": row["part answer"], "sources/1": row["part sources/1"]}
    assert found_entry["summary"]["question"] == POPULATION
    assert POPULATION not in bare and "question" not in bare.splitlines()[0].split(",")
    assert twin == row


async def test_a_cell_of_what_was_asked_is_no_formula(connect: Any) -> None:
    async with connect("viewer") as asker, connect("auditor") as auditor:
        entry_id = await asked(asker, "=cmd|' /C calc'!A0 what was the population?")
        params = {"id": entry_id, "format": "csv", "summary": "true"}
        [row] = csv.DictReader(io.StringIO((await auditor.get(ENTRIES, params=params)).text))
    assert row["question"].startswith("'=cmd")


@pytest.mark.parametrize("query", [{"summary": "true"}, {"parts": "question"}, {"parts": "answer", "format": "csv"}])
async def test_contents_need_the_audit_capability_and_are_of_the_own_tenant(
    connect: Any, query: dict[str, str]
) -> None:
    async with connect("contributor") as asker:
        await asked(asker, FERRY)
    for key in (None, "viewer", "contributor", "archivist", "operator", "author"):
        async with connect(key) as client:
            assert (await client.get(ENTRIES, params=query)).status_code == 403, key
    async with connect("stranger") as stranger:
        response = await stranger.get(ENTRIES, params=query | {"limit": "1000"})
    assert response.status_code == 200
    assert "Nace" not in response.text and FERRY not in response.text


async def test_a_rule_finds_the_entries_in_which_it_spoke(connect: Any) -> None:
    async with connect("viewer") as asker, connect("auditor") as auditor:
        denied = (
            await asker.post("/api/v1/ai/query", json={"question": FERRY, "options": {"collections": ["no"]}})
        ).json()
        entry_id, code = denied["provenance"]["entry_id"], denied["reason_codes"][0]
        assert entry_id in ids(await found(auditor, rule=code))
        assert entry_id not in ids(await found(auditor, rule="NO_SUCH_RULE"))


async def test_a_subject_is_found_by_the_id_that_its_pseudonym_stands_for(connect: Any, world: Any) -> None:
    async with connect("archivist") as asker, connect("auditor") as auditor:
        entry_id = await asked(asker)
        subject = f"key:{world.tokens['archivist'].split('_')[1]}"
        mine = await found(auditor, subject=subject)
        assert entry_id in ids(mine)
        assert {entry["kind"] for entry in mine} >= {"intent", "outcome"}
        assert {entry["actor"] for entry in mine} == {mine[0]["actor"]}


async def test_pages_under_appends_have_no_gap_and_no_duplicate(connect: Any) -> None:
    async with connect("viewer") as asker, connect("auditor") as auditor:
        for _ in range(3):
            await asked(asker)
        before = [entry["index"] for entry in await found(auditor, outcome="ANSWER")]
        seen, after, more = list[int](), -1, 3
        while after is not None:
            page = (await auditor.get(ENTRIES, params={"outcome": "ANSWER", "limit": 1, "after": after})).json()
            seen += [entry["index"] for entry in page["entries"]]
            if more:
                await asked(asker)
                more -= 1
            after = page["next"]
        everything = [entry["index"] for entry in await found(auditor, outcome="ANSWER")]
    assert seen == everything[: len(seen)]
    assert len(seen) == len(before) + 3


async def test_lists_and_tables_hold_what_the_page_holds(connect: Any) -> None:
    async with connect("viewer") as asker, connect("auditor") as auditor:
        await asked(asker)
        await asked(asker)
        page = (await auditor.get(ENTRIES, params={"outcome": "ANSWER", "limit": 2})).json()
        lines = await auditor.get(ENTRIES, params={"outcome": "ANSWER", "limit": 2, "format": "ndjson"})
        assert [json.loads(line) for line in lines.text.splitlines()] == page["entries"]
        table = await auditor.get(ENTRIES, params={"outcome": "ANSWER", "limit": 2, "format": "csv"})
        rows = list(csv.DictReader(io.StringIO(table.text)))
        assert [(r["entry_id"], r["outcome"]) for r in rows] == [(e["entry_id"], "ANSWER") for e in page["entries"]]
        assert table.headers["content-type"].startswith("text/csv")
        link = table.headers["link"].removeprefix("<").split(">")[0]
        following = await auditor.get(link)
        assert following.headers["content-type"].startswith("text/csv")
        indexes = [int(row["index"]) for row in csv.DictReader(io.StringIO(following.text))]
        assert not indexes or min(indexes) > page["next"]


@pytest.mark.parametrize("name", FILTERS)
async def test_a_search_needs_the_audit_capability(connect: Any, name: str) -> None:
    for key in (None, "viewer", "contributor", "archivist", "operator", "stranger"):
        async with connect(key) as client:
            response = await client.get(ENTRIES, params={name: FILTERS[name]})
            assert response.status_code == (200 if key == "stranger" else 403), key


async def test_another_tenant_is_never_searched(connect: Any, world: Any) -> None:
    """An admin may audit, its own tenant only; what others asked is not found by any filter."""
    async with connect("contributor") as asker, connect("stranger") as stranger, connect("auditor") as auditor:
        entry_id = await asked(asker, FERRY)
        [entry] = await found(auditor, id=entry_id)
        for name, value in {
            "id": entry_id, "hash": entry["leaf_hash"], "request_id": entry["request_id"], "actor": entry["actor"],
            "text": "Nace", "outcome": "ANSWER", "place": "Lecompton", "source": "ferry", "cited": "ferry",
        }.items():  # fmt: skip
            assert entry_id not in ids(await found(stranger, **{name: value})), name


@pytest.mark.parametrize(
    "query",
    [
        "hash=xyz", "id=1", "actor=me", "outcome=answer", "since=yesterday", "since=2020-01-01T00:00:00", "limit=0",
        "limit=1001", "after=-2", "format=xml", "kind=none", "unknown=1", "text=a", "rule=a%20b", "place=",
        "cited=", "parts=nothing", "parts=sources/0", "parts=answer&parts=../x", "summary=perhaps",
    ],
)  # fmt: skip
async def test_a_filter_that_cannot_be_meant_is_refused(connect: Any, query: str) -> None:
    async with connect("auditor") as auditor:
        response = await auditor.get(f"{ENTRIES}?{query}")
    assert response.status_code == 422
    assert response.json()["error"]["code"] == "VALIDATION_FAILED"


async def test_the_index_holds_no_text(connect: Any, world: Any) -> None:
    async with connect("contributor") as asker, connect("auditor") as auditor:
        await asked(asker, FERRY)
        await found(auditor, place="Lecompton")
    held = (world.configuration.home / "ledger-index.sqlite").read_bytes().lower()
    assert b"answer" in held
    for word in (b"lecompton", b"nace", b"ferry", b"shawnee", b"key:"):
        assert word not in held
