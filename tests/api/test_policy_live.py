"""What is published takes over between requests; a request keeps the bundle that it began with."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from asgi_lifespan import LifespanManager

from ai.focus_pipeline import answer
from ai.model import Ask
from ai.replay.replay import Grade, replay
from api import wiring
from api.audit.entries.recorded_policy import recorded_policies
from api.home.configuration import load
from api.http.app import create_app
from api.http.policy.reload import LiveSystem, live
from ledger.model import Kind
from policy.bundles.bundle import DATA_PATH, load_bundle
from policy.bundles.releases import Releases
from policy.canonical import canonical
from policy.checks import single_result
from policy.engine import PolicyEngine, Reply
from policy.errors import BundleRejected, PolicyUnavailable
from tests.api_world import POPULATION, make_world
from tests.harness import opened, subject
from tests.published import copied, published_live
from tests.unit.test_policy_releases import candidate, remade

SHIPPED_DIGEST = load_bundle().digest


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return asyncio.run(make_world(tmp_path_factory.mktemp("live"))).configuration.home


@pytest.fixture
def home(corpus: Path, tmp_path: Path) -> Path:
    return copied(corpus, tmp_path / "home")


@pytest.fixture
def releases(home: Path) -> Releases:
    return Releases(home / "policy")


@pytest_asyncio.fixture
async def system(home: Path, releases: Releases) -> AsyncIterator[wiring.System]:
    async with opened(home) as system:
        yield system


async def asked(system: wiring.System) -> dict[str, Any]:
    question = Ask(request_id=wiring.new_id(), question=POPULATION, subject=subject(system))
    return dict((await answer(question, services=system.services, profile=system.profile("focus"))).body)


async def test_a_request_keeps_the_bundle_that_it_began_with(
    system: wiring.System, releases: Releases, tmp_path: Path
) -> None:
    current = LiveSystem(system)
    with current.lease() as before:
        digest = await published_live(system, candidate(tmp_path / "a", 1_000))
        assert await current.refresh() is True
        assert await current.refresh() is False
        with current.lease() as after:
            assert (before.engine.bundle_digest, after.engine.bundle_digest) == (SHIPPED_DIGEST, digest)
            old, new = await asked(before), await asked(after)
    assert (old["policy"]["bundle_digest"], new["policy"]["bundle_digest"]) == (SHIPPED_DIGEST, digest)
    assert after.data is not before.data
    await current.aclose()
    with pytest.raises(PolicyUnavailable):
        await before.engine.evaluate("kfm/ai/query", b"{}", deadline_s=1)


async def test_the_change_is_on_the_ledger_before_it_decides(
    system: wiring.System, releases: Releases, tmp_path: Path
) -> None:
    current = LiveSystem(system)
    digest = await published_live(system, candidate(tmp_path / "a", 900))
    await current.refresh()
    [*_, entry] = await system.services.ledger.entries(kind=Kind.CONFIG, limit=100)
    detail = json.loads(await system.services.ledger.part(entry.leaf.entry_id, "detail"))
    assert detail == {"policy_bundle": {"before": SHIPPED_DIGEST, "after": digest}}
    await current.aclose()


async def test_without_the_ledger_the_old_bundle_goes_on(
    system: wiring.System, releases: Releases, tmp_path: Path
) -> None:
    current = LiveSystem(system)
    await published_live(system, candidate(tmp_path / "a", 900))
    await system.services.ledger.aclose()
    assert await current.refresh() is False
    assert current.system.engine.bundle_digest == SHIPPED_DIGEST
    await current.aclose()


@pytest.mark.parametrize("damage", ["data", "module", "another module", "gone", "state", "another bundle"])
async def test_what_cannot_be_loaded_never_decides(
    system: wiring.System, releases: Releases, tmp_path: Path, damage: str
) -> None:
    current = LiveSystem(system)
    digest = await published_live(system, candidate(tmp_path / "a", 600))
    place = releases.archive.path(digest)
    match damage:
        case "data":
            (place / "rego" / DATA_PATH).write_text((place / "rego" / DATA_PATH).read_text().replace("600", "1"))
        case "module":
            (place / "wasm" / "bundle.wasm").write_bytes(b"\0asm")
        case "another module":
            for path in (remade(tmp_path / "other") / "wasm").iterdir():
                (place / "wasm" / path.name).write_bytes(path.read_bytes())
        case "gone":
            place.rename(tmp_path / "elsewhere")
        case "another bundle":
            releases.publish(releases.archive.put(candidate(tmp_path / "b", 1)).digest, replaced=digest, at_ms=1)
        case _:
            releases.file.write_text("{")
    assert await current.refresh() is False
    assert current.system.engine.bundle_digest == SHIPPED_DIGEST
    [entry] = await system.services.ledger.entries(kind=Kind.CONFIG, limit=100)
    assert "policy_publication" in json.loads(await system.services.ledger.part(entry.leaf.entry_id, "detail"))
    await current.aclose()


async def test_the_watcher_takes_it_up_by_itself(system: wiring.System, releases: Releases, tmp_path: Path) -> None:
    async with live(system) as current:
        digest = await published_live(system, candidate(tmp_path / "a", 902))
        async with asyncio.timeout(30):
            while current.system.engine.bundle_digest != digest:  # noqa: ASYNC110
                await asyncio.sleep(0.05)


async def test_a_shadow_is_taken_up_and_dropped_without_a_change_of_decisions(
    system: wiring.System, releases: Releases, tmp_path: Path
) -> None:
    current = LiveSystem(system)
    made = candidate(tmp_path / "a", 500)
    data = json.loads((made / "rego" / DATA_PATH).read_text())
    data["notice"]["label"] = "public"  # every answer would carry the notice
    (made / "rego" / DATA_PATH).write_text(json.dumps(data))
    digest = releases.archive.put(made).digest
    plain = await asked(system)
    releases.shadow(digest, at_ms=1)
    assert await current.refresh() is True
    shadowed = await asked(current.system)
    await current.system.engine.settle()  # type: ignore[attr-defined]
    assert {k: v for k, v in shadowed["policy"].items() if k != "engine"} == {
        k: v for k, v in plain["policy"].items() if k != "engine"
    }
    assert shadowed["answer"] == plain["answer"]
    report = wiring.shadow_log(system.chosen.policy).report(digest, limit=10)
    assert report["counts"]["kfm/ai/answer"]["differing"] == 1, report
    assert report["counts"]["kfm/ai/query"]["differing"] == 0 < report["counts"]["kfm/ai/query"]["compared"]
    difference = report["differences"][0]
    assert difference["only_shadow"]["obligations"] == ["A11 append_notice answer:"]
    releases.unshadow(at_ms=2)
    assert await current.refresh() is True
    assert current.system.policy.shadow is None
    await current.aclose()


async def test_a_shadow_sees_requests_and_nothing_else(
    system: wiring.System, releases: Releases, tmp_path: Path
) -> None:
    """Neither the proof that a bundle denies the empty input, nor what an author tries, is a decision to compare."""
    current = LiveSystem(system)
    digest = releases.archive.put(candidate(tmp_path / "a", 503)).digest
    releases.shadow(digest, at_ms=1)
    assert await current.refresh() is True
    engine = current.system.engine
    app = create_app(system.configuration)
    async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
        _, token = system.keys.create(name="a", tenant="default", roles=("policy_author",))
        headers = {"authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app=app), base_url="http://x", headers=headers
        ) as client:
            tried = await client.post("/api/v1/policy/evaluate", json={"point": "query", "input": {}})
        assert tried.json()["effect"] == "deny"
        assert app.state.live.system.policy.shadow == digest
        await app.state.live.system.engine.settle()
    await engine.settle()  # type: ignore[attr-defined]
    assert wiring.shadow_log(system.chosen.policy).report(digest, limit=1)["counts"] == {}
    await current.aclose()


async def test_a_folder_that_the_settings_name_must_pass_the_canary(home: Path, tmp_path: Path) -> None:
    folder = candidate(tmp_path / "a", 500)
    named = {"EXHIBIT_POLICY__BUNDLE": str(folder)}
    async with wiring.open_system(load(named, home=home)) as system:
        assert (await asked(system))["outcome"] == "ANSWER"
    data = json.loads((folder / "rego" / DATA_PATH).read_text())
    for role in data["roles"].values():
        role["permissions"] = []
    (folder / "rego" / DATA_PATH).write_text(json.dumps(data))
    with pytest.raises(BundleRejected, match="the canary refuses"):
        async with wiring.open_system(load(named, home=home)):
            pass


async def test_a_shadow_that_cannot_be_opened_stops_nothing(
    system: wiring.System, releases: Releases, tmp_path: Path
) -> None:
    digest = releases.archive.put(candidate(tmp_path / "a", 700)).digest
    releases.shadow(digest, at_ms=1)
    (releases.archive.path(digest) / "wasm" / "bundle.wasm").write_bytes(b"")
    current = LiveSystem(system)
    assert await current.refresh() is True
    assert await current.refresh() is False, "it is not tried again every second"
    assert current.system.policy.shadow_fault is not None
    assert (await asked(current.system))["policy"]["bundle_digest"] == SHIPPED_DIGEST
    await current.aclose()


async def test_an_entry_replays_under_the_policy_that_decided_it(
    system: wiring.System, releases: Releases, tmp_path: Path
) -> None:
    before = (await asked(system))["provenance"]["entry_id"]
    current = LiveSystem(system)
    await published_live(system, candidate(tmp_path / "a", 650))
    await current.refresh()
    after = (await asked(current.system))["provenance"]["entry_id"]
    async with recorded_policies(current.system) as policies:
        for entry_id in (before, after):
            services = await policies.services_of(entry_id)
            found = await replay(entry_id, services=services, up_to=Grade.R1)
            assert (found.grade, found.differs_at) == (Grade.R1, None)
    judged = await replay(before, services=current.system.services, up_to=Grade.R1)
    assert judged.differs_at == "policy.query", "today's bundle is another one"
    await current.aclose()


class ServedElsewhere:
    """The embedded engine under another name, or, when `wrong`, with a decision that the bundle does not make."""

    def __init__(self, engine: PolicyEngine, *, wrong: bool) -> None:
        self._engine = engine
        self._wrong = wrong
        self.name = "opa:1.22.0"
        self.bundle_digest = engine.bundle_digest

    async def evaluate(self, entrypoint: str, input: bytes, *, deadline_s: float) -> Reply:
        reply = await self._engine.evaluate(entrypoint, input, deadline_s=deadline_s)
        if self._wrong and entrypoint == "kfm/ai/evidence":
            decision = single_result(reply.results)
            assert isinstance(decision, dict)
            reply = replace(reply, results=canonical([{"result": decision | {"admit": decision["admit"][:1]}}]))
        return reply

    async def aclose(self) -> None:
        return None


@pytest.mark.parametrize(("wrong", "stage"), [(False, None), (True, "policy.evidence")])
async def test_what_a_server_decided_is_decided_again_by_the_module_of_its_bundle(
    system: wiring.System, wrong: bool, stage: str | None
) -> None:
    engine = ServedElsewhere(system.engine, wrong=wrong)
    body = await asked(system.with_policy(replace(system.policy, engine=engine)))
    assert body["policy"]["engine"] == "opa:1.22.0"
    entry_id = body["provenance"]["entry_id"]
    async with recorded_policies(system) as policies:
        found = await replay(entry_id, services=await policies.services_of(entry_id), up_to=Grade.R1)
    assert (found.grade, found.differs_at) == (Grade.R0 if stage else Grade.R1, stage)


async def test_under_load_each_answer_is_decided_by_one_bundle(
    system: wiring.System, releases: Releases, tmp_path: Path
) -> None:
    """Requests in flight while the bundle changes again and again: query, evidence and answer of each by the same one,
    and none refused for the change."""
    current = LiveSystem(system)
    for n in (501, 502, 503):
        candidate(tmp_path / str(n), n)
    bodies: list[dict[str, Any]] = []
    done = asyncio.Event()

    async def ask_on() -> None:
        while not done.is_set():
            with current.lease() as mine:
                bodies.append(await asked(mine))

    async def publish_on() -> None:
        for n in range(4):
            await published_live(system, tmp_path / str(501 + n % 3))
            await current.refresh()
        done.set()

    await asyncio.gather(ask_on(), ask_on(), publish_on())
    assert {body["outcome"] for body in bodies} == {"ANSWER"}
    decided = [await decisions(system, body["provenance"]["entry_id"]) for body in bodies]
    assert all(len(each) == 1 for each in decided), decided
    assert len(set.union(*decided)) > 1, "the bundle did change meanwhile"
    await current.aclose()


async def decisions(system: wiring.System, entry_id: str) -> set[str]:
    """The digests of the bundles that had a part in one answer."""
    ledger = system.services.ledger
    [intent] = [ref.id for ref in (await ledger.entry(entry_id)).leaf.refs if ref.rel == "intent"]
    parts = [(intent, "policy.query"), (entry_id, "policy.evidence"), (entry_id, "policy.answer")]
    found = [each for id, name in parts for each in json.loads(await ledger.part(id, name))]
    assert len(found) >= 3
    return {each["stamp"]["bundle"] for each in found}
