"""Documents that are sent over HTTP: forms, parts, jobs, their progress; whose they are, and what they cannot do."""

from __future__ import annotations

import asyncio
import base64
import json
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from asgi_lifespan import LifespanManager
from fastapi import FastAPI

from api.home.configuration import load
from api.http.app import create_app
from api.jobs.uploads import Uploads
from api.wiring import key_store
from tests.api_world import TEXTS, World, make_world

pytestmark = pytest.mark.asyncio(loop_scope="module")
DOCUMENTS, UPLOADS, JOBS = "/api/v1/documents", "/api/v1/uploads", "/api/v1/jobs"
MILL = b"# The mill\n\nJohanna Pratt built the mill at Alma in 1869.\n"
LIMITS = {"EXHIBIT_UPLOADS__FILE_BYTES": "5000", "EXHIBIT_UPLOADS__REQUEST_BYTES": "20000"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sent_world(tmp_path_factory: pytest.TempPathFactory) -> World:
    world = await make_world(tmp_path_factory.mktemp("sent"))
    keys = key_store(world.configuration)
    made = {"curator": ("maintainer",), "sender": ("maintainer",), "chief": ("admin",)}
    tokens = {name: keys.create(name=name, tenant="default", roles=roles)[1] for name, roles in made.items()}
    return World(load(LIMITS, home=world.configuration.home), {**world.tokens, **tokens})


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sent_app(sent_world: World) -> AsyncIterator[FastAPI]:
    application = create_app(sent_world.configuration)
    async with LifespanManager(application, startup_timeout=60, shutdown_timeout=60):
        yield application


@pytest.fixture
def connected(sent_app: FastAPI, sent_world: World) -> Any:
    def make(key: str | None = None, **headers: str) -> httpx.AsyncClient:
        credential = {} if key is None else {"authorization": f"Bearer {sent_world.tokens[key]}"}
        transport = httpx.ASGITransport(app=sent_app, client=("127.0.0.1", 50_000), raise_app_exceptions=False)
        return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=credential | headers)

    return make


@pytest.fixture
def kept(sent_world: World) -> Uploads:
    return Uploads(sent_world.configuration.home)


async def ended(client: httpx.AsyncClient, job_id: str) -> dict[str, Any]:
    for _ in range(400):
        told: dict[str, Any] = (await client.get(f"{JOBS}/{job_id}")).json()
        if told["state"] in ("done", "failed", "cancelled"):
            return told
        await asyncio.sleep(0.05)
    raise AssertionError(told)


async def sent(client: httpx.AsyncClient, *files: tuple[str, bytes], **fields: str) -> httpx.Response:
    data = {"label": "public"} | fields
    return await client.post(DOCUMENTS, data=data, files=[("file", each) for each in files])


async def asked(client: httpx.AsyncClient, question: str) -> dict[str, Any]:
    told: dict[str, Any] = (await client.post("/api/v1/ai/query", json={"question": question})).json()
    return told


async def test_what_is_sent_answers_and_each_file_has_its_fate(connected: Any, kept: Uploads) -> None:
    async with connected("sender") as client:
        response = await sent(client, ("mill.md", MILL), ("x.bin", b"\0"), ("bad.csv", b"a,b\n\xff\xfe\xfd\xfc\n"))
        assert response.status_code == 202, response.text
        first = response.json()
        assert response.headers["location"] == f"{JOBS}/{first['job_id']}"
        told = await ended(client, first["job_id"])
        fates = {each["name"]: (each["state"], each["error_code"]) for each in told["files"]}
        assert told["state"] == "done"
        assert fates["mill.md"] == ("done", None)
        assert fates["x.bin"] == ("failed", "VALIDATION_FAILED")
        assert fates["bad.csv"][0] == "failed"
        answer = await asked(client, "Who built the mill at Alma?")
        assert "Johanna Pratt" in answer["answer"]
        assert not list(kept._root.glob("*/*/mill.md"))
        left = list(kept._root.glob("kept/*/x.bin"))
        assert [stat.S_IMODE(each.stat().st_mode) for each in left] == [0o600]
        assert stat.S_IMODE(left[0].parent.stat().st_mode) == 0o700
        again = await client.post(f"{JOBS}/{first['job_id']}/retry", json={})
        assert again.status_code == 202
        assert {each["name"] for each in again.json()["files"]} == {"x.bin", "bad.csv"}
        assert (await ended(client, again.json()["job_id"]))["file_count"] == 2
        assert (await client.post(f"{JOBS}/{first['job_id']}/retry", json={})).status_code == 404
        assert (await client.post(f"{JOBS}/{first['job_id']}/cancel", json={})).status_code == 409
    async with connected("log-auditor") as auditor:
        assert (await auditor.get(f"/api/v1/ledger/entries/{told['entry_id']}")).status_code in (200, 404)


async def test_a_file_that_is_sent_again_takes_the_place_of_the_senders_own(connected: Any) -> None:
    async with connected("sender") as client:
        for text in (b"The granary of Alma burned in 1871.", b"The granary of Alma burned in 1872."):
            job = (await sent(client, ("granary.txt", text))).json()
            [file] = (await ended(client, job["job_id"]))["files"]
            assert file["state"] == "done"
        answer = await asked(client, "When did the granary of Alma burn?")
        assert "1872" in answer["answer"]
        assert "1871" not in answer["answer"]


FORM = {"label": "public"}
REFUSED: dict[str, tuple[dict[str, Any], int]] = {
    "no label": ({"data": {}}, 422),
    "an unknown label": ({"data": {"label": "secret"}}, 422),
    "an empty label": ({"data": {"label": ""}}, 422),
    "two labels": ({"data": {"label": ["public", "internal"]}}, 422),
    "a label above the clearance": ({"data": {"label": "restricted"}}, 403),
    "a group of others": ({"data": FORM | {"group": "archivists"}}, 403),
    "a collection that cannot be": ({"data": FORM | {"collection": "../x"}}, 422),
    "an unknown field": ({"data": FORM | {"source_id": "ferry"}}, 422),
    "no file": ({"files": [("file", (None, b""))]}, 422),
    "a file of another name": ({"files": [("document", ("a.md", MILL))]}, 422),
    "a hidden name": ({"files": [("file", (".env", MILL))]}, 422),
    "the name of a folder": ({"files": [("file", ("..", MILL))]}, 422),
    "a name that is too long": ({"files": [("file", ("a" * 300 + ".md", MILL))]}, 422),
    "one name twice": ({"files": [("file", ("a.md", MILL)), ("file", ("sub/a.md", MILL))]}, 422),
    "a large file": ({"files": [("file", ("a.md", b"a" * 5001))]}, 413),
    "a large form": ({"files": [("file", (f"{n}.md", b"a" * 4900)) for n in range(5)]}, 413),
    "many files": ({"files": [("file", (f"{n}.md", b"a")) for n in range(101)]}, 422),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_nothing_is_kept_of_what_is_refused(connected: Any, kept: Uploads, case: str) -> None:
    changes, status = REFUSED[case]
    request = {"data": FORM, "files": [("file", ("a.md", MILL))]} | changes
    before = set(kept._root.glob("*/*"))
    async with connected("sender") as client:
        response = await client.post(DOCUMENTS, **request)
        assert response.status_code == status, response.text
        assert set(response.json()["error"]) >= {"code", "message", "request_id"}
    assert set(kept._root.glob("*/*")) == before


BOUNDARY = {"content-type": "multipart/form-data; boundary=X"}
HEAD = b'--X\r\ncontent-disposition: form-data; name="label"\r\n\r\npublic\r\n'
FILE = b'--X\r\ncontent-disposition: form-data; name="file"; filename="a.md"\r\n\r\nwords\r\n'
MALFORMED: dict[str, tuple[bytes, dict[str, str], int]] = {
    "JSON": (b"{}", {"content-type": "application/json"}, 415),
    "no boundary": (HEAD, {"content-type": "multipart/form-data"}, 415),
    "an empty body": (b"", BOUNDARY, 400),
    "a form that is cut off": (HEAD + FILE, BOUNDARY, 400),
    "another boundary": (HEAD.replace(b"--X", b"--Y") + b"--Y--\r\n", BOUNDARY, 400),
    "a part without a name": (HEAD.replace(b'; name="label"', b"") + FILE + b"--X--\r\n", BOUNDARY, 400),
    "a field after a file": (FILE + HEAD + b"--X--\r\n", BOUNDARY, 422),
    "a name that is not UTF-8": (HEAD + FILE.replace(b"a.md", b"\xff.md") + b"--X--\r\n", BOUNDARY, 400),
    "a label that is not UTF-8": (HEAD.replace(b"public", b"\xff") + FILE + b"--X--\r\n", BOUNDARY, 422),
    "a header without end": (b"--X\r\n" + b"a" * 9_000 + b": b\r\n\r\n", BOUNDARY, 400),
}


@pytest.mark.parametrize("case", MALFORMED)
async def test_a_form_that_is_none_is_refused(connected: Any, kept: Uploads, case: str) -> None:
    body, headers, status = MALFORMED[case]
    before = set(kept._root.glob("*/*"))
    async with connected("sender") as client:
        response = await client.post(DOCUMENTS, content=body, headers=headers)
    assert response.status_code == status, response.text
    assert set(kept._root.glob("*/*")) == before


@pytest.mark.parametrize("key", [None, "viewer", "contributor", "auditor", "author", "operator"])
async def test_without_the_capability_nothing_is_taken(connected: Any, key: str | None) -> None:
    async with connected(key) as client:
        assert (await sent(client, ("a.md", MILL))).status_code == 403
        assert (await client.post(UPLOADS, headers=creation("a.md", 3))).status_code == 403
        assert (await client.get(f"{DOCUMENTS}/terms")).status_code == 403
        assert (await client.get(JOBS)).status_code == 403


@pytest.mark.parametrize("headers", [{"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}])
async def test_a_page_of_another_origin_sends_nothing(connected: Any, headers: dict[str, str]) -> None:
    async with connected("sender", **headers) as client:
        assert (await sent(client, ("a.md", MILL))).status_code == 403
        assert (await client.post(UPLOADS, headers=creation("a.md", 3))).status_code == 403


async def test_the_terms_say_what_policy_lets_each_caller_do(connected: Any) -> None:
    for key, labels in {"sender": ["public", "internal", "confidential"], "chief": None}.items():
        async with connected(key) as client:
            told = (await client.get(f"{DOCUMENTS}/terms")).json()
            assert told["labels"] == (labels or ["public", "internal", "confidential", "restricted"])
            assert ".md" in told["kinds"]
            assert told["file_bytes"] == 5000


def creation(name: str, length: object, **more: str) -> dict[str, str]:
    pairs = {"filename": name, "label": "public"} | more
    told = ",".join(f"{key} {base64.b64encode(value.encode()).decode()}" for key, value in pairs.items())
    return {"upload-length": str(length), "upload-metadata": told, "tus-resumable": "1.0.0"}


def part(offset: object) -> dict[str, str]:
    return {"content-type": "application/offset+octet-stream", "upload-offset": str(offset), "tus-resumable": "1.0.0"}


async def test_a_file_in_parts_goes_on_where_it_was(connected: Any) -> None:
    text = b"The tannery of Alma closed in 1874."
    async with connected("sender") as client:
        made = await client.post(UPLOADS, headers=creation("tannery.txt", len(text)))
        assert (made.status_code, made.headers["tus-resumable"]) == (201, "1.0.0")
        place = made.headers["location"]
        assert (await client.patch(place, content=text[:10], headers=part(0))).headers["upload-offset"] == "10"
        assert (await client.patch(place, content=text, headers=part(0))).status_code == 409
        assert (await client.patch(place, content=text, headers=part(10))).status_code == 413
        assert (await client.patch(place, content=text, headers=part("x"))).status_code == 422
        wrong = part(10) | {"content-type": "text/plain"}
        assert (await client.patch(place, content=text, headers=wrong)).status_code == 415
        assert (await client.patch(place, headers=part(10) | {"tus-resumable": "0.2.2"})).status_code == 400
        head = await client.head(place)
        assert (head.headers["upload-offset"], head.headers["upload-length"]) == ("10", str(len(text)))
        async with connected("curator") as other:
            assert (await other.head(place)).status_code == 404
            assert (await other.patch(place, content=text[10:], headers=part(10))).status_code == 404
            assert (await other.delete(place)).status_code == 404
        last = await client.patch(place, content=text[10:], headers=part(10))
        assert (last.status_code, last.headers["upload-offset"]) == (204, str(len(text)))
        told = await ended(client, place.rpartition("/")[2])
        assert [each["state"] for each in told["files"]] == ["done"]
        assert "1874" in (await asked(client, "When did the tannery of Alma close?"))["answer"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (creation("a.md", 5001), 413),
        (creation("a.md", -1), 422),
        (creation("a.md", "9" * 30), 422),
        (creation("", 3), 422),
        (creation("..", 3), 422),
        (creation("a.md", 3, label="restricted"), 403),
        (creation("a.md", 3, label="none"), 422),
        (creation("a.md", 3) | {"upload-metadata": "filename !!!"}, 422),
        (creation("a.md", 3) | {"upload-metadata": "filename YQ==,filename YQ=="}, 422),
        ({}, 422),
    ],
)
async def test_an_upload_that_may_not_be_is_not_begun(
    connected: Any, kept: Uploads, headers: dict[str, str], status: int
) -> None:
    before = set(kept._root.glob("*/*"))
    async with connected("sender") as client:
        assert (await client.post(UPLOADS, headers=headers)).status_code == status
    assert set(kept._root.glob("*/*")) == before


async def test_an_upload_that_is_given_up_is_gone(connected: Any, kept: Uploads) -> None:
    async with connected("sender") as client:
        place = (await client.post(UPLOADS, headers=creation("a.md", 30))).headers["location"]
        assert (await client.patch(place, content=b"abc", headers=part(0))).status_code == 204
        assert (await client.delete(place)).status_code == 204
        assert (await client.head(place)).status_code == 404
        assert (await client.delete(place)).status_code == 404
        assert (await client.get(f"{JOBS}/{place.rpartition('/')[2]}")).json()["state"] == "cancelled"
    assert not list(kept._root.glob(f"*/{place.rpartition('/')[2]}"))


async def test_whoever_looks_or_sends_again_while_an_upload_becomes_whole_meets_no_fault(connected: Any) -> None:
    async with connected("sender") as client:

        async def after(seconds: float, place: str, size: int) -> int:
            await asyncio.sleep(seconds)
            if size:
                return (await client.patch(place, content=b"", headers=part(size))).status_code
            return (await client.head(place, headers={"tus-resumable": "1.0.0"})).status_code

        jobs = []
        for number in range(12):
            text = f"The dam of Alma was built in {1850 + number}.".encode()
            made = await client.post(UPLOADS, headers=creation(f"dam-{number}.txt", len(text)))
            place = made.headers["location"]
            jobs.append(place.rpartition("/")[2])
            others = [after(0.004 * n, place, size) for n in range(6) for size in (0, len(text), 0)]
            first, *statuses = await asyncio.gather(client.patch(place, content=text, headers=part(0)), *others)
            assert set(statuses) <= {200, 204, 404, 409}, statuses
            if first.status_code == 409:  # another one held the file
                first = await client.patch(place, content=text, headers=part(0))
            assert first.status_code == 204
        told = [await ended(client, job) for job in jobs]
        assert {each["state"] for each in told} == {"done"}


async def test_a_caller_sees_its_own_jobs_and_a_curator_those_inside_its_scope(connected: Any) -> None:
    async with connected("chief") as chief, connected("curator") as curator, connected("stranger") as stranger:
        high = (await sent(chief, ("plan.txt", b"The plan of the vault."), label="restricted")).json()["job_id"]
        low = (await sent(chief, ("note.txt", b"A note on the well of Alma."), label="internal")).json()["job_id"]
        await ended(chief, high)
        await ended(chief, low)
        assert (await curator.get(f"{JOBS}/{low}")).status_code == 200
        for path in (f"{JOBS}/{high}", f"{JOBS}/{high}/events"):
            assert (await curator.get(path)).status_code == 404
            assert (await stranger.get(path)).status_code == 404
        assert (await curator.post(f"{JOBS}/{low}/cancel", json={})).status_code == 404
        listed = [
            each["job_id"] for each in (await curator.get(JOBS, params={"whose": "all", "limit": 1})).json()["jobs"]
        ]
        assert listed == [low]
        assert (await curator.get(JOBS)).json() == {"jobs": []}
        assert (await stranger.get(JOBS, params={"whose": "all"})).json() == {"jobs": []}
        assert (await curator.get(f"{JOBS}/not-an-id")).status_code == 422
        assert (await curator.get(f"{JOBS}/00000000-0000-0000-0000-000000000000")).status_code == 404


async def test_the_same_bytes_and_name_as_a_hidden_paper_meet_nothing(connected: Any) -> None:
    """The sender is outside the group of the diary: what it is told of the diary's own bytes and name is what it is told
    of bytes and a name that nobody has."""
    async with connected("sender") as client, connected("archivist") as archivist:
        before = await asked(archivist, "Who wrote the diary of the flood?")
        told = []
        for name, data in (
            ("diary.md", TEXTS["diary.md"].encode()),
            ("unknown.md", b"# The log\n\nNobody has this.\n"),
        ):
            job = (await sent(client, (name, data), collection="archive", label="confidential")).json()
            [file] = (await ended(client, job["job_id"]))["files"]
            told.append({key: file[key] for key in ("state", "stage", "passages", "error_code", "error_message")})
        assert told[0] == told[1]
        after = await asked(archivist, "Who wrote the diary of the flood?")
        assert "Esther Long" in before["answer"] and "Esther Long" in after["answer"]


def events_of(text: str) -> list[tuple[str, str, dict[str, Any]]]:
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
        if "event" in lines:
            found.append((lines["event"], lines["id"], json.loads(lines["data"])))
    return found


async def test_progress_is_told_to_the_end_and_again_from_where_a_reader_was(connected: Any) -> None:
    async with connected("sender") as client:
        job = (await sent(client, ("a.txt", b"The kiln of Alma."), ("b.txt", b"The forge of Alma."))).json()["job_id"]
        whole = events_of((await client.get(f"{JOBS}/{job}/events")).text)
        assert (whole[-1][0], whole[-1][2]["state"]) == ("job", "done")
        last = {data["name"]: data["state"] for name, _, data in whole if name == "file"}
        assert last == {"a.txt": "done", "b.txt": "done"}
        for cut in range(len(whole)):
            again = events_of((await client.get(f"{JOBS}/{job}/events", headers={"last-event-id": whole[cut][1]})).text)
            assert again[-1][2]["state"] == "done"
        assert (await client.get(f"{JOBS}/{job}/events", headers={"last-event-id": "x"})).status_code == 422


async def test_a_job_that_waits_is_ended_at_once(tmp_path: Path) -> None:
    world = await make_world(tmp_path)
    token = key_store(world.configuration).create(name="s", tenant="default", roles=("maintainer",))[1]
    idle = load({"EXHIBIT_UPLOADS__WORK": "false"}, home=world.configuration.home)
    application = create_app(idle)
    async with LifespanManager(application, startup_timeout=60, shutdown_timeout=60):
        transport = httpx.ASGITransport(app=application, client=("127.0.0.1", 1))
        headers = {"authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers) as client:
            job = (await sent(client, ("a.md", MILL))).json()
            assert (job["state"], [each["state"] for each in job["files"]]) == ("queued", ["queued"])
            assert (await client.post(f"{JOBS}/{job['job_id']}/retry", json={})).status_code == 409
            told = (await client.post(f"{JOBS}/{job['job_id']}/cancel", json={})).json()
            assert (told["state"], told["cancelled"]) == ("cancelled", True)
            assert not list(Uploads(idle.home)._root.glob("*/*/*"))
