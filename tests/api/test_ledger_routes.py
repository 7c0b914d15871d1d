"""The ledger over HTTP: askers read their own, auditors their tenant, strangers verify."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from api.schemas.evidence import EntriesResponse, EntryResponse
from api.wiring import new_id
from ledger.errors import MalformedNote, VerificationFailed
from ledger.model import Kind
from ledger.proofs.receipt import verify_receipt
from tests.api_world import FERRY, POPULATION

pytestmark = pytest.mark.asyncio(loop_scope="session")
ENTRIES = "/api/v1/ledger/entries"


async def asked(client: httpx.AsyncClient, question: str = POPULATION) -> dict[str, Any]:
    body: dict[str, Any] = (await client.post("/api/v1/ai/query", json={"question": question})).json()
    return body


async def test_a_receipt_verifies_with_nothing_but_the_key(client: httpx.AsyncClient) -> None:
    body = await asked(client)
    receipt = await client.get(body["provenance"]["receipt"])
    vkey = (await client.get("/api/v1/ledger/vkey")).text.strip()
    assert receipt.headers["content-type"].startswith("text/plain")
    verified = verify_receipt(receipt.text, vkey=vkey)
    assert verified.leaf.entry_id == body["provenance"]["entry_id"]
    assert b"85,200" in verified.parts["answer"]
    assert sorted(verified.sources) == [int(n) for n in sorted(body["citations"])]


async def test_a_changed_receipt_does_not_verify(client: httpx.AsyncClient) -> None:
    text = (await client.get((await asked(client))["provenance"]["receipt"])).text
    vkey = (await client.get("/api/v1/ledger/vkey")).text.strip()
    for place in range(len(text) // 7, len(text), len(text) // 7):
        changed = text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1 :]
        with pytest.raises((VerificationFailed, MalformedNote)):
            verify_receipt(changed, vkey=vkey)


async def test_askers_read_their_own_question_answer_and_cited_sources(connect: Any) -> None:
    async with connect("viewer") as viewer:
        body = await asked(viewer)
        link = f"{ENTRIES}/{body['provenance']['entry_id']}"
        entry = EntryResponse.model_validate((await viewer.get(link)).json())
        [intent] = [ref.entry_id for ref in entry.refs if ref.rel == "intent"]
        answer = (await viewer.get(f"{link}/parts/answer")).json()
        assert answer == {k: v for k, v in body.items() if k not in ("timings_ms", "promise")}
        assert (await viewer.get(f"{ENTRIES}/{intent}/parts/question")).text == POPULATION
        assert (await viewer.get(f"{link}/parts/sources/1")).status_code == 200
        assert "tlog-proof" in (await viewer.get(f"{ENTRIES}/{intent}/receipt")).text


@pytest.mark.parametrize(
    "part", ["candidates", "bundle", "calls", "policy.evidence", "policy.answer", "prov", "replay", "sources"]
)
async def test_other_parts_need_the_audit_capability(connect: Any, part: str) -> None:
    async with connect("viewer") as viewer, connect("auditor") as auditor:
        link = f"{ENTRIES}/{(await asked(viewer))['provenance']['entry_id']}/parts/{part}"
        assert (await viewer.get(link)).status_code == 404
        assert (await auditor.get(link)).status_code == 200


async def test_nothing_is_erased_over_http_and_an_auditor_is_told_what_does(connect: Any) -> None:
    async with connect("viewer") as viewer, connect("auditor") as auditor:
        link = f"{ENTRIES}/{(await asked(viewer))['provenance']['entry_id']}"
        refused, told = await viewer.delete(link), await auditor.delete(link)
        assert (refused.status_code, told.status_code) == (403, 403)
        assert "redact" not in refused.text
        assert told.json()["error"]["code"] == "FORBIDDEN"
        assert "exhibit ledger redact --entry" in told.json()["error"]["message"]
        assert (await viewer.get(f"{link}/parts/answer")).status_code == 200


async def test_provenance_needs_the_audit_capability(connect: Any) -> None:
    async with connect("viewer") as viewer, connect("auditor") as auditor:
        link = f"{ENTRIES}/{(await asked(viewer))['provenance']['entry_id']}/prov"
        assert (await viewer.get(link)).status_code == 404
        document = (await auditor.get(link)).json()
    assert {"entity", "activity", "agent"} <= set(document)


@pytest.mark.parametrize(
    ("form", "kind", "says"),
    [("json", "application/json", '"wasGeneratedBy"'), ("provn", "text/provenance-notation", "wasGeneratedBy("),
     ("jsonld", "application/ld+json", "@context")],
)  # fmt: skip
async def test_provenance_in_three_notations(connect: Any, form: str, kind: str, says: str) -> None:
    async with connect("viewer") as viewer, connect("auditor") as auditor:
        link = f"{ENTRIES}/{(await asked(viewer))['provenance']['entry_id']}/prov"
        response = await auditor.get(link, params={"format": form})
        assert (await viewer.get(link, params={"format": form})).status_code == 404
        assert (await auditor.get(link, params={"format": "xml"})).status_code == 422
    assert response.headers["content-type"].startswith(kind)
    assert says in response.text


@pytest.mark.parametrize(
    "suffix", ["/prov", "/prov?format=provn", "/prov?format=jsonld", "/parts/prov", "/parts/bundle"]
)
async def test_a_part_that_an_entry_does_not_have_is_absent(connect: Any, app: Any, suffix: str) -> None:
    """A question that failed has an outcome without provenance: nothing is no JSON."""
    ledger = app.state.live.system.services.ledger
    failed = {"tenant": "default", "request_id": new_id()}
    intent = await ledger.record(Kind.INTENT, parts={"question": b"Why?"}, **failed)
    outcome = await ledger.record(Kind.OUTCOME, parts={"answer": b'{"code":"INTERNAL"}'}, **failed)
    async with connect("auditor") as auditor:
        link = f"{ENTRIES}/{outcome.entry_id}"
        absent = await auditor.get(f"{link}{suffix}")
        assert (await auditor.get(f"{link}/parts/answer")).json() == {"code": "INTERNAL"}
        assert (await auditor.get(f"{ENTRIES}/{intent.entry_id}{suffix}")).status_code == 404
    assert (absent.status_code, absent.json()["error"]["code"]) == (404, "NOT_FOUND")


@pytest.mark.parametrize("suffix", ["", "/receipt", "/prov", "/parts/answer", "/parts/question"])
async def test_what_others_asked_does_not_exist(connect: Any, suffix: str) -> None:
    async with connect("contributor") as asker, connect("viewer") as other, connect("stranger") as stranger:
        entry_id = (await asked(asker, FERRY))["provenance"]["entry_id"]
        absent = await other.get(f"{ENTRIES}/01900000-0000-7000-8000-000000000000{suffix}")
        for client in (other, stranger):
            response = await client.get(f"{ENTRIES}/{entry_id}{suffix}")
            assert response.status_code == absent.status_code == 404
            assert {**response.json()["error"], "request_id": ""} == {**absent.json()["error"], "request_id": ""}


async def test_an_own_answer_is_decided_again_on_todays_facts(connect: Any, app: Any, world: Any) -> None:
    """Whoever loses the role may no longer read what it once showed."""
    from api.wiring import key_store

    keys = key_store(world.configuration)
    key, token = keys.create(name="falls", tenant="default", roles=("contributor",))
    async with connect() as client:
        client.headers["authorization"] = f"Bearer {token}"
        body = await asked(client, FERRY)
        assert body["outcome"] == "ANSWER"
        assert (await client.get(body["provenance"]["receipt"])).status_code == 200
        _demote(world.configuration.home / "api-keys.sqlite", key.key_id)
        assert (await client.get(f"{ENTRIES}/{body['provenance']['entry_id']}/parts/answer")).status_code == 404
        assert "Nace" not in (await client.get(body["provenance"]["receipt"])).text


async def test_an_own_answer_is_shown_under_the_obligations_of_today(connect: Any, world: Any) -> None:
    """Whoever loses the capability may no longer read the address that it once showed."""
    from api.wiring import key_store

    key, token = key_store(world.configuration).create(
        name="pii", tenant="default", roles=("public_viewer",), capabilities=("pii",)
    )
    asking = {"question": "e-mail address of the surveyor of Wabaunsee", "options": {"profile": "basic"}}
    async with connect() as client:
        client.headers["authorization"] = f"Bearer {token}"
        body = (await client.post("/api/v1/ai/query", json=asking)).json()
        assert "survey@example.org" in str(body["evidence"])
        link = f"{ENTRIES}/{body['provenance']['entry_id']}/parts/answer"
        assert (await client.get(link)).status_code == 200
        _change(world.configuration.home / "api-keys.sqlite", key.key_id, "capabilities", "[]")
        after = await client.get(link)
    assert after.status_code == 404
    assert "survey@example.org" not in after.text


def _demote(path: Any, key_id: str) -> None:
    _change(path, key_id, "roles", '["public_viewer"]')


def _change(path: Any, key_id: str, column: str, value: str) -> None:
    import apsw

    db = apsw.Connection(str(path))
    db.execute(f"UPDATE api_key SET {column} = ? WHERE id = ?", (value, key_id))
    db.close()


async def test_auditors_page_through_their_tenant(connect: Any) -> None:
    async with connect("viewer") as viewer, connect("stranger") as stranger, connect("auditor") as auditor:
        ours = (await asked(viewer))["provenance"]["entry_id"]
        theirs = (await asked(stranger))["provenance"]["entry_id"]
        found, after = [], -1
        while after is not None:
            page = EntriesResponse.model_validate((await auditor.get(f"{ENTRIES}?limit=7&after={after}")).json())
            found += page.entries
            after = page.next
        assert [e.index for e in found] == sorted({e.index for e in found})
        assert ours in {e.entry_id for e in found}
        assert theirs not in {e.entry_id for e in found}
        kinds = (await auditor.get(f"{ENTRIES}?kind=intent")).json()["entries"]
        assert {e["kind"] for e in kinds} == {"intent"}


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "after=-2", "kind=nope", "after=x"])
async def test_pages_that_cannot_be(connect: Any, query: str) -> None:
    async with connect("auditor") as auditor:
        assert (await auditor.get(f"{ENTRIES}?{query}")).status_code == 422


async def test_listing_needs_the_audit_capability(connect: Any) -> None:
    async with connect("viewer") as viewer:
        response = await viewer.get(ENTRIES)
    assert (response.status_code, response.json()["error"]["code"]) == (403, "FORBIDDEN")


async def test_checkpoint_and_key_are_public(connect: Any) -> None:
    async with connect(address="203.0.113.9") as afar:
        checkpoint = await afar.get("/api/v1/ledger/checkpoint")
        assert checkpoint.status_code == 200
        assert checkpoint.text.startswith("exhibit.local/ledger\n")
        assert (await afar.get("/api/v1/ledger/vkey")).status_code == 200
