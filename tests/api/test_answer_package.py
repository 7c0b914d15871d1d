"""A grounded answer as one file, over HTTP: askers get what they may read, auditors what the answer rests on."""

from __future__ import annotations

from typing import Any

import pytest

from api.web.answer_package import check_package
from tests.api_world import POPULATION
from tests.golden.test_answer_packages import AUDITED, files_of

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_askers_get_what_they_may_read_and_auditors_all(connect: Any) -> None:
    async with connect("viewer") as asker, connect("auditor") as auditor:
        body = (await asker.post("/api/v1/ai/query", json={"question": POPULATION})).json()
        path = f"/api/v1/ledger/entries/{body['provenance']['entry_id']}/package"
        own, all_of_it = await asker.get(path), await auditor.get(path)
        vkey = (await asker.get("/api/v1/ledger/vkey")).text.strip()
    assert own.status_code == 200, own.text
    assert own.headers["content-type"] == "application/zip"
    assert own.headers["cache-control"].startswith("private") or "no-store" in own.headers["cache-control"]
    names = set(files_of(own.content))
    assert {"answer.json", "question.txt", "sources/1.json", "verify.html"} <= names
    assert not names & {"bundle.json", "policy.evidence.json", "policy.query.json", "scope.json", "prov.json"}
    assert set(files_of(all_of_it.content)) >= AUDITED
    for response in (own, all_of_it):
        assert check_package(response.content, vkeys=[vkey]).page_compared
