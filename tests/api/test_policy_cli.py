"""The policy commands that need no `opa`: what they print, and with which exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from api.cli.main import run
from api.cli.policy.test import changes
from policy.authoring.testing.vectors import patched
from policy.bundles.bundle import DATA_PATH, load_bundle
from policy.bundles.releases import Releases
from policy.engine import MAX_INPUT_BYTES
from tests.policy_world import base
from tests.unit.test_policy_releases import candidate, remade

Cli = Callable[..., tuple[int, Any, str]]
SHIPPED_DIGEST = load_bundle().digest


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.setenv("EXHIBIT_OPA_BIN", str(tmp_path / "no-opa"))

    def command(*arguments: object) -> tuple[int, Any, str]:
        code = run(["policy", *map(str, arguments), "--home", str(tmp_path / "home"), "--json"])
        out, err = capsys.readouterr()
        return code, json.loads(out), err

    return command


def written(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document))
    return path


def test_status_of_a_fresh_home(cli: Cli, tmp_path: Path) -> None:
    code, document, _ = cli("status")
    assert (code, document["bundle_digest"], document["origin"]) == (0, SHIPPED_DIGEST, "shipped")
    assert (document["shadow"], document["history"], document["fallback"]) == (None, [], False)
    assert not (tmp_path / "home").exists()


def test_the_settings_may_fix_the_bundle(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("export", tmp_path / "work")
    monkeypatch.setenv("EXHIBIT_POLICY__BUNDLE", str(tmp_path / "work"))
    assert "the setting policy.bundle" in cli("status")[1]["origin"]
    for command in (("publish", tmp_path / "work"), ("rollback",)):
        code, document, _ = cli(*command)
        assert (code, document["error"]["code"]) == (2, "VALIDATION_FAILED")


def test_an_export_never_overwrites(cli: Cli, tmp_path: Path) -> None:
    assert cli("export", tmp_path / "work")[0] == 0
    code, document, _ = cli("export", tmp_path / "work")
    assert (code, document["error"]["code"]) == (5, "CONFLICT")
    assert sorted(p.name for p in (tmp_path / "work").iterdir()) == ["rego", "schemas", "vectors", "wasm"]


@pytest.mark.parametrize(
    ("patch", "code"), [([], 0), ([["delete", "subject/tenant"]], 6), ([["set", "point", "query"]], 6)]
)
def test_eval(cli: Cli, tmp_path: Path, patch: list[list[Any]], code: int) -> None:
    found, document, _ = cli("eval", "evidence", written(tmp_path / "in.json", patched(base("evidence"), patch)))
    assert found == code
    assert document["stamp"]["bundle"] == SHIPPED_DIGEST
    assert all(reason["text"].endswith(".") for reason in document["reasons"])


@pytest.mark.parametrize(
    ("point", "text", "code"),
    [
        ("elsewhere", "{}", 2),
        ("query", "", 2),
        ("query", "{", 2),
        ("query", '{"a": 0.5}', 2),
        ("query", '{"a": NaN}', 2),
        ("query", '{"a": 1, "a": 2}', 2),
        ("query", '{"é": 1}', 2),
        ("query", "[" * 100_000, 2),
        ("query", "{}", 6),
        ("query", "null", 6),
    ],
)
def test_eval_of_what_is_no_input(cli: Cli, tmp_path: Path, point: str, text: str, code: int) -> None:
    (tmp_path / "in.json").write_text(text)
    assert cli("eval", point, tmp_path / "in.json")[0] == code


def test_eval_without_a_file(cli: Cli, tmp_path: Path) -> None:
    assert cli("eval", "query", tmp_path / "nowhere.json")[0] == 2


def test_check_of_the_data_alone(cli: Cli, tmp_path: Path) -> None:
    cli("export", tmp_path / "work")
    assert cli("check", "--data", "--policy", tmp_path / "work")[0] == 0
    data = tmp_path / "work" / "rego" / DATA_PATH
    data.write_text(data.read_text().replace('"lifecycle": ["active"]', '"lifecycle": ["active", "draft"]'))
    code, document, _ = cli("check", "--data", "--policy", tmp_path / "work")
    assert code == 1
    assert any("only active items" in p for each in document["checks"] for p in each["problems"])


@pytest.mark.parametrize("command", [("check",), ("coverage",), ("build", "work")])
def test_without_opa_there_is_a_hint(cli: Cli, tmp_path: Path, command: tuple[str, ...]) -> None:
    cli("export", tmp_path / "work")
    code, document, err = cli(*(str(tmp_path / word) if word == "work" else word for word in command))
    assert (code, document["error"]["code"]) == (8, "POLICY_UNAVAILABLE")
    assert "go install" in err


def test_vectors_and_canary_without_opa(cli: Cli, tmp_path: Path) -> None:
    code, document, err = cli("test", "--junit", tmp_path / "junit.xml")
    assert (code, document["failed"], document["own_tests"], len(document["engines"])) == (0, [], None, 1)
    assert "go install" in err
    suites = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert [suite.get("failures") for suite in suites] == ["0", "0", "0"]


def test_a_failure_with_odd_characters_is_still_xml(cli: Cli, tmp_path: Path) -> None:
    cli("export", tmp_path / "work")
    file = tmp_path / "work" / "vectors" / "query.json"
    document = json.loads(file.read_text())
    patch = [["set", "request/collections", ["a\u0000b\u000bc"]]]
    document["cases"].append({"name": "odd \u0001", "patch": patch, "decision": document["cases"][0]["decision"]})
    file.write_text(json.dumps(document))
    code, told, _ = cli("test", "--policy", tmp_path / "work", "--junit", tmp_path / "junit.xml")
    assert (code, len(told["failed"])) == (1, 1)
    [failure] = ElementTree.parse(tmp_path / "junit.xml").getroot().iter("failure")
    assert "COLLECTION_UNAVAILABLE" in (failure.text or "")


@pytest.mark.parametrize(
    "damage",
    [
        lambda v: (v / "query.json").unlink(),
        lambda v: (v / "query.json").write_text("[]"),
        lambda v: (v / "query.json").write_text('{"cases": [{}], "base": {}}'),
        lambda v: (v / "query.json").write_text('{"cases": 1, "base": {}}'),
        lambda v: (v / "query.json").write_text('{"cases": [], "base": {}}'),
        lambda v: (v / "query.json").write_text(json.dumps({"cases": [{"name": "x", "patch": [], "decision": {}}]})),
        lambda v: (v / "allow_answer.json").write_text('{"cases": [1]}'),
    ],
)
def test_vectors_that_are_none(cli: Cli, tmp_path: Path, damage: Callable[[Path], object]) -> None:
    cli("export", tmp_path / "work")
    damage(tmp_path / "work" / "vectors")
    assert cli("publish", tmp_path / "work")[0] == 2
    code, document, _ = cli("test", "--policy", tmp_path / "work")
    assert (code, document["error"]["code"]) == (2, "VALIDATION_FAILED")
    assert "decision vectors" in document["error"]["message"] or "cannot be read" in document["error"]["message"]


def test_a_stale_module_is_not_published(cli: Cli, tmp_path: Path) -> None:
    cli("export", tmp_path / "work")
    (tmp_path / "work" / "rego" / "kfm" / "ai" / "query.rego").write_text("package kfm.ai\n")
    code, document, _ = cli("publish", tmp_path / "work")
    assert (code, document["published"], document["replaced"]) == (1, False, SHIPPED_DIGEST)
    assert "exhibit policy build" in document["gates"][0]["problems"][0]


def test_new_data_are_published_without_opa_but_no_other_module(cli: Cli, tmp_path: Path) -> None:
    code, document, err = cli("publish", remade(tmp_path / "work"))
    assert (code, document["error"]["code"]) == (8, "POLICY_UNAVAILABLE")
    assert "go install" in err
    cli("shadow", candidate(tmp_path / "filed", 500))
    code, document, _ = cli("publish", tmp_path / "filed")
    assert (code, document["published"]) == (0, True)


@pytest.mark.parametrize("digest", [None, "sha256:00", "../..", "0" * 64])
def test_nothing_to_roll_back_to(cli: Cli, tmp_path: Path, digest: str | None) -> None:
    code, document, _ = cli("rollback", *([] if digest is None else [digest]))
    assert (code, document["error"]["code"]) == (3, "NOT_FOUND")
    assert not Releases(tmp_path / "home" / "policy").file.exists()


def test_the_shadow_begins_and_ends(cli: Cli, tmp_path: Path) -> None:
    assert cli("shadow")[1]["shadow"] is None
    assert cli("shadow", "--stop")[0] == 3
    cli("export", tmp_path / "work")
    code, document, _ = cli("shadow", tmp_path / "work")
    assert (code, document["shadow"], document["running"]) == (0, SHIPPED_DIGEST, True)
    assert cli("shadow", "x", "--stop")[0] == 2
    assert cli("shadow", "--stop")[1]["running"] is False
    assert cli("shadow", SHIPPED_DIGEST[:20])[1]["running"] is True
    assert cli("shadow", "sha256:77")[0] == 3


@pytest.mark.parametrize(
    "arguments",
    [
        ("publish", "nowhere"),
        ("build", "nowhere"),
        ("check", "--policy", "nowhere"),
        ("check", "--data", "--policy", "nowhere"),
        ("test", "--policy", "nowhere"),
        ("test", "--run", "no_such_test"),
        ("test", "--junit", "nowhere/found.xml"),
        ("test", "--vectors", "nowhere"),
        ("test", "--policy", "damaged"),
        ("lattice", "--policy", "damaged"),
        ("shadow", "damaged"),
        ("shadow", "empty"),
        ("export", "broken.toml/work"),
        ("eval", "query", "large.json"),
        ("lattice", "--invariants", "nowhere.toml"),
        ("lattice", "--invariants", "broken.toml"),
        ("lattice", "--invariants", "empty.toml"),
    ],
)
def test_a_wrong_use_is_told_and_is_no_fault_of_ours(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.toml").write_text("x =")
    (tmp_path / "empty.toml").write_text("")
    (tmp_path / "empty").mkdir()
    (tmp_path / "large.json").write_text(json.dumps(["x" * MAX_INPUT_BYTES]))
    candidate(tmp_path / "damaged", 2_000)
    code, document, _ = cli(*arguments)
    assert (code, document["error"]["code"] in ("BAD_REQUEST", "VALIDATION_FAILED")) == (2, True), document


def test_watching_sees_each_change_once(tmp_path: Path) -> None:
    (tmp_path / "a.rego").write_text("package a")
    seen = changes(tmp_path, every_s=0)
    next(seen)
    (tmp_path / "b.json").write_text("{}")
    next(seen)
    (tmp_path / "b.json").unlink()
    assert list(islice(seen, 1)) == [None]
