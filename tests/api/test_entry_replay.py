"""An auditor replays an entry over HTTP: as the command line does, for nobody else, from no other page, and whatever the
corpus holds beside it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest
from asgi_lifespan import LifespanManager

from ai.replay.replay import Grade, replay
from api.audit.entries.recorded_policy import recorded_policies
from api.audit.entries.replay import replay_document
from api.home.configuration import load
from api.http.admission.work import Work, work_of
from api.http.app import create_app
from api.wiring import open_ingest, open_system
from tests.api.conftest import Connect
from tests.api_world import POPULATION, World, make_world

pytestmark = pytest.mark.asyncio(loop_scope="session")
UNKNOWN = "01a2031f-1fc5-776c-bb33-2bf6a0c1861e"


def path_of(entry_id: str) -> str:
    return f"/api/v1/ledger/entries/{entry_id}/replay"


async def asked(client: httpx.AsyncClient) -> str:
    body = (await client.post("/api/v1/ai/query", json={"question": POPULATION})).json()
    await client.get(body["provenance"]["receipt"])  # waits for a checkpoint, which the proof needs
    return str(body["provenance"]["entry_id"])


async def replayed(client: httpx.AsyncClient, entry_id: str, to: str = "R1") -> dict[str, Any]:
    response = await client.post(path_of(entry_id), json={"to": to})
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


@pytest.mark.parametrize("to", ["R0", "R1", "R2"])
async def test_an_answer_is_reproduced_as_far_as_is_asked(connect: Connect, to: str) -> None:
    found = await replayed(connect("auditor"), await asked(connect("viewer")), to)
    assert (found["grade"], found["verdict"], found["differs_at"]) == (to, "reproduced", None)
    grades = {each["name"]: each["grade"] for each in found["parts"]}
    assert grades["answer"] == to
    assert all(stage["same"] and stage["excerpt"] is None for stage in found["stages"])


async def test_a_replay_records_nothing(connect: Connect) -> None:
    auditor, entry_id = connect("auditor"), await asked(connect("viewer"))
    before = (await auditor.get("/api/v1/ledger/health")).json()["entries"]
    await replayed(auditor, entry_id, "R2")
    assert (await auditor.get("/api/v1/ledger/health")).json()["entries"] == before


@pytest.mark.parametrize("key", ["viewer", "contributor", "archivist", "operator", "author"])
async def test_nobody_else_replays_even_an_entry_of_their_own(connect: Connect, key: str) -> None:
    client = connect(key)
    response = await client.post(path_of(await asked(client)), json={})
    assert (response.status_code, response.json()["error"]["code"]) == (403, "FORBIDDEN")
    assert (await client.post(path_of(UNKNOWN), json={})).status_code == 403


async def test_an_entry_of_another_tenant_is_as_absent_as_one_that_is_not(connect: Connect) -> None:
    entry_id = await asked(connect("viewer"))
    bodies = []
    for path in (path_of(entry_id), path_of(UNKNOWN), path_of("nothing")):
        response = await connect("stranger").post(path, json={})
        assert response.status_code == 404
        bodies.append(response.json()["error"] | {"request_id": ""})
    assert bodies[0] == bodies[1] == bodies[2]


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
        {"origin": "https://elsewhere.example"},
    ],
)
async def test_a_page_of_another_origin_replays_nothing(connect: Connect, headers: dict[str, str]) -> None:
    entry_id = await asked(connect("viewer"))
    response = await connect("auditor").post(path_of(entry_id), json={}, headers=headers)
    assert (response.status_code, response.json()["error"]["code"]) == (403, "FORBIDDEN")
    own = await connect("auditor").post(path_of(entry_id), json={}, headers={"sec-fetch-site": "same-origin"})
    assert own.status_code == 200


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b'{"to": "R3"}', "application/json", 422),
        (b'{"to": "r1"}', "application/json", 422),
        (b'{"up_to": "R1"}', "application/json", 422),
        (b"[]", "application/json", 422),
        (b"", "application/json", 400),
        (b"{", "application/json", 400),
        (b"to=R1", "application/x-www-form-urlencoded", 415),
    ],
)
async def test_a_request_that_cannot_be_meant_is_refused(
    connect: Connect, content: bytes, kind: str, status: int
) -> None:
    path = path_of(await asked(connect("viewer")))
    response = await connect("auditor").post(path, content=content, headers={"content-type": kind})
    assert response.status_code == status


async def test_a_replay_waits_for_its_turn_as_a_question_does() -> None:
    assert work_of(path_of(UNKNOWN)) is Work.QUESTION
    assert work_of(f"/api/v1/ledger/entries/{UNKNOWN}/receipt") is Work.READ
    assert work_of("/audit/replay") is Work.READ


def client_of(app: Any, world: World, key: str) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 50_000))
    headers = {"authorization": f"Bearer {world.tokens[key]}"}
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers)


async def test_hidden_documents_change_no_byte(tmp_path: Path) -> None:
    world = await make_world(tmp_path)
    async with LifespanManager(create_app(world.configuration), startup_timeout=60, shutdown_timeout=60) as manager:
        entry_id = await asked(client_of(manager.app, world, "viewer"))
        auditor = client_of(manager.app, world, "auditor")
        before = (await auditor.post(path_of(entry_id), json={"to": "R2"})).content
        hidden = tmp_path / "hidden.md"
        hidden.write_text("# Shawnee County\n\nThe population of Shawnee County in 1930 was 99,999.\n", "utf-8")
        async with open_ingest(world.configuration) as ingest:
            report = await ingest.run([hidden], tenant="default", collection="kansas", label="restricted")
            assert not report.failed
        assert (await auditor.post(path_of(entry_id), json={"to": "R2"})).content == before
    assert json.loads(before)["verdict"] == "reproduced"


async def test_what_comes_out_otherwise_is_shown_from_the_first_difference_on(tmp_path: Path) -> None:
    """The home has lost the settings of the record, and those of today give other scores."""
    tuned = {"EXHIBIT_RETRIEVAL__FUSION_K": "7", "EXHIBIT_RETRIEVAL__WEIGHT_MILLI__VECTOR": "9000"}
    world = await make_world(tmp_path, tuned)
    async with LifespanManager(create_app(world.configuration), startup_timeout=60, shutdown_timeout=60) as manager:
        entry_id = await asked(client_of(manager.app, world, "viewer"))
    home = world.configuration.home
    shutil.rmtree(home / "archive")
    other = load({"EXHIBIT_LEDGER__CHECKPOINT_MS": "50"}, home=home)
    async with LifespanManager(create_app(other), startup_timeout=60, shutdown_timeout=60) as manager:
        found = await replayed(client_of(manager.app, world, "auditor"), entry_id)
    assert (found["verdict"], found["grade"]) == ("cannot_run", "R0"), (found["changed"], found["missing"])
    assert "fusion" in found["missing"]
    [first, *_] = [stage for stage in found["stages"] if not stage["same"]]
    assert found["differs_at"] == first["name"]
    excerpt = first["excerpt"]
    at = excerpt["at"]
    assert excerpt["recorded"][:at] == excerpt["again"][:at]
    assert excerpt["recorded"][at : at + 1] != excerpt["again"][at : at + 1]
    async with open_system(other) as system, recorded_policies(system) as policies:
        report = await replay(entry_id, services=await policies.services_of(entry_id), up_to=Grade.R1)
        told = replay_document(report)
    assert {name: told[name] for name in found} == found
