"""A policy whose labels, clearances and handling tags have other names, and five ranks: everything works that works with
the shipped ones, and those are unknown to it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from asgi_lifespan import LifespanManager

from ai.replay.replay import Grade, replay
from api import wiring
from api.audit.policy.backtesting import Shelf
from api.audit.policy.explaining import explain
from api.errors import SettingsInvalid
from api.home.configuration import CONFIG_FILE, Configuration, load
from api.http.app import create_app
from retrieval.ingest.report import IngestReport
from tests import harness
from tests.edited_bundles import edited

pytestmark = pytest.mark.asyncio(loop_scope="module")
RANKS = ("open", "members", "staff", "board", "sealed")
TEXTS = {
    "open": "# Ferry\n\nWilliam Nace kept the ferry at Lecompton in 1856.\n",
    "members": "# Mill\n\nEsther Long kept the mill at Lecompton in 1861.\n",
    "staff": "# Forge\n\nAmos Reed kept the forge at Lecompton in 1863.\n",
    "board": "# Store\n\nJane Holt kept the store at Lecompton in 1866.\n",
    "sealed": "# Bank\n\nPeter Ames kept the bank at Lecompton in 1869.\n",
}
KEPT = {"open": "ferry", "members": "mill", "staff": "forge", "board": "store", "sealed": "bank"}
SITES = {
    "type": "FeatureCollection",
    "features": [
        {
            "type": "Feature",
            "id": "f1",
            "properties": {"name": "Old Mound"},
            "geometry": {"type": "Point", "coordinates": [-95.6789, 39.0458]},
        }
    ],
}
ROLES = {
    "public_viewer": "open",
    "contributor": "members",
    "maintainer": "board",
    "admin": "sealed",
    "auditor": "open",
    "policy_author": "open",
    "operator": "open",
}
PURPOSES = {"general": "open", "education": "open", "research": "open", "planning": "members", "review": "staff"}


def with_other_names(data: dict[str, Any]) -> None:
    data["labels"] = {label: rank for rank, label in enumerate(RANKS)}
    for role, label in ROLES.items():
        data["roles"][role]["clearance"] = label
    data["purposes"] = {purpose: {"clearance": label} for purpose, label in PURPOSES.items()}
    data["handling"] = {"blurred": data["handling"]["sensitive_location"]}
    data["notice"]["label"] = "staff"
    for tolerated in data["claims"]["tolerated"]:
        tolerated["label"] = RANKS[-1]


@dataclass(frozen=True)
class Other:
    """A home under that policy, and a file of each label to take in."""

    configuration: Configuration
    files: Path


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def other(tmp_path_factory: pytest.TempPathFactory) -> Other:
    folder = tmp_path_factory.mktemp("labels")
    bundle = edited(folder / "policy", with_other_names)
    configuration = load({"EXHIBIT_POLICY__BUNDLE": str(bundle)}, home=folder / "home")
    files = folder / "files"
    files.mkdir()
    for label, text in TEXTS.items():
        (files / f"{label}.md").write_text(text)
        report = await taken_in(configuration, files / f"{label}.md", label)
        assert not report.failed, report.failed
    (files / "sites.geojson").write_text(json.dumps(SITES))
    (files / "manifest.toml").write_text(
        '[[source]]\npath = "sites.geojson"\nsource_id = "sites"\ntitle = "Sites"\nlicense = "CC0-1.0"\n'
        'collection = "kansas"\nlabel = "open"\nhandling = ["blurred"]\n[source.features]\nfeature_id = "name"\nstatement = "{name} is a mound."\n'
    )
    async with wiring.open_ingest(configuration) as ingest:
        report = await ingest.run([], tenant="default", manifest=files / "manifest.toml")
    assert not report.failed, report.failed
    return Other(configuration, files)


async def taken_in(configuration: Configuration, path: Path, label: str) -> IngestReport:
    async with wiring.open_ingest(configuration) as ingest:
        return await ingest.run([path], tenant="default", collection="kansas", label=label)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def connect(other: Other) -> AsyncIterator[Callable[[str], httpx.AsyncClient]]:
    keys = wiring.key_store(other.configuration)
    tokens = {role: keys.create(name=role, tenant="default", roles=(role,), groups=())[1] for role in ROLES}
    application = create_app(other.configuration)
    async with LifespanManager(application, startup_timeout=60, shutdown_timeout=60):

        def make(role: str) -> httpx.AsyncClient:
            transport = httpx.ASGITransport(app=application, client=("127.0.0.1", 5))
            return httpx.AsyncClient(
                transport=transport, base_url="http://127.0.0.1", headers={"authorization": f"Bearer {tokens[role]}"}
            )

        yield make


@pytest.mark.parametrize("label", ["public", "restricted", "Open", "", "unknown"])
async def test_a_label_of_another_policy_is_not_taken_in(other: Other, label: str, tmp_path: Path) -> None:
    (tmp_path / "new.md").write_text("# New\n\nNobody kept anything.\n")
    report = await taken_in(other.configuration, tmp_path / "new.md", label)
    assert [file.error_code for file in report.failed] == ["VALIDATION_FAILED"]


async def test_a_default_of_another_policy_is_refused_before_anything_is_taken_in(other: Other, tmp_path: Path) -> None:
    (tmp_path / CONFIG_FILE).write_text('[ingest.default_labels]\nkansas = "public"\n')
    environment = {"EXHIBIT_POLICY__BUNDLE": str(other.files.parent / "policy")}
    async with wiring.open_ingest(load(environment, home=tmp_path)) as ingest:
        with pytest.raises(SettingsInvalid, match=r"'public' is not a label of the policy \(open, members,"):
            await ingest.run([other.files / "open.md"], tenant="default", collection="kansas")


@pytest.mark.parametrize("role", [role for role in ROLES if role != "operator"])
async def test_each_role_is_answered_up_to_its_rank(connect: Callable[[str], httpx.AsyncClient], role: str) -> None:
    reach = RANKS.index(ROLES[role])
    async with connect(role) as client:
        for rank, label in enumerate(RANKS):
            question = f"Who kept the {KEPT[label]} at Lecompton?"
            body = (await client.post("/api/v1/ai/query", json={"question": question})).json()
            shown = {item["sensitivity"] for item in body["evidence"]}
            assert (label in shown) is (rank <= reach), (label, body)
            assert {RANKS.index(each) for each in shown} <= set(range(reach + 1))
            if rank <= reach:
                read = (await client.get(body["evidence"][0]["href"])).json()
                assert read["sensitivity"] == body["evidence"][0]["sensitivity"]
                assert ("limited access" in body["answer"]) is any(
                    RANKS.index(body["evidence"][quoted["n"] - 1]["sensitivity"]) >= RANKS.index("staff")
                    for sentence in body["sentences"]
                    for quoted in sentence["citations"]
                )


async def test_an_answer_is_explained_and_replayed(other: Other, connect: Callable[[str], httpx.AsyncClient]) -> None:
    async with connect("admin") as client:
        body = (await client.post("/api/v1/ai/query", json={"question": "Who kept the store at Lecompton?"})).json()
    entry_id = body["provenance"]["entry_id"]
    async with wiring.open_system(other.configuration) as system:
        shelf, caller = Shelf.of(other.configuration), harness.subject(system, "admin", id="someone")
        found = await explain(entry_id, caller=caller, request_id="r1", services=system.services, shelf=shelf)
        assert found.paths and {str(path.verdict) for path in found.paths} <= {"kept", "redacted", "dropped"}
        assert {each.value for flip in found.flips.values() for each in flip.changes if each.what == "label"} <= {
            *RANKS
        }
        replayed = await replay(entry_id, services=system.services)
        assert (replayed.grade, replayed.differs_at) == (Grade.R1, None)


async def test_the_map_obeys_a_tag_of_another_name(connect: Callable[[str], httpx.AsyncClient]) -> None:
    places = {}
    for role in ("public_viewer", "maintainer"):
        async with connect(role) as client:
            page = (await client.get("/api/v1/layers/sites/features")).json()
            places[role] = page["features"][0]["geometry"]["coordinates"]
    assert places["maintainer"] == [-95.6789, 39.0458]
    assert places["public_viewer"] != places["maintainer"]
