"""The pages and their files: what they load, what they forbid, and that nothing else is served."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import httpx
import pytest

from api.web.page import page, source_digest, style_policy
from tests.api.conftest import Connect
from tests.api_world import POPULATION

pytestmark = pytest.mark.asyncio(loop_scope="session")
ROOT = Path(__file__).parents[2]
WEB = ROOT / "api" / "web"
ENTRY = "01a2031f-1fc5-776c-bb33-2bf6a0c1861e"
PAGES = (
    "/",
    "/audit",
    f"/audit/{ENTRY}",
    "/audit/compare",
    "/audit/changes",
    "/policy",
    "/corpus",
    "/evidence/county-population@5f3a0714704a",
)
INLINE = re.compile(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|javascript:", re.IGNORECASE)


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_forbids_what_is_inline_and_what_is_elsewhere(client: httpx.AsyncClient, path: str) -> None:
    response = await client.get(path, headers={"accept": "text/html"})
    assert (response.status_code, response.headers["content-type"]) == (200, "text/html; charset=utf-8")
    policy = dict(each.strip().split(" ", 1) for each in response.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert "unsafe" not in response.headers["content-security-policy"]
    assert not INLINE.search(response.text)
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", response.text)


@pytest.mark.parametrize("path", [*PAGES, "/assets/site.css"])
async def test_head_is_get_without_a_body(client: httpx.AsyncClient, path: str) -> None:
    got, head = await client.get(path), await client.head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-type"] == got.headers["content-type"]


@pytest.mark.parametrize("path", PAGES)
async def test_everything_that_a_page_loads_is_there(client: httpx.AsyncClient, path: str) -> None:
    html = (await client.get(path)).text
    loaded = {*re.findall(r'(?:src|href)="(/assets/[^"]+)"', html)}
    assert any(each.endswith(".css") for each in loaded)
    seen: set[str] = set()
    while loaded:
        name = loaded.pop()
        seen.add(name)
        response = await client.get(name)
        assert response.status_code == 200, name
        if name.endswith(".js"):
            folder = name.rsplit("/", 1)[0]
            found = re.findall(r"""(?:from|import\()\s*["']([./][^"']+)["']|fetch\("(/assets/[^"]+)""", response.text)
            named = {one or two for one, two in found}
            loaded |= {each if each.startswith("/") else folder + each[1:] for each in named} - seen


@pytest.mark.parametrize("entry", ["nothing", ENTRY.upper(), ENTRY + "0", f"{ENTRY}.html"])
async def test_an_address_that_no_entry_can_have_is_not_found(client: httpx.AsyncClient, entry: str) -> None:
    assert (await client.get(f"/audit/{entry}")).status_code in {404, 422}


BROWSER = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/nowhere", 404, "NOT_FOUND"),
        ("/audit/nothing", 422, "VALIDATION_FAILED"),
        ("/api/v1/evidence/nothing@000000000000?row=1", 404, "NOT_FOUND"),
        ("/api/v1/ledger/entries", 403, "FORBIDDEN"),
        ("/api/v1/ai/query", 405, "METHOD_NOT_ALLOWED"),
        ("/%3Cscript%3Ealert(1)%3C/script%3E", 404, "NOT_FOUND"),
    ],
)
async def test_a_person_is_told_of_a_failure_in_a_page_and_a_program_in_json(
    client: httpx.AsyncClient, path: str, status: int, code: str
) -> None:
    page, other = await client.get(path, headers=BROWSER), await client.get(path)
    assert (page.status_code, other.status_code) == (status, status)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "accept" in page.headers["vary"].split(", ")
    assert other.json()["error"]["code"] == code
    assert code in page.text and other.json()["error"]["message"] in page.text
    assert page.headers["x-request-id"] in page.text
    assert not INLINE.search(page.text)
    assert page.headers["content-security-policy"] == (await client.get("/")).headers["content-security-policy"]
    assert {*other.headers} - {*page.headers} == set()


async def test_a_post_that_fails_is_told_in_json(client: httpx.AsyncClient) -> None:
    response = await client.post("/api/v1/ai/query", headers=BROWSER, json={"question": 1})
    assert response.json()["error"]["code"] == "VALIDATION_FAILED"


async def test_twins_are_the_api(connect: Connect) -> None:
    asker, auditor = connect("viewer"), connect("auditor")
    answer = (await asker.post("/api/v1/ai/query", json={"question": POPULATION})).json()
    entry = answer["provenance"]["entry_id"]
    asked = {"outcome": "ANSWER", "limit": "3"}
    one = await auditor.get("/audit.csv", params=asked)
    other = await auditor.get("/api/v1/ledger/entries", params=asked | {"format": "csv"})
    assert (one.status_code, one.content) == (200, other.content)
    assert one.headers["content-type"] == other.headers["content-type"]
    for twin in ("/audit.json", "/audit.csv"):
        head = await auditor.head(twin, params=asked)
        assert (head.status_code, head.content) == (200, b"")
    one = await asker.get(f"/audit/{entry}.json")
    assert one.json() == (await asker.get(f"/api/v1/ledger/entries/{entry}")).json()


@pytest.mark.parametrize("twin", ["/audit.json", "/audit.csv"])
async def test_twins_need_what_the_api_needs(connect: Connect, twin: str) -> None:
    assert (await connect().get(twin)).status_code == 403
    assert (await connect(address="192.0.2.1", host="example.org").get(twin)).status_code == 401
    assert (await connect("auditor").get(twin, params={"outcome": "lower"})).status_code == 422


async def test_an_entry_of_someone_else_is_not_found(connect: Connect) -> None:
    answer = (await connect("archivist").post("/api/v1/ai/query", json={"question": POPULATION})).json()
    assert (await connect("viewer").get(f"/audit/{answer['provenance']['entry_id']}.json")).status_code == 404


async def test_a_page_says_the_same_to_everyone(connect: Connect) -> None:
    pages = [(await connect(key).get("/")).text for key in (None, "viewer", "archivist", "stranger")]
    assert len(set(pages)) == 1


@pytest.mark.parametrize(
    "name",
    [
        "..%2fpage.py",
        "../page.py",
        "page.py",
        "vendor",
        "vendor/",
        "",
        "static/site.css",
        "vendor/manifest.json%00",
        "base.html.j2",
        "SITE.CSS",
        "vendor/../page.py",
    ],
)
async def test_nothing_else_is_served(client: httpx.AsyncClient, name: str) -> None:
    response = await client.get(f"/assets/{name}")
    assert (response.status_code, response.json()["error"]["code"]) == (404, "NOT_FOUND")


async def test_a_file_is_sent_again_only_when_it_changed(client: httpx.AsyncClient) -> None:
    first = await client.get("/assets/ask.js")
    again = await client.get("/assets/ask.js", headers={"if-none-match": first.headers["etag"]})
    other = await client.get("/assets/ask.js", headers={"if-none-match": '"another"'})
    assert (again.status_code, again.content, other.status_code) == (304, b"", 200)
    plain = await client.get("/assets/ask.js", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.content == first.content == (WEB / "static" / "ask.js").read_bytes()


async def test_the_first_load_is_small(client: httpx.AsyncClient) -> None:
    names = ["vendor/" + each.name for each in (WEB / "vendor").glob("*s") if each.suffix in {".mjs", ".css"}]
    names += [each.name for each in (WEB / "static").iterdir()]
    sent = 0
    for name in names:
        async with client.stream("GET", f"/assets/{name}", headers={"accept-encoding": "gzip"}) as response:
            assert response.status_code == 200, name
            sent += int(response.headers["content-length"])
    assert 300_000 < sent < 1_200_000


async def test_the_client_has_every_operation_and_type(client: httpx.AsyncClient) -> None:
    described = (await client.get("/openapi.json")).json()
    script, types = (await client.get("/client.js")).text, (await client.get("/client.d.ts")).text
    for path, offered in described["paths"].items():
        for method, operation in offered.items():
            assert f"  async {operation['operationId']}(" in script
            assert f"  {operation['operationId']}(" in types
            assert f"{method.upper()} {path} */" in types
            assert f'"{method.upper()}", `{path.replace("{", "${encodeURIComponent(").replace("}", ")}")}`' in script
    for name in described["components"]["schemas"]:
        assert f"export type {'ErrorFields' if name == 'Error' else name} = " in types, name
    named = {*re.findall(r"\b([A-Z][A-Za-z]+)\b", re.sub(r'"[^"\n]*"|/\*.*?\*/|//.*', "", types))}
    known = {*described["components"]["schemas"], "ErrorFields", "ExhibitError", "ExhibitClient", "RequestOptions"}
    assert named - known <= {
        "Error",
        "Promise",
        "Record",
        "Response",
        "AbortSignal",
        "ArrayBuffer",
        "ReadableStream",
    } | {
        "Uint",
        "ErrorDetail",
    }
    assert "unknown" not in re.findall(r"askQuestion\(.*", types)[0]


async def test_the_address_of_the_elements_leads_to_their_modules(client: httpx.AsyncClient) -> None:
    response = await client.get("/embed.js")
    [named] = re.findall(r'from "\./(assets/[^"]+)"', response.text)
    assert response.headers["content-type"].startswith("text/javascript")
    assert "exhibit-answer" in (await client.get(f"/{named}")).text


@pytest.mark.parametrize("folder", [WEB / "vendor", ROOT / "tests" / "browser" / "vendor"])
async def test_vendored_files_are_those_of_the_lock(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    lock = json.loads((ROOT / "deploy" / "web" / "package-lock.json").read_text("utf-8"))["packages"]
    assert {each.name for each in folder.iterdir()} == {*manifest, "manifest.json"}
    for name, told in manifest.items():
        package, version = told["package"].rsplit("@", 1)
        locked = lock[f"node_modules/{package}"]
        assert (locked["version"], locked["integrity"]) == (version, told["integrity"])
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == told["sha256"], name
    assert any("LICENSE" in name for name in manifest)


async def test_the_pages_of_one_file_name_their_script_and_style_by_digest() -> None:
    html = page("log.html.j2", scripts=("verify.js", "leaf.js", "log.js"), forms={})
    found = re.search(r'Content-Security-Policy" content="([^"]+)"', html)
    style, script = re.search(r"<style>(.*?)</style>", html, re.S), re.search(r"<script>(.*?)</script>", html, re.S)
    assert found
    assert style
    assert script
    assert "unsafe" not in found[1]
    assert source_digest(style[1]) in found[1]
    assert source_digest(script[1]) in found[1]
    assert "unsafe" not in style_policy("evidence.css")
