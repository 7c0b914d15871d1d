"""The corpus for its curators: inside their own scope, with the fate of every file, and no trace of what is beyond it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from asgi_lifespan import LifespanManager

from api.home.configuration import load
from api.http.app import create_app
from api.wiring import key_store, open_ingest
from tests.api.conftest import Connect

pytestmark = pytest.mark.asyncio(loop_scope="session")
CHANGING = re.compile(r'"(?:request_id|run_id)":"[^"]*"|"(?:stored_ms|updated_ms)":\d+|\d{4}-\d\d-\d\dT[0-9:.+]+')
SOURCE = """
[[source]]
path = "{name}"
source_id = "{id}"
title = "{name}"
license = "CC0-1.0"
collection = "{collection}"
label = "{label}"
"""
FILES = {
    "mill.md": ("mills", "public", "# The mill\n\nCyrus Holliday founded the mill at Topeka in 1858.\n"),
    "ferry.md": ("mills", "internal", "# The ferry\n\nWilliam Nace kept the ferry at Lecompton in 1856.\n"),
}
HIDDEN = {
    "a-vault.md": ("mills", "restricted", "# The vault\n\nEsther Long kept the vault of the mill.\n"),
    "hoard.md": ("hoards", "restricted", "# The hoard\n\nIt lay below the ferry.\n"),
    "broken.pdf": ("mills", "public", "no document at all"),
}


@asynccontextmanager
async def home(folder: Path, files: dict[str, tuple[str, str, str]]) -> AsyncIterator[dict[str, httpx.AsyncClient]]:
    """A home that took in these files in one run; a client for each role."""
    configuration = load({}, home=folder / "home")
    (folder / "corpus").mkdir(parents=True)
    manifest = []
    for name, (collection, label, text) in sorted(files.items()):
        (folder / "corpus" / name).write_text(text, "utf-8")
        manifest.append(
            SOURCE.format(name=name, id=name.strip("=").partition(".")[0], collection=collection, label=label)
        )
    (folder / "corpus" / "manifest.toml").write_text("".join(manifest), "utf-8")
    async with open_ingest(configuration) as ingest:
        await ingest.run([], tenant="default", manifest=folder / "corpus" / "manifest.toml")
    keys = key_store(configuration)
    tokens = {
        role: keys.create(name=role, tenant="default", roles=(role,), groups=())[1] for role in ("maintainer", "admin")
    }
    app = create_app(configuration)
    async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
        transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 50_000))
        yield {
            role: httpx.AsyncClient(
                transport=transport, base_url="http://127.0.0.1", headers={"authorization": f"Bearer {token}"}
            )
            for role, token in tokens.items()
        }


async def test_what_a_curator_may_not_see_changes_no_byte(tmp_path: Path) -> None:
    told = []
    for name, files in (("without", FILES), ("with", FILES | HIDDEN)):
        async with home(tmp_path / name, files) as clients:
            replies = [await clients["maintainer"].get(path) for path in ("/api/v1/corpus", "/corpus.csv", "/corpus")]
            assert [each.status_code for each in replies] == [200, 200, 200]
            told.append([CHANGING.sub("", each.text).replace(str(tmp_path / name), "") for each in replies])
    assert told[0] == told[1]
    assert "ferry.md" in told[0][0]


async def test_who_is_cleared_for_everything_learns_the_fate_of_every_file(tmp_path: Path) -> None:
    async with home(tmp_path, FILES | HIDDEN) as clients:
        corpus = (await clients["admin"].get("/api/v1/corpus")).json()
    fates = {Path(each["path"]).name: each for run in corpus["runs"] for each in run["files"]}
    assert {name: each["state"] for name, each in fates.items()} == {
        **dict.fromkeys(FILES, "done"),
        **dict.fromkeys(HIDDEN, "done"),
        "broken.pdf": "failed",
    }
    assert fates["broken.pdf"]["error_code"]
    assert fates["broken.pdf"]["document_id"] is None
    assert [each["name"] for each in corpus["collections"]] == ["hoards", "mills"]
    mills = corpus["collections"][1]
    versions = [each for each in corpus["versions"] if each["collection"] == "mills"]
    assert mills["sources"] == len(versions) == 3
    assert mills["records"] == {"passage": sum(each["records"]["passage"] for each in versions)}
    seen = {(each["collection"], each["label"]): each["roles"] for each in corpus["classes"]}
    assert seen["mills", "restricted"] == ["admin"]
    assert "maintainer" in seen["mills", "internal"]
    assert "public_viewer" not in seen["mills", "internal"]
    assert "public_viewer" in seen["mills", "public"]


async def test_the_table_has_a_row_for_each_version(tmp_path: Path) -> None:
    async with home(tmp_path, FILES | {"=race.md": ("mills", "public", "# The mill\n\nIt was new.\n")}) as clients:
        whole = (await clients["admin"].get("/api/v1/corpus")).json()
        table = await clients["admin"].get("/corpus.csv")
        head = await clients["admin"].head("/corpus.csv")
    assert table.headers["content-type"] == "text/csv; charset=utf-8; header=present"
    assert (head.status_code, head.content) == (200, b"")
    rows = list(csv.DictReader(io.StringIO(table.text)))
    assert [each["document_id"] for each in rows] == [each["document_id"] for each in whole["versions"]]
    assert [each["label"] for each in rows] == [each["label"] for each in whole["versions"]]
    assert "'=race.md" in [each["title"] for each in rows]


@pytest.mark.parametrize("path", ["/api/v1/corpus", "/corpus.json", "/corpus.csv"])
@pytest.mark.parametrize("key", [None, "viewer", "auditor"])
async def test_it_needs_the_capability(connect: Connect, path: str, key: str | None) -> None:
    assert (await connect(key).get(path)).status_code == 403
    assert (await connect(address="192.0.2.1", host="example.org").get(path)).status_code == 401


async def test_another_form_is_refused(connect: Connect) -> None:
    assert (await connect().get("/api/v1/corpus", params={"format": "xml"})).status_code == 422
