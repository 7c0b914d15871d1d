"""Every page as data: a walk over the routes of the application finds none without its twins, which the page links to and
which say what the API says, to whom it says it."""

from __future__ import annotations

import csv
import io
import re

import httpx
import pytest
from fastapi import FastAPI

from api.http.routes.pages import TWINS
from tests.api.conftest import Connect
from tests.api_world import POPULATION
from tests.map_world import map_home

pytestmark = pytest.mark.asyncio(loop_scope="session")
CSV = "text/csv; charset=utf-8; header=present"
NO_PAGES = ("/assets/", "/docs/assets/", "/embed.js", "/client.")


def routes(app: FastAPI) -> set[str]:
    """The addresses outside of the API that are read."""
    hidden = (each for each in app.state.routes if not getattr(each, "include_in_schema", True))
    return {each.path for each in hidden if "GET" in each.methods and not each.path.startswith(("/api/", *NO_PAGES))}


async def entries(connect: Connect) -> tuple[str, str]:
    """Two entries of the asker."""
    client = connect("viewer")
    asked = [await client.post("/api/v1/ai/query", json={"question": POPULATION}) for _ in range(2)]
    one, other = (each.json()["provenance"]["entry_id"] for each in asked)
    return one, other


async def addresses(connect: Connect) -> dict[str, str]:
    """Where each page and twin is, with its entries."""
    one, other = await entries(connect)
    asked = {"/audit/compare": f"?a={one}&b={other}", "/audit/changes": f"?entry={one}"}
    every = [each for page, twins in TWINS.items() for each in (page, *twins)]
    return {each: each.replace("{entry_id}", one) + asked.get(each.rpartition(".")[0] or each, "") for each in every}


async def test_every_page_has_its_twins(app: FastAPI, client: httpx.AsyncClient) -> None:
    known = {*TWINS} | {twin for twins in TWINS.values() for twin in twins}
    served = routes(app)
    assert known <= served, "a twin that is not served"
    pages = {path for path in served if not path.endswith((".json", ".csv"))} - {"/openapi.json"}
    pages -= {"/evidence/{document_id}"}  # links to its route of the API, whose JSON it shows
    assert pages == set(TWINS), "a page without twins"
    assert all(twins[0].endswith(".json") for twins in TWINS.values())
    for page in set(TWINS) - {"/docs"}:
        html = (await client.get(page.replace("{entry_id}", "0" * 36))).text
        linked = re.findall(r'<a href="([^"]+)" data-twin>', html)
        assert linked == [twin.replace("{entry_id}", "0" * 36) for twin in TWINS[page]], page


async def test_twins_are_what_they_say(connect: Connect) -> None:
    reader = connect("everything")
    for path, address in (await addresses(connect)).items():
        response = await reader.get(address)
        assert response.status_code == 200, (path, response.text)
        if path.endswith(".csv"):
            rows = list(csv.reader(io.StringIO(response.text)))
            assert response.headers["content-type"] == CSV and len({len(row) for row in rows}) == 1, path
            assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@"))]
        elif path.endswith(".json"):
            assert response.headers["content-type"] == "application/json" and response.json(), path
        else:
            assert response.headers["content-type"].startswith("text/html"), path


@pytest.mark.parametrize(
    ("twin", "route"),
    [
        ("/audit/log.json", "/api/v1/ledger/health"),
        ("/audit/facets.json", "/api/v1/ledger/facets"),
        ("/corpus.json", "/api/v1/corpus"),
        ("/docs.json", "/openapi.json"),
    ],
)
async def test_a_twin_says_what_the_api_says(connect: Connect, twin: str, route: str) -> None:
    one, other = [(await connect("everything").get(each)).json() for each in (twin, route)]
    for told in (one, other):
        told.pop("at_ms", None)
    assert one == other


async def test_the_twin_of_the_policy_page_holds_all_that_it_shows(connect: Connect) -> None:
    author, root = connect("everything"), "/api/v1/policy"
    told = (await author.get("/policy.json")).json()
    assert told["bundle_digest"] == (await author.get(f"{root}/bundle")).json()["bundle_digest"]
    for name in ("matrix", "releases"):
        assert told[name] == (await author.get(f"{root}/{name}")).json()
    rules = (await author.get(f"{root}/rules")).json()["rules"]
    assert told["rules"] == rules
    table = list(csv.DictReader(io.StringIO((await author.get("/policy/rules.csv")).text)))
    assert [row["id"] for row in table] == [rule["id"] for rule in rules]


@pytest.mark.parametrize("key", [None, "viewer", "operator"])
async def test_twins_need_what_the_api_needs(connect: Connect, key: str | None) -> None:
    """Only what the page of questions begins with, the description, and entries of one's own are for everyone."""
    everyone = {*TWINS["/"], *TWINS["/docs"]}
    for path, address in (await addresses(connect)).items():
        if path in TWINS or path in everyone:
            continue
        status = (await connect(key).get(address)).status_code
        own = key == "viewer" and path.startswith(("/audit/{entry_id}", "/audit/compare"))
        assert status == 200 if own else status in (403, 404), path
        afar = connect(address="192.0.2.1", host="example.org")
        assert (await afar.get(address)).status_code == 401, path


async def test_hidden_documents_change_no_twin_of_the_first_page(tmp_path_factory: pytest.TempPathFactory) -> None:
    told = []
    for secrets in (False, True):
        async with map_home(tmp_path_factory.mktemp("twins"), secrets=secrets) as (client, _):
            told.append([(await client.get(each)).content for each in TWINS["/"]])
    assert told[0] == told[1]


async def test_a_cell_that_is_a_formula_is_told_as_text() -> None:
    from api.audit.entries.export import documents_csv

    given = [{"a": "=1+1", "b": ["@x", "y"], "c": {"-k": 1}, "d": 3, "e": None, "f": True}]
    rows = list(csv.reader(io.StringIO(documents_csv(("a", "b", "c", "d", "e", "f"), given))))
    assert rows[1] == ["'=1+1", "'@x y", "'-k:1", "3", "", "True"]
