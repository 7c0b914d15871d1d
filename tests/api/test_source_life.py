"""The life of a source by command line while the home is served: what a change takes away answers no more, and the ledger says who and when."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from asgi_lifespan import LifespanManager

from api.audit.life.sources import SourceChange, change_source, history_of
from api.errors import NoSuchThing
from api.home.configuration import Configuration, load
from api.http.app import create_app
from api.wiring import open_indexes, open_ingest
from ledger.model import Kind
from retrieval.errors import ManifestError, SourceConflict
from retrieval.ingest.report import NOTE
from retrieval.ingest.upkeep.life import AccessChange
from tests.command_line import command_line

QUESTION = "Who kept the ferry at Lecompton?"
TEXT = "# The ferry\n\nWilliam Nace kept the ferry at Lecompton in 1856.\n"
OTHER = "# The mill\n\nCyrus Holliday founded the mill at Topeka in 1858.\n"


@pytest.fixture
async def configuration(tmp_path: Path) -> Configuration:
    files = tmp_path / "files"
    files.mkdir()
    (files / "ferry.md").write_text(TEXT)
    (files / "mill.md").write_text(OTHER)
    configured = load({}, home=tmp_path / "home")
    async with open_ingest(configured) as ingest:
        report = await ingest.run([files], tenant="default", label="public")
    assert not report.failed
    return configured


@asynccontextmanager
async def served(configuration: Configuration) -> AsyncIterator[tuple[Any, httpx.AsyncClient]]:
    app = create_app(configuration)
    async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
        transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 50_000), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            yield app, client


async def told(client: httpx.AsyncClient) -> str:
    """Everything that a public reader can get of the ferry, on several surfaces."""
    found = [
        (await client.post("/api/v1/ai/query", json={"question": QUESTION})).text,
        (await client.post("/retrieval/query", json={"query": QUESTION, "top_k": 5})).text,
        (await client.post("/api/v1/registry/assets/query", json={"text": "ferry", "include": ["snippets"]})).text,
    ]
    return "\n".join(found)


async def evidence(client: httpx.AsyncClient, document_id: str) -> int:
    return (await client.get(f"/api/v1/evidence/{document_id}", params={"c": "0-5"})).status_code


async def consistent(configuration: Configuration) -> bool:
    async with open_indexes(configuration) as (store, _, indexes):
        active = {d.document_id for d in await store.stored("default")}
        held = [await index.documents() for index in indexes]
    return held == [active] * len(indexes)


CHANGES: dict[str, dict[str, Any]] = {
    "label": {"access": AccessChange(label="restricted")},
    "groups": {"access": AccessChange(groups=("archivists",))},
    "withdraw": {},
    "supersede": {"by": "files.mill.md"},
}


@pytest.mark.parametrize("change", CHANGES)
async def test_what_a_change_takes_away_answers_no_more_while_serving(
    configuration: Configuration, change: str
) -> None:
    action: Any = "label" if change == "groups" else change
    async with served(configuration) as (app, client):
        before = await told(client)
        assert before.count("William Nace") >= 3
        document_id = (await history_of(configuration, "default", "files.ferry.md"))["versions"][0]["document_id"]
        assert await evidence(client, document_id) == 200
        done = await change_source(
            configuration, SourceChange(action, "files.ferry.md", "default", "on request", **CHANGES[change])
        )
        after = await told(client)
        assert "William Nace" not in after and "files.ferry.md" not in after
        assert await evidence(client, document_id) == 404
        entry = await app.state.live.system.services.ledger.entry(done["entry_id"])
        assert entry.leaf.kind is Kind.CONFIG
        [made] = (await history_of(configuration, "default", "files.ferry.md"))["changes"]
        assert (made["action"], made["who"], made["why"]) == (action, "local", "on request")
        assert made["from"]["label"] == "public" and made["t_ms"] == entry.leaf.t_ms
        if change == "label":
            loosened = SourceChange("label", "files.ferry.md", "default", access=AccessChange(label="public"))
            await change_source(configuration, loosened)
        elif change == "groups":
            open_again = SourceChange("label", "files.ferry.md", "default", access=AccessChange(groups=()))
            await change_source(configuration, open_again)
        else:
            await change_source(configuration, SourceChange("restore", "files.ferry.md", "default"))
        assert (await told(client)).count("William Nace") >= 3
        assert await evidence(client, document_id) == 200
    assert await consistent(configuration)


async def test_a_label_moves_old_versions_too(configuration: Configuration, tmp_path: Path) -> None:
    (tmp_path / "files" / "ferry.md").write_text(TEXT.replace("Nace", "Mace"))
    async with open_ingest(configuration) as ingest:
        await ingest.run([tmp_path / "files"], tenant="default", label="public")
    change = SourceChange("label", "files.ferry.md", "default", access=AccessChange(label="restricted"))
    await change_source(configuration, change)
    versions = (await history_of(configuration, "default", "files.ferry.md"))["versions"]
    assert [(v["lifecycle"], v["label"]) for v in versions] == [("superseded", "restricted"), ("active", "restricted")]
    named = SourceChange("restore", "files.ferry.md", "default", document_id=versions[0]["document_id"])
    await change_source(configuration, named)
    again = (await history_of(configuration, "default", "files.ferry.md"))["versions"]
    assert [v["lifecycle"] for v in again] == ["active", "superseded"]
    assert await consistent(configuration)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (SourceChange("withdraw", "none", "default"), NoSuchThing),
        (SourceChange("withdraw", "files.ferry.md", "other"), NoSuchThing),
        (SourceChange("supersede", "files.ferry.md", "default", by="none"), NoSuchThing),
        (SourceChange("label", "files.ferry.md", "default", access=AccessChange(label="secret")), ManifestError),
        (SourceChange("label", "files.ferry.md", "default", access=AccessChange(handling=("odd",))), ManifestError),
        (SourceChange("restore", "files.ferry.md", "default"), SourceConflict),
        (SourceChange("restore", "files.ferry.md", "default", document_id="none"), SourceConflict),
    ],
)
async def test_what_cannot_be_changed_changes_and_records_nothing(
    configuration: Configuration, change: SourceChange, error: type[Exception]
) -> None:
    before = await history_of(configuration, "default", "files.ferry.md")
    with pytest.raises(error):
        await change_source(configuration, change)
    assert await history_of(configuration, "default", "files.ferry.md") == before


def test_the_command_lists_changes_and_tells_the_history(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cli, home = command_line(capsys, monkeypatch), tmp_path / "home"
    (tmp_path / "ferry.md").write_text(TEXT)
    (tmp_path / "report.xyz").write_bytes(b"PK")
    assert cli("ingest", tmp_path / "ferry.md", "--label", "public", "--home", home)[0] == 0
    code, out, _ = cli("ingest", tmp_path / "report.xyz", "--label", "public", "--home", home)
    assert code == 1 and "files of this kind are not read" in out
    assert "ferry.md  active  public" in cli("source", "list", "--home", home)[1]
    assert cli("source", "label", "ferry.md", "internal", "--why", "a request", "--home", home)[0] == 0
    assert "internal" in cli("source", "show", "ferry.md", "--home", home)[1]
    assert cli("source", "withdraw", "ferry.md", "--home", home)[0] == 0
    told = json.loads(cli("source", "history", "ferry.md", "--home", home, "--json")[1])
    assert [c["action"] for c in told["changes"]] == ["label", "withdraw"]
    assert [v["lifecycle"] for v in told["versions"]] == ["withdrawn"]
    assert cli("source", "restore", "ferry.md", "--home", home)[0] == 0
    assert cli("source", "restore", "ferry.md", "--home", home)[0] == 5
    assert cli("source", "show", "none", "--home", home)[0] == 3
    assert cli("source", "label", "ferry.md", "--home", home)[0] == 2
    assert cli("source", "erase", "ferry.md", "--basis", "a request", "--home", home)[0] == 0
    assert "erased" in cli("source", "list", "--home", home)[1]


def test_a_folder_is_synchronised_and_the_plan_is_shown_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cli, home, files = command_line(capsys, monkeypatch), tmp_path / "home", tmp_path / "files"
    files.mkdir()
    for name, text in {"a.md": TEXT, "b.md": OTHER, "c.md": "Words that go.\n", "d.md": "Words that move.\n"}.items():
        (files / name).write_text(text)
    options = ("--label", "public", "--home", home)
    assert cli("ingest", files, "--sync", *options)[0] == 0
    (files / "b.md").write_text(OTHER + "And more.\n")
    (files / "c.md").unlink()
    (files / "d.md").rename(files / "moved.md")
    (files / "e.md").write_text("New words.\n")
    code, out, _ = cli("ingest", files, "--sync", "--dry-run", *options)
    assert (code, out.split("\n")) == (
        0,
        ["add e.md", "change b.md", "change moved.md", "withdraw files.c.md", "1 unchanged", ""],
    )
    assert "files.c.md  active" in cli("source", "list", "--home", home)[1]
    told = json.loads(cli("ingest", files, "--sync", *options, "--json")[1])
    assert told["withdrawn"] == ["files.c.md"]
    listed = cli("source", "list", "--state", "active", "--home", home, "--json")[1]
    assert [each["source_id"] for each in json.loads(listed)] == [
        "files.a.md",
        "files.b.md",
        "files.d.md",
        "files.e.md",
    ]
    [change] = json.loads(cli("source", "history", "files.c.md", "--home", home, "--json")[1])["changes"]
    assert (change["action"], change["why"]) == ("withdraw", "its file no longer exists")
    assert cli("ingest", tmp_path / "none", "--sync", *options)[0] == 2
    assert cli("ingest", files, tmp_path, "--sync", *options)[0] == 2
    assert cli("ingest", files, "--dry-run", *options)[0] == 2
    assert len(json.loads(cli("source", "list", "--state", "active", "--home", home, "--json")[1])) == 4


@pytest.mark.parametrize("verify", [False, True])
async def test_an_ingest_under_the_old_label_keeps_the_new_one_and_says_so(
    configuration: Configuration, tmp_path: Path, verify: bool
) -> None:
    change = SourceChange("label", "files.ferry.md", "default", access=AccessChange(label="restricted"))
    await change_source(configuration, change)
    async with open_ingest(configuration) as ingest:
        report = await ingest.run([tmp_path / "files"], tenant="default", label="public", verify=verify)
    assert [(row.state, row.error_code) for row in report.files] == [("skipped", NOTE), ("skipped", None)]
    assert not report.failed and not report.cut
    (version,) = (await history_of(configuration, "default", "files.ferry.md"))["versions"]
    assert version["label"] == "restricted"
