"""What a real OPA server says of itself, by its client package."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from api.cli.main import run
from policy.authoring.opa import Opa
from policy.authoring.server import own_server
from policy.authoring.server_bundle import server_bundle
from policy.bundles.bundle import SHIPPED, load_bundle
from policy.opa.management import OpaState, state_of
from tests.opa_server import TOKEN, OpaServer, pinned_opa, serving

pytestmark = pytest.mark.services
DATA: Any = json.loads(load_bundle().data_json)["kfm"]["config"]


@pytest.fixture(scope="module")
def opa(request: pytest.FixtureRequest) -> Opa:
    return pinned_opa(request.config)


async def test_a_server_that_shows_everything(opa: Opa) -> None:
    async with own_server(opa, SHIPPED, loopback=True) as address:
        state = await state_of(address, token=None, data=DATA)
        assert state is not None
        assert (state.healthy, state.same_data, state.allow_answer) == (True, True, True)
        assert state.policies is not None
        assert any(each.endswith("kfm/ai/allow_answer.rego") for each in state.policies)
        other = await state_of(address, token=None, data={**DATA, "labels": {}})
        assert other is not None
        assert other.same_data is False


async def test_the_token_of_decisions_is_shown_the_rule_alone(opa: Opa, tmp_path: Path) -> None:
    with serving(OpaServer(opa, tmp_path), server_bundle()) as running:
        assert await state_of(running.url, token=TOKEN, data=DATA) == OpaState(True, None, None, True)
        assert await state_of(running.url, token="another", data=DATA) in (
            OpaState(True, None, None, None),
            OpaState(False, None, None, None),
        )


async def test_a_server_that_is_not_there_is_not_healthy() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        assert await state_of(address, token=None, data=DATA) == OpaState(False, None, None, None)


@pytest.mark.parametrize(
    "address", ["unix:///run/opa.sock", "http://opa.example/prefix", "ftp://opa.example", "http://"]
)
async def test_an_address_that_the_package_cannot_ask(address: str) -> None:
    assert await state_of(address, token=None, data=DATA) is None


def test_status_shows_it(
    opa: Opa, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EXHIBIT_STORES__OPA_TOKEN", TOKEN)
    with serving(OpaServer(opa, tmp_path), server_bundle()) as running:
        monkeypatch.setenv("OPA_URL", running.url)
        assert run(["policy", "status", "--home", str(tmp_path / "home"), "--json"]) == 0
        said = json.loads(capsys.readouterr().out)["server"]
        assert said == {"healthy": True, "policies": None, "same_data": None, "allow_answer": True}
        assert run(["policy", "status", "--home", str(tmp_path / "home")]) == 0
        assert "server healthy; its policies: not shown to this token" in capsys.readouterr().out
