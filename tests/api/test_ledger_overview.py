"""Auditors see what there is to search for and how the log is: counted over their own tenant alone, and told to nobody
else."""

from __future__ import annotations

import asyncio
import csv
import io
from typing import Any

import httpx
import pytest

from ledger.notes.note import parse_checkpoint_text, parse_note
from tests.api.conftest import Connect
from tests.api.test_ledger_search import FILTERS, asked, found
from tests.api_world import FERRY

pytestmark = pytest.mark.asyncio(loop_scope="session")
BASE = "/api/v1/ledger"
ROUTES = (f"{BASE}/facets", f"{BASE}/health", "/audit/facets.json", "/audit/facets.csv")


async def counted(client: httpx.AsyncClient, **filters: str) -> dict[str, Any]:
    response = await client.get(f"{BASE}/facets", params=filters)
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


def by_name(body: dict[str, Any]) -> dict[str, dict[str, int]]:
    return {each["name"]: {value["value"]: value["count"] for value in each["values"]} for each in body["facets"]}


@pytest.mark.parametrize("filters", [{}, {"kind": "outcome"}, {"source": "county-population"}, {"text": "Shawnee"}])
async def test_each_value_narrows_to_as_many_entries_as_it_says(connect: Connect, filters: dict[str, str]) -> None:
    await asked(connect("viewer"))
    await asked(connect("contributor"), FERRY)
    auditor = connect("auditor")
    body = await counted(auditor, **filters)
    matching = await found(auditor, **({"since": FILTERS["since"]} | filters))
    assert (body["entries"], body["complete"]) == (len(matching), True)
    facets = by_name(body)
    assert set(facets) == {"kind", "outcome", "rule", "model", "source", "cited", "place", "actor", "day"}
    for name, values in facets.items():
        for value, count in list(values.items())[:3]:
            if filters.get(name, value) == value:  # else it would not narrow but ask for something else
                assert (await counted(auditor, **filters | {name: value}))["entries"] == count, (name, value)
        if name in ("source", "cited", "place", "day"):
            continue  # an entry tells them in its parts
        field = {"rule": "rules"}.get(name, name)
        told = [each[field] if isinstance(each[field], list) else [each[field]] for each in matching]
        assert values == {value: sum(value in each for each in told) for value in values}, name
        assert {value for each in told for value in each if value is not None} == set(values), name
    assert sum(facets["outcome"].values()) >= 1


async def test_sources_and_places_are_named_to_whom_they_are_shown(connect: Connect) -> None:
    """Both auditors count the same entries; only the one who may see a source reads its name."""
    await asked(connect("viewer"))
    await asked(connect("contributor"), FERRY)
    everything, public = by_name(await counted(connect("everything"))), by_name(await counted(connect("auditor")))
    assert public["cited"].items() <= everything["cited"].items()
    assert public["source"].items() < everything["source"].items()
    assert "county-population" in public["source"]
    assert "Shawnee County" in public["place"]
    hidden = (everything["source"].keys() - public["source"].keys()) | (
        everything["place"].keys() - public["place"].keys()
    )
    for form in ("json", "csv"):
        told = (await connect("auditor").get(f"{BASE}/facets", params={"format": form})).text
        assert [name for name in hidden if name in told] == []
    assert public["actor"] == everything["actor"]
    assert all(len(each) == 32 for each in public["actor"])


async def test_an_auditor_without_a_scope_is_named_no_source(connect: Connect) -> None:
    facets = by_name(await counted(connect("log-auditor")))
    assert (facets["source"], facets["cited"], facets["place"]) == ({}, {}, {})


async def test_a_day_and_times_hold_together(connect: Connect) -> None:
    await asked(connect("viewer"))
    auditor = connect("auditor")
    (today, count), *_ = by_name(await counted(auditor, kind="outcome"))["day"].items()
    assert count
    assert (await counted(auditor, kind="outcome", day=today, until=f"{today}T00:00:00Z"))["entries"] == 0
    assert (await counted(auditor, day="1999-12-31"))["entries"] == 0


async def test_what_another_tenant_records_changes_no_byte(connect: Connect) -> None:
    auditor, stranger = connect("auditor"), connect("stranger")
    before = (await auditor.get(f"{BASE}/facets")).content
    theirs = await counted(stranger)
    await asked(stranger)
    assert (await counted(stranger))["entries"] > theirs["entries"]
    assert (await auditor.get(f"{BASE}/facets")).content == before


async def test_counts_are_a_table_too(connect: Connect) -> None:
    auditor = connect("auditor")
    await asked(connect("viewer"))
    table = await auditor.get(f"{BASE}/facets", params={"format": "csv", "kind": "outcome"})
    assert table.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(table.text)))
    facets = by_name(await counted(auditor, kind="outcome"))
    assert {(row["facet"], row["value"], int(row["count"])) for row in rows} == {
        (name, value, count) for name, values in facets.items() for value, count in values.items()
    }


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize("key", [None, "viewer", "contributor", "archivist", "operator"])
async def test_nobody_else_is_told(connect: Connect, path: str, key: str | None) -> None:
    assert (await connect(key).get(path)).status_code == 403
    assert (await connect(address="192.0.2.1", host="example.org").get(path)).status_code == 401


@pytest.mark.parametrize(
    "query", ["outcome=answer", "limit=5", "after=3", "format=ndjson", "unknown=1", "day=1", "text=a", "rule=a%20b"]
)
@pytest.mark.parametrize("path", [f"{BASE}/facets", "/audit/facets.json", "/audit/facets.csv"])
async def test_a_count_that_cannot_be_meant_is_refused(connect: Connect, path: str, query: str) -> None:
    response = await connect("auditor").get(f"{path}?{query}")
    assert (response.status_code, response.json()["error"]["code"]) == (422, "VALIDATION_FAILED")


async def test_the_health_is_that_of_the_log(connect: Connect) -> None:
    viewer, auditor = connect("viewer"), connect("auditor")
    entry_id = await asked(viewer)
    await viewer.get(f"{BASE}/entries/{entry_id}/receipt")  # waits for a checkpoint
    health = (await auditor.get(f"{BASE}/health")).json()
    _, head = parse_checkpoint_text(parse_note((await viewer.get(f"{BASE}/checkpoint")).text).text)
    entry = (await auditor.get(f"{BASE}/entries/{entry_id}")).json()
    checkpoint = health["checkpoint"]
    assert (checkpoint["size"], checkpoint["root"]) == (head.size, head.root.hex())
    assert checkpoint["size"] > entry["index"]
    assert entry["t_ms"] <= checkpoint["newest_ms"] <= health["at_ms"]
    assert health["unsigned"] == health["entries"] - checkpoint["size"]
    assert (health["unsigned"] == 0) == (health["unsigned_since_ms"] is None)
    assert (health["witnesses"], health["quorum"], health["gaps"]) == ([], None, [])
    assert health["indexed"] <= health["entries"]


async def test_a_request_in_work_of_another_tenant_is_not_told(connect: Connect) -> None:
    """Requests of both tenants are in work while the log is asked; each auditor sees none of the other's."""
    auditor, stranger = connect("auditor"), connect("stranger")
    seen: list[dict[str, Any]] = []

    async def watch() -> None:
        while len(seen) < 8:
            seen.append((await auditor.get(f"{BASE}/health")).json())

    await asyncio.gather(watch(), *(asked(stranger) for _ in range(3)))
    told = {each["entry_id"] for health in seen for each in health["open_requests"]}
    theirs = {each["entry_id"] for each in await found(stranger, since=FILTERS["since"])}
    assert not told & theirs


async def test_the_page_as_data_is_all_that_it_shows(connect: Connect) -> None:
    viewer, auditor = connect("viewer"), connect("auditor")
    entry_id = await asked(viewer)
    await viewer.get(f"{BASE}/entries/{entry_id}/receipt")  # waits for a checkpoint, so that none comes between
    asked_for = {"outcome": "ANSWER", "limit": "3"}
    page = (await auditor.get("/audit.json", params=asked_for)).json()
    assert {name: page[name] for name in ("entries", "damaged", "next")} == (
        await auditor.get(f"{BASE}/entries", params=asked_for)
    ).json()
    assert page["facets"] == await counted(auditor, outcome="ANSWER")
    log = (await auditor.get(f"{BASE}/health")).json()
    assert {**page["log"], "at_ms": 0} == {**log, "at_ms": 0}
    for form in ("json", "csv"):
        twin = await auditor.get(f"/audit/facets.{form}", params={"outcome": "ANSWER"})
        api = await auditor.get(f"{BASE}/facets", params={"outcome": "ANSWER", "format": form})
        assert (twin.status_code, twin.content) == (200, api.content)
