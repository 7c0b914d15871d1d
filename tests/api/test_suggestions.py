"""Suggested questions are answered when they are asked, come from the scope alone, and are kept per authority."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from asgi_lifespan import LifespanManager

from ai.model import Completion
from ai.models.chat_model import ChatRequest
from ai.models.extractive import ExtractiveModel
from api import wiring
from api.home.configuration import load
from api.http.app import create_app
from api.http.map.layers import map_of
from api.http.map.shapes import MapIndex
from api.http.map.suggestions import KEPT_MS, Around, Suggestions, Trial
from api.wiring import open_ingest
from tests.api.conftest import Connect
from tests.api_world import EXAMPLES, make_world
from tests.harness import subject
from tests.map_world import map_home

pytestmark = pytest.mark.asyncio(loop_scope="session")
HERE = Around()


async def suggested(client: httpx.AsyncClient, **asked: str) -> list[dict[str, object]]:
    response = await client.get("/api/v1/ai/suggestions", params=asked)
    assert response.status_code == 200, response.text
    found: list[dict[str, object]] = response.json()["suggestions"]
    return found


async def test_every_suggestion_is_answered(client: httpx.AsyncClient) -> None:
    found = await suggested(client, limit="12")
    assert {each["kind"] for each in found} >= {"figure", "change", "ranking"}
    assert len({each["question"] for each in found}) == len(found) > 5
    for each in found:
        asked = await client.post("/api/v1/ai/query", json={"question": each["question"]})
        assert asked.json()["outcome"] == "ANSWER", each


async def test_place_and_time_narrow(client: httpx.AsyncClient) -> None:
    found = await suggested(client, place="Shawnee County", time="1920/1930")
    assert found
    for each in found:
        assert each["place"] in (None, "Shawnee County")
        assert each["year"] in (1920, 1930)
    assert await suggested(client, place="county:20177") == await suggested(client, place="county:20177")
    assert await suggested(client, place="Atlantis") == []
    assert await suggested(client, time="1700") == []
    assert len(await suggested(client, limit="1")) == 1


async def test_they_are_of_the_callers_scope(connect: Connect) -> None:
    questions = [each["question"] for each in await suggested(connect("viewer"), limit="20")]
    assert not any("diary" in str(question) or "ferry" in str(question) for question in questions)
    assert await suggested(connect("operator")) == []


@pytest.mark.parametrize(
    "asked", [{"limit": "0"}, {"limit": "21"}, {"bbox": "1,2"}, {"time": "soon"}, {"place": ""}, {"other": "x"}]
)
async def test_what_cannot_be_read_is_refused(client: httpx.AsyncClient, asked: dict[str, str]) -> None:
    assert (await client.get("/api/v1/ai/suggestions", params=asked)).status_code == 422


async def test_hidden_documents_change_no_suggestion(tmp_path: Path) -> None:
    told = []
    for secrets in (False, True):
        async with map_home(tmp_path / str(secrets), secrets=secrets) as (client, _):
            asked = ({}, {"layer": "forts"}, {"bbox": "-98,38,-95,40"}, {"layer": "secret-forts"}, {"limit": "20"})
            told.append([await suggested(client, **each) for each in asked])
    assert told[0] == told[1]


class Counting(ExtractiveModel):
    """The default model, which counts how often it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: int = 0

    async def complete(self, request: ChatRequest) -> Completion:
        self.asked += 1
        return await super().complete(request)


async def test_they_are_kept_for_an_authority_until_something_changes(tmp_path: Path) -> None:
    world = await make_world(tmp_path)
    kept, model, shapes = Suggestions(), Counting(), MapIndex()

    async def of(system: wiring.System, role: str, around: Around = HERE, *, later_ms: int = 0) -> tuple[int, int]:
        """How many are offered, and how many candidates were tried for it."""
        view = await map_of(subject(system, role), request_id="r", index=shapes, services=system.services)
        access = replace(view.reading.access, now_ms=view.reading.access.now_ms + later_ms)
        view = replace(view, reading=replace(view.reading, access=access))
        before = model.asked
        found = await kept.of(view, around, Trial(system.profile("focus"), model))
        return len(found), model.asked - before

    async with wiring.open_system(world.configuration) as system:
        offered, tried = await of(system, "public_viewer")
        assert offered and tried >= offered
        assert await of(system, "public_viewer") == (offered, 0)
        assert await of(system, "public_viewer", later_ms=KEPT_MS // 2) == (offered, 0)
        for role in ("contributor", "maintainer"):  # what somebody may is not told from what somebody else was told
            assert (await of(system, role))[1] > 0, role
        assert (await of(system, "public_viewer", Around(place="Shawnee County")))[1] > 0
        assert (await of(system, "public_viewer", Around(limit=2)))[1] > 0
        assert await of(system, "public_viewer") == (offered, 0)
        assert (await of(system, "public_viewer", later_ms=2 * KEPT_MS))[1] > 0
    (tmp_path / "mill.md").write_text("# The mill\n\nThe mill at Eudora was built in 1862.\n", "utf-8")
    async with open_ingest(world.configuration) as ingest:
        report = await ingest.run([tmp_path / "mill.md"], tenant="default", collection="kansas", label="public")
        assert not report.failed, report.failed
    async with wiring.open_system(world.configuration) as system:
        assert (await of(system, "public_viewer"))[1] > 0, "the corpus is another"


async def test_only_so_many_are_kept(tmp_path: Path) -> None:
    world = await make_world(tmp_path)
    kept, model, shapes = Suggestions(capacity=2), Counting(), MapIndex()
    async with wiring.open_system(world.configuration) as system:
        view = await map_of(subject(system), request_id="r", index=shapes, services=system.services)
        tries = []
        for limit in (1, 2, 3, 3, 2, 1):
            before = model.asked
            await kept.of(view, Around(limit=limit), Trial(system.profile("focus"), model))
            tries.append(model.asked > before)
    assert tries == [True, True, True, False, False, True]


async def test_every_kind_is_offered_and_answered(tmp_path: Path) -> None:
    """The example corpus has something of each kind."""
    configuration = load({}, home=tmp_path / "home")
    async with open_ingest(configuration) as ingest:
        report = await ingest.run([], tenant="default", manifest=EXAMPLES / "manifest.toml")
        assert not report.failed, report.failed
    app = create_app(configuration)
    async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
        transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 50_000))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as client:
            found = [*await suggested(client, limit="20"), *await suggested(client, place="Kansas", time="1935")]
            for kind in ("figure", "change", "ranking", "event", "text"):
                offered = [each for each in found if each["kind"] == kind]
                assert offered, kind
                asked = await client.post("/api/v1/ai/query", json={"question": offered[0]["question"]})
                assert asked.json()["outcome"] == "ANSWER", offered[0]
