"""A month of the log as a report: it counts what the log holds, and its receipt notices whatever was changed after."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from api.audit.log.month_report import Month
from api.errors import RequestRejected
from api.web.page import page
from ledger.merkle.tree import root_of
from tests.api_world import FERRY, POPULATION, World, make_world
from tests.command_line import Run, command_line
from tests.golden.test_attribution import with_other_data
from tests.harness import ask, opened

FILES = ("report.json", "report.html", "report.receipt")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> World:
    world = asyncio.run(make_world(tmp_path_factory.mktemp("report")))
    asyncio.run(asked(world.configuration.home, POPULATION))
    asyncio.run(asked(world.configuration.home, FERRY))
    asyncio.run(asked(world.configuration.home, POPULATION, tenant="other"))
    return world


@pytest.fixture
def home(made: World, tmp_path: Path) -> Path:
    shutil.copytree(made.configuration.home, tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, home: Path) -> Run:
    return command_line(capsys, monkeypatch, "--home", home)


async def asked(home: Path, question: str, *, role: str = "public_viewer", tenant: str = "default") -> str:
    async with opened(home) as system:
        return str((await ask(system, question, role=role, tenant=tenant))["provenance"]["entry_id"])


def listed(cli: Run) -> list[dict[str, Any]]:
    return list(json.loads(cli("ledger", "list", "--limit", "10000", "--json")[1]))


def month_of(entry: dict[str, Any]) -> str:
    return datetime.fromtimestamp(entry["t_ms"] / 1000, UTC).strftime("%Y-%m")


def reported(cli: Run, month: str, *words: object) -> dict[str, Any]:
    code, out, err = cli("ledger", "report", "--month", month, *words, "--json")
    assert code == 0, out + err
    return dict(json.loads(out))


def test_a_report_counts_what_the_log_holds(cli: Run) -> None:
    entries = listed(cli)
    month = month_of(entries[-1])
    mine = [each for each in entries if month_of(each) == month]
    found = reported(cli, month)
    assert found["entries"]["count"] == len(mine)
    assert found["entries"]["kinds"] == dict(Counter(each["kind"] for each in mine))
    assert found["entries"]["leaves_root"] == root_of(bytes.fromhex(each["leaf_hash"]) for each in mine).hex()
    assert sum(found["outcomes"].values()) == sum(each["kind"] == "outcome" for each in mine)
    assert {"ANSWER"} <= set(found["outcomes"])
    assert (found["verification"]["verdict"], found["verification"]["problems"]) == ("intact", [])
    assert found["checkpoint"]["size"] == len(entries)
    assert reported(cli, month)["entries"] == found["entries"]  # a report without --out is no entry


def test_a_month_without_entries_is_empty(cli: Run) -> None:
    found = reported(cli, "1999-12")
    assert (found["entries"]["count"], found["outcomes"], found["denials"]) == (0, {}, [])
    assert (found["entries"]["first"], found["checkpoints"]["count"]) == (None, 0)


def test_a_report_of_one_tenant_counts_no_other(cli: Run) -> None:
    month = month_of(listed(cli)[-1])
    every, one, other = (reported(cli, month, *each) for each in ((), ("--tenant", "default"), ("--tenant", "other")))
    assert sum(one["outcomes"].values()) == 2 and sum(other["outcomes"].values()) == 1
    assert sum(every["outcomes"].values()) == 3
    assert reported(cli, month, "--tenant", "nobody")["entries"]["count"] == 0


def test_denials_publications_overrides_and_erasures_are_told(home: Path, cli: Run) -> None:
    asyncio.run(with_other_data(home, lambda data: data["roles"]["public_viewer"].update(permissions=[])))
    denied = asyncio.run(asked(home, POPULATION))
    erased = asyncio.run(asked(home, POPULATION, role="contributor"))
    assert cli("ledger", "redact", "--entry", erased, "--basis", "Art. 17 GDPR")[0] == 0
    found = reported(cli, month_of(listed(cli)[-1]))
    assert found["outcomes"]["DENY"] == 1 and denied
    assert [each["requests"] for each in found["denials"]] == [1] * len(found["denials"]) != []
    [publication] = found["publications"]
    assert (publication["action"], publication["why"]) == ("publication", "to see")
    [erasure] = found["erasures"]
    assert (erasure["target"], erasure["basis"], erasure["entries"]) == ("entry", "Art. 17 GDPR", 1)
    assert (erasure["parts"] > 0, erasure["searched"]) == (True, "clean")


@pytest.fixture
def folder(home: Path, cli: Run, tmp_path: Path) -> Path:
    """A report that was written."""
    month = month_of(listed(cli)[-1])
    assert cli("ledger", "report", "--month", month, "--out", tmp_path / "report")[0] == 0
    return tmp_path / "report"


def test_a_report_has_a_receipt_that_verifies_like_any_other(folder: Path, cli: Run) -> None:
    assert sorted(each.name for each in folder.iterdir()) == sorted(FILES)
    code, out, _ = cli("ledger", "report", "--check", folder, "--json")
    assert (code, json.loads(out)["verdict"]) == (0, "intact")
    code, out, _ = cli("ledger", "verify", "--receipt", folder / "report.receipt")
    assert code == 0 and "discloses detail" in out
    assert listed(cli)[-1]["kind"] == "config"


def test_what_comes_later_does_not_change_what_was_counted(folder: Path, home: Path, cli: Run) -> None:
    asyncio.run(asked(home, POPULATION))
    assert cli("ledger", "report", "--check", folder)[0] == 0


@pytest.mark.parametrize("name", ["report.json", "report.html"])
def test_a_changed_report_is_noticed(folder: Path, cli: Run, name: str) -> None:
    text = (folder / name).read_text("utf-8")
    for changed in (text.replace("ANSWER", "ABSTAIN", 1), text + " ", text.replace("0", "1", 1), ""):
        (folder / name).write_text(changed, "utf-8")
        code, out, _ = cli("ledger", "report", "--check", folder, "--json")
        assert (code, json.loads(out)["error"]["code"]) == (7, "VALIDATION_FAILED"), out


def test_the_receipt_of_something_else_is_refused(folder: Path, cli: Run) -> None:
    entry = next(each["entry_id"] for each in listed(cli) if each["kind"] == "outcome")
    (folder / "report.receipt").write_text(cli("ledger", "proof", entry)[1], "utf-8")
    assert cli("ledger", "report", "--check", folder)[0] == 7
    (folder / "report.receipt").write_text("no receipt", "utf-8")
    assert cli("ledger", "report", "--check", folder)[0] == 7
    (folder / "report.receipt").unlink()
    assert cli("ledger", "report", "--check", folder)[0] == 2


def test_a_report_of_another_log_does_not_hold_here(folder: Path, home: Path, cli: Run, tmp_path: Path) -> None:
    code, _, _ = cli("ledger", "key", "create", "--home", tmp_path / "empty")
    assert code in (0, 5)
    assert command_checks(cli, folder, tmp_path / "empty") != 0


def command_checks(cli: Run, folder: Path, home: Path) -> int:
    from api.cli.main import run

    return run(["ledger", "report", "--check", str(folder), "--home", str(home)])


def test_the_page_runs_nothing_and_shows_text_as_text(folder: Path) -> None:
    html, made = (folder / "report.html").read_text("utf-8"), json.loads((folder / "report.json").read_text("utf-8"))
    assert page("report.html.j2", style="report.css", report=made) == html
    assert made["entries"]["leaves_root"] in html and made["checkpoint"]["root"] in html
    denial = {"rule": "<script>alert(1)</script>", "code": '" onclick="x', "requests": 1}
    hostile = page("report.html.j2", style="report.css", report=made | {"denials": [denial]})
    for each in (html, hostile):
        assert "default-src 'none'" in each and "script-src" not in each and "unsafe" not in each
        assert "<script" not in each
        assert not re.search(r"<[^>]*\s(?:src|href|style|on\w+)=", each)
    assert "&lt;script&gt;" in hostile


@pytest.mark.parametrize(
    "month", ["2026", "2026-13", "2026-00", "26-01", "2026-1", "0000-01", "9999-12", "2026-01-01", ""]
)
def test_what_is_no_month_is_refused(cli: Run, month: str) -> None:
    with pytest.raises(RequestRejected):
        Month.parse(month)
    assert cli("ledger", "report", "--month", month)[0] == 2


def test_a_month_ends_where_the_next_begins() -> None:
    months = [Month.parse(f"{year}-{number:02}") for year in (2023, 2024) for number in range(1, 13)]
    assert [each.until_ms for each in months[:-1]] == [each.since_ms for each in months[1:]]
    assert Month.parse("2024-02").until_ms - Month.parse("2024-02").since_ms == 29 * 86_400_000


@pytest.mark.parametrize("words", [(), ("--month", "2026-01", "--check", "x"), ("--check", "nowhere")])
def test_options_that_go_against_each_other_are_refused(cli: Run, words: tuple[str, ...]) -> None:
    assert cli("ledger", "report", *words)[0] == 2


def test_a_folder_that_holds_something_is_not_written_to(folder: Path, cli: Run) -> None:
    before = {each.name: each.read_bytes() for each in folder.iterdir()}
    assert cli("ledger", "report", "--month", "2026-01", "--out", folder)[0] == 2
    assert {each.name: each.read_bytes() for each in folder.iterdir()} == before
