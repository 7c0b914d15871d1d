"""Provenance names content by keyed commitments: what is erased leaves no digest behind that guesses could be tried with."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from api import wiring
from api.audit.erasure.erasing import carry_out
from api.audit.erasure.erasure import Order
from ledger.erasure.redaction import Target
from ledger.model import Kind
from tests.harness import ask, opened

FIGURE = "What was the population of Shawnee County in 1930?"


@pytest.fixture
def home(kansas_home: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(kansas_home, tmp_path / "home"))


async def digests_of(system: wiring.System, entry_id: str) -> set[str]:
    """Of the answer, as it was recorded, and of the documents of its sources."""
    contents = await system.services.ledger.contents(await system.services.ledger.entry(entry_id))
    sources = [json.loads(data) for name, data in contents.items() if name.startswith("sources/")]
    assert any("document_sha256" in told for told in sources)
    return {
        hashlib.sha256(contents["answer"]).hexdigest(),
        *(told["document_sha256"].removeprefix("sha256:") for told in sources if "document_sha256" in told),
    }


async def provenance(system: wiring.System, entry_id: str) -> dict[str, Any]:
    return dict(json.loads(await system.services.ledger.part(entry_id, "prov")))


async def test_nothing_of_what_was_erased_can_be_guessed_from_its_provenance(home: Path) -> None:
    async with opened(home) as system:
        first, second = [str((await ask(system, FIGURE))["provenance"]["entry_id"]) for _ in range(2)]
        digests = await digests_of(system, first)
        [cited, *_] = json.loads(await system.services.ledger.part(first, "sources/1"))["document_id"].split("@")
        one, other = [await provenance(system, each) for each in (first, second)]
        for name in ("run:answer", "run:source/1"):
            commitments = {told["entity"][name]["exhibit:commitment"] for told in (one, other)}
            assert len(commitments) == 2, "the same document has another commitment in another entry"
    erased = await carry_out(system.configuration, Order(Target.SOURCE, cited, "default", "x"))
    assert first in {each.entry.leaf.entry_id for each in erased.survivals}
    async with opened(home) as system:
        left = json.dumps(await provenance(system, first))
        assert "sha256" not in json.dumps(json.loads(left)["entity"])
        assert [each for each in digests if each in left] == []
        assert (await system.services.ledger.verify()).ok


@pytest.mark.parametrize("name", ["exhibit:commitment", "exhibit:sha256"])
async def test_provenance_of_another_answer_is_named(home: Path, name: str) -> None:
    """In either form: with the commitment of an earlier entry, or with a digest that is not the answer's."""
    async with opened(home) as system:
        ledger, first = system.services.ledger, str((await ask(system, FIGURE))["provenance"]["entry_id"])
        contents, made = await ledger.contents(await ledger.entry(first)), wiring.new_id()
        body = json.loads(contents["prov"].replace(first.encode(), made.encode()))
        answer = body["entity"]["run:answer"]
        answer[name] = answer.pop("exhibit:commitment") if name == "exhibit:commitment" else "sha256:" + "0" * 64
        parts = {"answer": contents["answer"], "prov": json.dumps(body, sort_keys=True, separators=(",", ":")).encode()}
        await ledger.record(Kind.OUTCOME, tenant="default", request_id=wiring.new_id(), parts=parts, entry_id=made)
        [problem] = (await ledger.verify()).problems
    assert (problem.step, problem.part) == ("prov", "prov")
    assert "its answer is not that of the entry" in problem.detail
