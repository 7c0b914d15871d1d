"""What `/readyz` and the log say of a policy server that does not decide, or decides nonsense."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from pathlib import Path

import pytest
import structlog

from policy.bundles.bundle import load_bundle
from tests.opa_liar import ALLOW, Tell, document, opa_liar, reply
from tests.withheld import OPEN, World, client_of, fill

OURS = load_bundle().digest
ASKED = {"question": "Who kept the ferry at Lecompton?"}


async def state_under(url: str, folder: Path) -> tuple[int, Mapping[str, str], str]:
    """Status of `/readyz`, what it says of the policy, and the state of the whole."""
    configuration = await fill(folder, World(OPEN), {"OPA_URL": url})
    async with client_of(configuration) as client:
        told = await client.get("/readyz")
        return told.status_code, told.json()["parts"]["policy"], told.json()["status"]


def nobody() -> str:
    """An address at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


async def test_a_server_that_is_not_there_is_unavailable_and_named_so(tmp_path: Path) -> None:
    status, part, state = await state_under(nobody(), tmp_path)
    assert (status, state, part["state"]) == (503, "unavailable", "down")
    assert (part["code"], part["problem"]) == ("POLICY_UNAVAILABLE", "UNREACHABLE")


@pytest.mark.parametrize(
    ("tell", "problem"),
    [
        (reply(document(result=ALLOW)), "BUNDLE_MISMATCH"),
        (reply(b"nonsense"), "NOT_JSON"),
        (reply(b"{}", "500 Oops"), "STATUS"),
    ],
)
async def test_a_server_that_gives_no_decision_says_why(tell: Tell, problem: str, tmp_path: Path) -> None:
    async with opa_liar(tell) as liar:
        status, part, state = await state_under(liar.url, tmp_path)
    assert (status, state, part["state"]) == (503, "unavailable", "down")
    assert (part["code"], part["problem"]) == ("POLICY_UNAVAILABLE", problem)


@pytest.mark.parametrize("result", [{"allow": 1}, True, {**ALLOW, "admit": ["secret"]}, None])
async def test_a_server_that_decides_nonsense_is_degraded(result: object, tmp_path: Path) -> None:
    """Every request is denied then, which is an answer."""
    rest = {} if result is None else {"result": result}
    async with opa_liar(reply(document(OURS, **rest))) as liar:
        status, part, state = await state_under(liar.url, tmp_path)
    assert (status, state, part["state"]) == (200, "degraded", "down")
    assert part["code"].startswith("POLICY_DECISION_INVALID.")


async def test_a_refused_request_is_logged_with_the_problem(tmp_path: Path) -> None:
    configuration = await fill(tmp_path, World(OPEN), {"OPA_URL": nobody()})
    with structlog.testing.capture_logs() as logged:
        async with client_of(configuration) as client:
            assert (await client.post("/api/v1/ai/query", json=ASKED)).status_code == 503
    found = [line for line in logged if line["event"] == "request_refused"]
    assert [(line["code"], line["problem"]) for line in found] == [("POLICY_UNAVAILABLE", "UNREACHABLE")]
    assert "127.0.0.1" not in json.dumps(found)
