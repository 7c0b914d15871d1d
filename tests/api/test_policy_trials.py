"""`exhibit policy backtest` and `explain` on the command line: documents, exit codes, what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from policy.bundles.bundle import SHIPPED
from tests.api_world import POPULATION, make_world
from tests.command_line import Run, command_line
from tests.edited_bundles import edited


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import asyncio

    world = asyncio.run(make_world(tmp_path_factory.mktemp("trials")))
    return world.configuration.home


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, recorded: Path, tmp_path: Path) -> Run:
    """Run a command on a copy of the home."""
    monkeypatch.setenv("PATH", str(tmp_path))
    shutil.copytree(recorded, tmp_path / "home")
    return command_line(capsys, monkeypatch, "--home", tmp_path / "home")


def test_from_a_question_to_its_explanation_and_a_backtest(cli: Run, tmp_path: Path) -> None:
    code, out, _ = cli("policy", "explain", POPULATION, "--json")
    told = json.loads(out)
    assert (code, told["outcome"], told["request"]["effect"]) == (0, "ANSWER", "allow")
    assert {each["verdict"] for each in told["candidates"]} <= {"kept", "dropped", "redacted"}
    assert any(each["sentences"] for each in told["candidates"])
    code, out, _ = cli("policy", "explain", told["entry_id"])
    assert (code, "cited by sentences 0" in out) == (0, True)

    code, out, err = cli("policy", "backtest", "--policy", SHIPPED, "--json", "--check")
    found = json.loads(out)
    assert (code, found["refused"], found["differences"], found["requests"]) == (0, False, [], 1)
    assert "1 requests in" in err

    closed = edited(tmp_path / "closed", lambda d: d["roles"]["public_viewer"].update(permissions=[]))
    code, out, _ = cli("policy", "backtest", "--policy", closed, "--check", "--since", "1h")
    assert (code, "ALLOW to DENY at query: NOT_PERMITTED" in out) == (1, True)
    assert "loses its last citation" in out
    code, out, _ = cli("policy", "backtest", "--policy", closed, "--json")
    document = json.loads(out)
    assert (code, document["allow_to_deny"]) == (
        0,
        [{"entry_id": told["entry_id"], "point": "query", "codes": ["NOT_PERMITTED"]}],
    )


def test_what_cannot_be_done_is_refused(cli: Run) -> None:
    cli("ask", POPULATION)
    wrong: list[tuple[int, tuple[object, ...]]] = [
        (2, ("backtest", "--policy", "/nowhere")),
        (2, ("backtest", "--policy", SHIPPED, "--since", "yesterday")),
        (2, ("backtest", "--policy", SHIPPED, "--limit", "0")),
        (2, ("backtest",)),
        (3, ("explain", "01a1feac-5b2c-74d6-9570-a04d72c73bdd")),
        (2, ("lattice", "--policy", "/nowhere")),
        (2, ("lattice", "--invariants", "/nowhere")),
        (8, ("mutate", "--policy", SHIPPED)),
    ]
    for exit_code, arguments in wrong:
        code, out, err = cli("policy", *arguments)
        assert (code, out) == (exit_code, ""), (arguments, err)
