"""GET /api/v1/computations: what a computed sentence rests on, for whoever may read the answer; and links that mark what is quoted."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from asgi_lifespan import LifespanManager
from pydantic import TypeAdapter

from ai.answer.links import MOST_MARKS
from api.home.configuration import load
from api.http.app import create_app
from api.schemas.computation import ComputationResponse
from api.wiring import open_ingest
from tests.api_world import EXAMPLES, FERRY, POPULATION

pytestmark = pytest.mark.asyncio(loop_scope="session")
LARGEST = "What were the three largest counties in 1930?"
_IDS = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
GREW = "How much did Shawnee County grow from 1900 to 1930?"


async def asked(client: httpx.AsyncClient, question: str) -> dict[str, Any]:
    body: dict[str, Any] = (await client.post("/api/v1/ai/query", json={"question": question})).json()
    assert body["outcome"] == "ANSWER", body
    return body


def link(body: dict[str, Any]) -> str:
    (found,) = {each["href"] for each in body["citations"].values() if each["computed"]}
    return str(found)


@pytest.mark.parametrize("question", [LARGEST, GREW])
async def test_the_citation_opens_the_computation(client: httpx.AsyncClient, question: str) -> None:
    body = await asked(client, question)
    found = (await client.get(link(body))).json()
    TypeAdapter(ComputationResponse).validate_python(found)
    (computed,) = (each["computed"] for each in body["citations"].values())
    for name in ("operation", "parameters", "result", "statement", "input_digest"):
        assert found[name] == computed[name]
    assert found["recomputed"] == "same"
    assert [row["chunk_id"] for row in found["inputs"]] == [row["chunk_id"] for row in computed["inputs"][:100]]
    for row in found["inputs"][:3]:
        read = (await client.get(row["href"])).json()
        assert read["text"] == row["text"]
        assert row["title"] == read["title"]


@pytest.mark.parametrize("question", [LARGEST, GREW])
async def test_a_computed_sentence_quotes_rows(client: httpx.AsyncClient, question: str) -> None:
    body = await asked(client, question)
    quoted = [quote for sentence in body["sentences"] for quote in sentence["citations"]]
    assert quoted
    for quote in quoted:
        read = (await client.get(quote["href"])).json()
        assert read["text"] == quote["quote"]
        assert quote["quote"] not in [sentence["text"] for sentence in body["sentences"]]


async def test_rows_come_in_pages(client: httpx.AsyncClient) -> None:
    first = (await client.get(f"{link(await asked(client, LARGEST))}?limit=40")).json()
    rows, page = first["inputs"], first
    while page["next"] is not None:
        page = (await client.get(page["next"])).json()
        rows = rows + page["inputs"]
    assert len(rows) == first["inputs_total"] == 105
    assert len({row["chunk_id"] for row in rows}) == 105


async def test_only_who_may_read_the_answer_reads_the_computation(connect: Any) -> None:
    async with connect("viewer") as viewer, connect("auditor") as auditor:
        body = await asked(viewer, GREW)
        assert (await auditor.get(link(body))).status_code == 200
        observed = await asked(viewer, POPULATION)
        entry = observed["provenance"]["entry_id"]
        absent = await viewer.get("/api/v1/computations/01890000-0000-7000-8000-000000000000/1")
        told = {**absent.json()["error"], "request_id": "", "message": ""}
        assert absent.status_code == 404
        for client, href in (
            (viewer, f"/api/v1/computations/{entry}/1"),
            (viewer, link(body).rpartition("/")[0] + "/999"),
        ):
            other = await client.get(href)
            assert {**other.json()["error"], "request_id": "", "message": ""} == told
    for name in ("archivist", "stranger", "operator"):
        async with connect(name) as other_caller:
            assert (await other_caller.get(link(body))).status_code == 404


@pytest.mark.parametrize("query", ["limit=0", "limit=501", "after=-1", "after=x", "rows=3"])
async def test_rows_that_cannot_be(client: httpx.AsyncClient, query: str) -> None:
    response = await client.get(f"{link(await asked(client, GREW))}?{query}")
    assert (response.status_code, response.json()["error"]["code"]) == (422, "VALIDATION_FAILED")


async def test_a_reading_of_rows_is_recorded(connect: Any) -> None:
    async with connect("viewer") as viewer, connect("auditor") as auditor:
        found = (await viewer.get(link(await asked(viewer, GREW)))).json()
        entry = found["provenance"]["entry_id"]
        recorded = (await auditor.get(f"/api/v1/ledger/entries/{entry}/parts/answer")).json()
        context = (await auditor.get(f"/api/v1/ledger/entries/{entry}/parts/context")).json()
        own = await viewer.get(f"/api/v1/ledger/entries/{entry}/parts/answer")
    assert own.status_code == 200
    assert (context["surface"], context["entry_id"]) == ("computation", found["entry_id"])
    assert recorded["rows"] == [row["chunk_id"] for row in found["inputs"] if row["text"] is not None]


async def test_a_browser_gets_a_page(client: httpx.AsyncClient) -> None:
    href = link(await asked(client, GREW))
    shown = await client.get(href, headers={"accept": "text/html,application/json;q=0.9"})
    assert shown.headers["content-type"].startswith("text/html")
    assert "20177,Shawnee County" in shown.text
    assert "script" not in shown.text.lower()


async def test_the_link_of_a_passage_marks_what_is_quoted(client: httpx.AsyncClient, connect: Any) -> None:
    async with connect("archivist") as archivist:
        body = await asked(archivist, FERRY)
        for sentence in body["sentences"]:
            for quote in sentence["citations"]:
                citation = body["citations"][str(quote["n"])]
                for href in (quote["href"], citation["href"]):
                    read = (await archivist.get(href)).json()
                    said = [read["text"][mark["start"] : mark["end"]] for mark in read.get("marked", [])]
                    assert quote["quote"] in (said or [read["text"]])
        document = body["citations"]["1"]["href"].partition("?")[0]
        read = (await archivist.get(f"{document}?c=0-20&mark=2-5,8-11")).json()
        assert read["marked"] == [{"start": 2, "end": 5}, {"start": 8, "end": 11}]
        page = await archivist.get(f"{document}?c=0-20&mark=2-5", headers={"accept": "text/html"})
        assert f"<mark>{read['text'][2:5]}</mark>" in page.text


@pytest.mark.parametrize(
    "query",
    ["c=5-9&mark=4-6", "c=5-9&mark=6-10", "c=5-9&mark=6-6", "c=5-9&mark=7-6", "c=5-9&mark=", "c=5-9&mark=x", "row=1&mark=0-1",
     "p=1&mark=0-1", "c=0-99&mark=" + ",".join(f"{i}-{i + 1}" for i in range(MOST_MARKS + 1))],
)  # fmt: skip
async def test_marks_that_cannot_be(client: httpx.AsyncClient, query: str) -> None:
    document = (await asked(client, POPULATION))["citations"]["1"]["href"].partition("?")[0]
    response = await client.get(f"{document}?{query}")
    assert (response.status_code, response.json()["error"]["code"]) == (422, "VALIDATION_FAILED"), response.text


def population(*, secret: bool) -> str:
    """The block of the sample corpus' manifest for its table; for one of other figures that is not shown."""
    blocks = (EXAMPLES / "manifest.toml").read_text("utf-8").split("[[source]]\n")
    (block,) = [each for each in blocks if 'path = "county-population.csv"' in each.split("\n")[0]]
    if secret:
        block = block.replace("county-population.csv", "secret.csv").replace('"county-population"', '"secret"')
        block = re.sub(r"(?m)^label = .*$", "", block).replace("path =", 'label = "restricted"\npath =', 1)
    return "[[source]]\n" + block


async def computed_at(folder: Path, *, secret: bool) -> str:
    """Answer and computation in a home, without ids and times."""
    corpus = folder / "corpus"
    corpus.mkdir(parents=True)
    table = (EXAMPLES / "county-population.csv").read_text("utf-8")
    (corpus / "county-population.csv").write_text(table, "utf-8")
    (corpus / "secret.csv").write_text(table.replace("85200", "99999"), "utf-8")
    blocks = [population(secret=each) for each in ((False, True) if secret else (False,))]
    manifest = corpus / "manifest.toml"
    manifest.write_text('[[collection]]\nname = "kansas"\ntitle = "Kansas"\n\n' + "".join(blocks), "utf-8")
    configuration = load({}, home=folder / "home")
    async with open_ingest(configuration) as ingest:
        report = await ingest.run([], tenant="default", manifest=manifest)
        assert not report.failed, report.failed
    app = create_app(configuration)
    async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
        transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 50_000))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            body = await asked(client, LARGEST)
            found = (await client.get(link(body))).json()
    found["promise"] = found["promise"]["rseq"]
    told = {name: body[name] for name in ("answer", "sentences", "citations")}
    return _IDS.sub("", json.dumps([told, found], sort_keys=True))


@pytest.mark.asyncio(loop_scope="function")
async def test_hidden_rows_change_no_byte_of_a_computation(tmp_path: Path) -> None:
    without = await computed_at(tmp_path / "a", secret=False)
    with_them = await computed_at(tmp_path / "b", secret=True)
    assert with_them == without
    assert "Wyandotte" in without
