"""Since when a question is answered differently, over HTTP: for auditors of the tenant alone, and the same as what the
command line finds."""

from __future__ import annotations

import csv
import io
from typing import Any

import httpx
import pytest

from api.http.admission.work import Work, work_of
from tests.api.conftest import Connect
from tests.api_world import POPULATION

pytestmark = pytest.mark.asyncio(loop_scope="session")
UNKNOWN = "01a2031f-1fc5-776c-bb33-2bf6a0c1861e"
YEARS = (1930, 1940)


def path_of(entry_id: str) -> str:
    return f"/api/v1/ledger/entries/{entry_id}/changes"


async def asked(client: httpx.AsyncClient, *, top_k: int = 8, question: str = POPULATION) -> str:
    body = {"question": question, "options": {"top_k": top_k}}
    answer = (await client.post("/api/v1/ai/query", json=body)).json()
    return str(answer["provenance"]["entry_id"])


async def found(client: httpx.AsyncClient, entry_id: str) -> dict[str, Any]:
    response = await client.get(path_of(entry_id))
    assert response.status_code == 200, response.text
    return dict(response.json())


async def test_every_time_that_it_was_asked_is_listed(connect: Connect) -> None:
    auditor, viewer = connect("auditor"), connect("viewer")
    mine = [await asked(viewer, top_k=7) for _ in range(2)]
    await asked(viewer, top_k=6)  # in another way
    await asked(connect("contributor"), top_k=7)  # with other rights
    told = await found(auditor, mine[0])
    assert told["question"] == POPULATION
    assert [each["entry_id"] for each in told["entries"]][-2:] == mine
    assert {each["policy"] for each in told["entries"]} != {None}
    assert told["changes"] == []


async def test_twins_are_the_api(connect: Connect) -> None:
    auditor = connect("auditor")
    entry = await asked(connect("viewer"))
    twin = await auditor.get("/audit/changes.json", params={"entry": entry})
    assert twin.json() == await found(auditor, entry)
    table = await auditor.get("/audit/changes.csv", params={"entry": entry})
    assert table.headers["content-type"].startswith("text/csv")
    assert table.text == (await auditor.get(path_of(entry), params={"format": "csv"})).text
    assert next(csv.reader(io.StringIO(table.text)))[:2] == ["since", "entry_id"]


@pytest.mark.parametrize("reader", [None, "viewer", "operator", "author", "contributor"])
async def test_only_auditors_are_told(connect: Connect, reader: str | None) -> None:
    client = connect(reader)
    entry = await asked(client)  # not even of the own question: the other entries are those of others
    for path in (path_of(entry), path_of(UNKNOWN), f"/audit/changes.json?entry={entry}"):
        assert (await client.get(path)).status_code == 403


async def test_an_entry_of_another_tenant_is_absent(connect: Connect) -> None:
    auditor, entry = connect("auditor"), await asked(connect("stranger"))
    told = [await auditor.get(path_of(each)) for each in (entry, UNKNOWN)]
    assert [each.status_code for each in told] == [404, 404]
    assert told[0].json()["error"]["message"] == told[1].json()["error"]["message"]


async def test_what_holds_no_question_is_refused(connect: Connect) -> None:
    auditor = connect("auditor")
    await asked(connect("viewer"))
    listed = (await auditor.get("/api/v1/ledger/entries", params={"kind": "intent", "limit": "1"})).json()
    assert (await auditor.get(path_of(listed["entries"][0]["entry_id"]))).status_code == 422
    assert (await auditor.get(path_of(UNKNOWN), params={"format": "xml"})).status_code == 422


async def test_it_waits_for_its_turn_like_a_question() -> None:
    assert work_of(path_of(UNKNOWN)) is Work.QUESTION
    assert work_of("/audit/changes") is Work.READ
