"""The log as C2SP lays it out, over HTTP: strangers verify hashes, the log's auditor reads the leaves."""

from __future__ import annotations

import base64
import json
from typing import Any

import httpx
import pytest

from ledger.merkle.tiles import tile_path, tiles_of
from ledger.notes.note import parse_checkpoint_text, parse_note, parse_vkey
from ledger.proofs.folder import verify_folder
from ledger.proofs.receipt import verify_receipt
from tests.api_world import POPULATION

pytestmark = pytest.mark.asyncio(loop_scope="session")
BASE = "/api/v1/ledger"


async def asked(client: httpx.AsyncClient) -> dict[str, Any]:
    body: dict[str, Any] = (await client.post("/api/v1/ai/query", json={"question": POPULATION})).json()
    await client.get(body["provenance"]["receipt"])  # waits for a checkpoint
    return body


async def size_of(client: httpx.AsyncClient) -> int:
    return parse_checkpoint_text(parse_note((await client.get(f"{BASE}/checkpoint")).text).text)[1].size


async def test_the_whole_log_verifies_from_what_is_served(connect: Any) -> None:
    async with connect("viewer") as viewer, connect("log-auditor") as auditor, connect(address="203.0.113.9") as afar:
        await asked(viewer)
        checkpoint = (await afar.get(f"{BASE}/checkpoint")).content
        size = parse_checkpoint_text(parse_note(checkpoint.decode()).text)[1].size
        files = {"checkpoint": checkpoint}
        for tile in tiles_of(size):
            path = tile_path(tile)
            response = await afar.get(f"{BASE}/{path}")
            assert response.headers["content-type"] == "application/octet-stream"
            assert "immutable" in response.headers["cache-control"]
            files[path] = response.content
            if tile.level == 0:
                path = tile_path(tile._replace(level=None))
                response = await auditor.get(f"{BASE}/{path}")
                assert response.headers["content-encoding"] == "gzip"
                assert response.headers["cache-control"].startswith("private")
                files[path] = response.content
        key = parse_vkey((await afar.get(f"{BASE}/vkey")).text.removesuffix("\n"))
    report = verify_folder(files.get, keys=[key])
    assert (report.problems, report.head.size) == ((), size)
    assert report.witnessed is None


async def test_entry_bundles_need_the_log_auditors_key(connect: Any) -> None:
    async with connect("viewer") as viewer, connect("stranger") as stranger:
        await asked(viewer)
        await asked(stranger)  # two tenants are in the first bundle now
        size = await size_of(viewer)
        path = f"{BASE}/" + tile_path(next(iter(tiles_of(min(size, 255))))._replace(level=None))
        for name, address, status in (
            (None, "127.0.0.1", 403),
            (None, "203.0.113.9", 401),
            ("viewer", "127.0.0.1", 403),
            ("operator", "127.0.0.1", 403),
            ("auditor", "127.0.0.1", 403),
            ("stranger", "127.0.0.1", 403),
            ("log-auditor", "203.0.113.9", 200),
        ):
            async with connect(name, address=address) as client:
                response = await client.get(path)
                assert response.status_code == status, (name, response.text)


@pytest.mark.parametrize(
    "path",
    [
        "0/000.p/0",
        "0/000.p/256",
        "0/x000/000",
        "00/000",
        "0/1",
        "64/000",
        "0/999",
        "0/000.p/01",
        "9/000.p/1",
        "0/-01",
        "",
    ],
)
@pytest.mark.parametrize("level", ["", "entries/"])
async def test_no_such_tile(connect: Any, path: str, level: str) -> None:
    async with connect("log-auditor") as client:
        path = path if not level else path.partition("/")[2]
        response = await client.get(f"{BASE}/tile/{level}{path}")
    if level and path in ("000.p/1",):
        assert response.status_code == 200
        return
    assert (response.status_code, response.json()["error"]["code"]) == (404, "NOT_FOUND")


async def test_a_tile_beyond_the_checkpoint_is_not_there(connect: Any) -> None:
    async with connect("viewer") as client:
        await asked(client)
        size = await size_of(client)
        assert size < 255
        assert (await client.get(f"{BASE}/tile/0/000.p/{size}")).status_code == 200
        assert (await client.get(f"{BASE}/tile/0/000.p/{size + 1}")).status_code == 404
        assert (await client.get(f"{BASE}/tile/0/000")).status_code == 404


async def test_the_checkpoint_that_an_entry_had_seen(connect: Any) -> None:
    async with connect("viewer") as client:
        await asked(client)
        body = await asked(client)
        vkey = (await client.get(f"{BASE}/vkey")).text.strip()
        verified = verify_receipt((await client.get(body["provenance"]["receipt"])).text, vkey=vkey)
        seen = verified.leaf.seen
        assert seen.size > 0
        checkpoint = (await client.get(f"{BASE}/checkpoints/{seen.size}")).text
        assert parse_checkpoint_text(parse_note(checkpoint).text)[1] == seen
        assert (await client.get(f"{BASE}/vkeys")).text == vkey + "\n"
        assert (await client.get(f"{BASE}/checkpoints/999999")).status_code == 404
        assert (await client.get(f"{BASE}/checkpoints/-1")).status_code == 422


async def test_one_cited_passage_is_proved_without_the_others(connect: Any) -> None:
    async with connect("viewer") as client:
        body = await asked(client)
        number = next(iter(body["citations"]))
        link = body["provenance"]["receipt"]
        text = (await client.get(link, params={"disclose": f"sources/{number}"})).text
        vkey = (await client.get(f"{BASE}/vkey")).text.strip()
    verified = verify_receipt(text, vkey=vkey)
    assert sorted(verified.parts) == ["sources"]
    assert list(verified.sources) == [int(number)]
    assert json.loads(verified.sources[int(number)])["index"] == int(number)
    extra = json.loads(base64.b64decode(text.split("\n")[1].removeprefix("extra ")))
    assert [item["name"] for item in extra["disclosures"]] == ["sources", f"sources/{number}"]


@pytest.mark.parametrize("name", ["candidates", "bundle", "prov", "policy.answer", "sources/99", "replay"])
async def test_an_asker_discloses_no_more_than_may_be_read(connect: Any, name: str) -> None:
    async with connect("viewer") as client:
        link = (await asked(client))["provenance"]["receipt"]
        assert (await client.get(link, params={"disclose": name})).status_code == 404


@pytest.mark.parametrize("query", ["disclose=Answer", "disclose=sources/0", "disclose=../x", "size=0", "size=x"])
async def test_receipts_that_cannot_be(connect: Any, query: str) -> None:
    async with connect("viewer") as client:
        link = (await asked(client))["provenance"]["receipt"]
        assert (await client.get(f"{link}?{query}")).status_code == 422


async def test_a_receipt_against_a_later_checkpoint(connect: Any) -> None:
    async with connect("viewer") as client:
        link = (await asked(client))["provenance"]["receipt"]
        await asked(client)
        size = await size_of(client)
        vkey = (await client.get(f"{BASE}/vkey")).text.strip()
        assert verify_receipt((await client.get(f"{link}?size={size}")).text, vkey=vkey).size == size
        assert (await client.get(f"{link}?size=1")).status_code == 404
