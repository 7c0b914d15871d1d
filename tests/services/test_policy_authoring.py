"""The author's commands with the real `opa`: check, test, coverage, build, and publish with all its gates."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from api.cli.main import run
from api.wiring import open_embedded
from policy.authoring.build import build
from policy.authoring.opa import Opa
from policy.authoring.widening.constants import probe_constants
from policy.authoring.widening.model import Side
from policy.bundles.bundle import DATA_PATH, SHIPPED, load_bundle
from policy.bundles.releases import Releases
from tests.opa_server import pinned_opa

pytestmark = pytest.mark.services
Cli = Callable[..., tuple[int, Any, str]]
ACCESS = "kfm/access/access.rego"
QUERY = "kfm/ai/query.rego"


@pytest.fixture(scope="module")
def opa(request: pytest.FixtureRequest) -> Opa:
    return pinned_opa(request.config)


@pytest.fixture
def cli(opa: Opa, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    """`exhibit policy ... --json` in an own home: exit code, document, stderr."""
    monkeypatch.setenv("EXHIBIT_OPA_BIN", str(opa.path))

    def command(*arguments: object) -> tuple[int, Any, str]:
        code = run(["policy", *map(str, arguments), "--home", str(tmp_path / "home"), "--json"])
        out, err = capsys.readouterr()
        return code, json.loads(out), err

    return command


@pytest.fixture
def work(cli: Cli, tmp_path: Path) -> Path:
    """The shipped bundle, exported to work on."""
    code, _, _ = cli("export", tmp_path / "work")
    assert code == 0
    return tmp_path / "work"


def edit(work: Path, file: str, old: str, new: str) -> None:
    path = work / "rego" / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))


def without_opa(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EXHIBIT_OPA_BIN", str(tmp_path / "nowhere"))


# ---------------------------------------------------------------------------------------------------------------- check


def test_the_shipped_bundle_passes_every_check(cli: Cli, work: Path) -> None:
    code, document, _ = cli("check", "--policy", work)
    assert (code, [each["passed"] for each in document["checks"]], document["advice"]) == (0, [True] * 6, {})


@pytest.mark.parametrize(
    ("file", "old", "new", "check", "said"),
    [
        (QUERY, 'input.point == "query"', 'input.piont == "query"', "opa check", f"{QUERY}:"),
        (QUERY, 'input.point == "query"', 'input.point  == "query"', "opa fmt", QUERY),
        (QUERY, "if not at_query", 'if input.point != "query"', "lint", "denial-without-helper"),
        (DATA_PATH, '"support_milli": 500', '"support_milli": "500"', "the data", "support_milli"),
        (DATA_PATH, '"notice":', '"notes":', "the data", "notes"),
        (QUERY, 'input.point == "query"', "true", "the module was built", "exhibit policy build"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    cli: Cli, work: Path, file: str, old: str, new: str, check: str, said: str
) -> None:
    edit(work, file, old, new)
    code, document, _ = cli("check", "--policy", work)
    problems = [p for each in document["checks"] if each["name"].startswith(check) for p in each["problems"]]
    assert code == 1
    assert any(said in problem for problem in problems), document
    if check == "opa check":
        assert problems[0].startswith(said), "the place comes first, as in every other finding"
    if check == "lint":
        assert document["advice"]["denial-without-helper"].startswith("Deny where")


def test_without_opa_there_is_a_hint_and_an_exit_code(
    cli: Cli, work: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    without_opa(monkeypatch, tmp_path)
    for command in (("check",), ("coverage",), ("build", work)):
        code, document, err = cli(*command)
        assert (code, document["error"]["code"]) == (8, "POLICY_UNAVAILABLE")
        assert "go install" in err
    assert cli("check", "--data")[0] == 0


@pytest.mark.parametrize(
    "command",
    [
        ("build", "WORK"),
        ("test", "--policy", "WORK"),
        ("eval", "query", "in.json", "--policy", "WORK"),
        ("lattice", "--policy", "WORK"),
        ("backtest", "--policy", "WORK"),
        ("mutate", "--policy", "WORK", "--sample", "1"),
        ("test", "--run", "("),
    ],
    ids=" ".join,
)
def test_what_opa_cannot_read_is_the_authors_fault_with_its_place(
    cli: Cli, work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.json").write_text("{}")
    edit(work, QUERY, "at_query if", "at_query iff")
    code, document, _ = cli(*(str(work) if word == "WORK" else word for word in command))
    assert (code, document["error"]["code"]) == (2, "VALIDATION_FAILED")
    assert (f"{QUERY}:" if "WORK" in command else "regexp") in document["error"]["message"]


def test_mutants_of_a_bundle_that_fails_its_own_vectors_are_not_tried(cli: Cli, work: Path) -> None:
    edit(work, DATA_PATH, '"support_milli": 500', '"support_milli": 950')
    code, document, _ = cli("mutate", "--policy", work, "--sample", 1)
    assert (code, document["error"]["code"]) == (2, "VALIDATION_FAILED")
    assert "the bundle itself fails" in document["error"]["message"]


def test_a_manifest_that_says_other_things_of_the_rules(cli: Cli, work: Path) -> None:
    manifest = work / "wasm" / "manifest.json"
    manifest.write_text(manifest.read_text().replace("The account belongs to no tenant.", "All is well."))
    code, document, _ = cli("check", "--policy", work)
    assert (code, [each["passed"] for each in document["checks"]]) == (1, [True] * 5 + [False])


# ----------------------------------------------------------------------------------------------------- test and coverage


def test_results_by_rule_on_two_engines_and_as_junit(cli: Cli, work: Path, tmp_path: Path) -> None:
    code, document, _ = cli("test", "--policy", work, "--junit", tmp_path / "junit.xml")
    assert (code, document["failed"], len(document["engines"])) == (0, [], 2)
    rules = {each["id"]: each for each in document["rules"]}
    assert all(each["tests"] and each["vectors"] and each["silent"] for each in rules.values()), rules
    suites = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert [s.get("failures") for s in suites] == ["0"] * 4


def test_a_failing_test_shows_its_values_and_its_rule(cli: Cli, work: Path, tmp_path: Path) -> None:
    edit(work, "kfm/ai/query_test.rego", 'sanitised.effect == "allow_with_obligations"', 'sanitised.effect == "deny"')
    code, document, _ = cli("test", "--policy", work, "--run", "test_query_gate", "--junit", tmp_path / "junit.xml")
    [test] = document["own_tests"]
    assert (code, test["state"], test["rules"]) == (1, "failed", ["Q08", "Q09", "Q13"])
    assert 'sanitised.effect: "allow_with_obligations"' in test["detail"]
    assert [each["id"] for each in document["rules"] if each["failed"]] == ["Q08", "Q09", "Q13"]
    failures = ElementTree.parse(tmp_path / "junit.xml").getroot().findall(".//failure")
    assert len(failures) == 1


def test_a_changed_rule_fails_its_vectors_on_both_engines(cli: Cli, work: Path) -> None:
    edit(work, QUERY, 'if input.prompt.verdict == "SANITIZE"', 'if input.prompt.verdict == "REJECT"')
    code, document, _ = cli("test", "--policy", work)
    wrong = [each for each in document["vectors"] if not each["passed"]]
    assert code == 1
    assert {each["engine"] for each in wrong} == set(document["engines"])
    assert any("- Q13 neutralise_prompt request:" in each["differences"] for each in wrong)


def test_coverage_names_the_rule_and_the_rows_that_were_missed(cli: Cli, work: Path) -> None:
    code, whole, _ = cli("coverage", "--policy", work, "--min", 95)
    assert (code, whole["below"]) == (0, [])
    edit(
        work,
        QUERY,
        "at_query if",
        'at_query if {\n\tinput.now_ms == 123456\n\tinput.request.id == "nobody"\n}\n\nat_query if',
    )
    code, document, _ = cli("coverage", "--policy", work, "--min", 100)
    missed = {each["id"]: each["missed"] for each in document["rules"] if each["missed"]}
    assert (code, document["below"]) == (1, ["the whole bundle"])
    assert [name.split(" ")[0] for name in missed] == ["at_query"]
    [rows] = missed.values()
    assert len(rows) == 3


# -------------------------------------------------------------------------------------------------------------- publish


def test_from_a_changed_rule_to_published_and_back(cli: Cli, work: Path, tmp_path: Path) -> None:
    shipped = load_bundle().digest
    edit(work, "kfm/ai/answer.rego", "sentence.support_milli >= config", "sentence.support_milli > config")
    assert cli("publish", work)[0] == 1, "the module is not that of the rules"
    assert cli("build", work)[0] == 0
    code, document, _ = cli("publish", work, "--inputs", 30)
    closed = [each["name"] for each in document["gates"] if not each["passed"]]
    assert (code, document["published"], len(closed)) == (1, False, 2), "the vectors, on both engines"
    assert Releases(tmp_path / "home" / "policy").state().active is None
    vectors = work / "vectors" / "answer.json"
    vectors.write_text(
        vectors.read_text().replace(
            '"answer/sentences/1/support_milli", 500', '"answer/sentences/1/support_milli", 501'
        )
    )
    code, document, _ = cli("publish", work, "--inputs", 30)
    assert (code, document["published"]) == (1, False), "an expectation was turned, and nobody has said so"
    names = [each["name"] for each in document["widenings"]]
    assert names
    assert all(name.startswith("vector answer/") and name.endswith(": changed") for name in names)
    accepted = [word for name in names for word in ("--accept", name)]
    assert cli("publish", work, "--inputs", 30, *accepted, "--accept", "role viewer: sees all")[0] == 2
    code, document, _ = cli("publish", work, "--inputs", 30, *accepted)
    assert (code, document["published"], document["replaced"]) == (0, True, shipped), document
    status = cli("status")[1]
    assert (status["bundle_digest"], status["origin"]) == (document["bundle_digest"], "published to this home")
    assert cli("rollback")[1]["bundle_digest"] == shipped
    assert cli("rollback")[0] == 3
    assert [step["action"] for step in cli("status")[1]["history"]] == ["publish", "rollback"]


def test_a_leak_is_published_by_nobody(cli: Cli, work: Path, tmp_path: Path) -> None:
    edit(work, ACCESS, "count(record.groups) == 0", "count(record.groups) < 99")
    cli("build", work)
    code, document, _ = cli("publish", work, "--inputs", 30)
    closed = [each["name"] for each in document["gates"] if not each["passed"]]
    assert (code, document["published"]) == (1, False)
    assert "own tests" in closed[0]
    assert not any("canary" in each["name"] for each in document["gates"]), "the dear gates are not tried"
    assert not (tmp_path / "home" / "policy" / "state.json").exists()


def test_a_module_that_is_not_what_its_rules_say_is_caught(cli: Cli, work: Path, tmp_path: Path) -> None:
    """A module of other rules, with a manifest that claims it for these: built again, and compared with OPA."""
    other = tmp_path / "other"
    shutil.copytree(work, other)
    edit(other, "kfm/ai/answer.rego", "sentence.support_milli >= config", "sentence.support_milli > config")
    forged = build(other)
    manifest = json.loads((work / "wasm" / "manifest.json").read_text())
    manifest["wasm_sha256"] = json.loads(forged["manifest.json"])["wasm_sha256"]
    (work / "wasm" / "bundle.wasm").write_bytes(forged["bundle.wasm"])
    (work / "wasm" / "manifest.json").write_text(json.dumps(manifest))
    assert load_bundle(work).digest == load_bundle().digest
    code, document, _ = cli("publish", work)
    assert (code, document["published"]) == (1, False)
    assert [each["name"] for each in document["gates"] if not each["passed"]] == [
        "the module is what the sources build"
    ]


def test_data_alone_are_published_without_opa_and_rules_are_not(
    cli: Cli, work: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    edit(work, "kfm/ai/answer.rego", "# title: The answer point", "# title: The answer point, changed")
    cli("build", work)
    without_opa(monkeypatch, tmp_path)
    code, document, _ = cli("publish", work)
    assert (code, document["error"]["code"]) == (8, "POLICY_UNAVAILABLE")
    shutil.rmtree(work)
    cli("export", work)
    edit(
        work,
        DATA_PATH,
        '"education": {"clearance": "public"},',
        '"education": {"clearance": "public"}, "press": {"clearance": "public"},',
    )
    assert cli("publish", work)[1]["published"] is False
    code, document, err = cli("publish", work, "--accept", "purpose press: new")
    assert (code, document["published"]) == (0, True)
    assert [each["name"] for each in document["widenings"]] == ["purpose press: new"]
    assert "only the data are new" in err


@pytest.mark.parametrize(
    ("planted", "constant"),
    [
        ('label_ok(record) if startswith(record.id, "zz")', "zz"),
        ('label_ok(_) if input.subject.id == "mole"', "mole"),
        ("label_ok(_) if input.now_ms >= 1893456000000", "1893456000000"),
        ('groups_ok(record) if "zz-guests" in record.groups', "zz-guests"),
    ],
    ids=["a name", "a person", "a moment", "a group"],
)
async def test_a_back_door_at_a_constant_outside_the_lattice_is_named(
    cli: Cli, work: Path, planted: str, constant: str
) -> None:
    path = work / "rego" / ACCESS
    path.write_text(path.read_text() + f"\n# METADATA\n# title: Planted\n{planted}\n")
    assert cli("build", work)[0] == 0
    sides = []
    async with AsyncExitStack() as stack:
        for folder in (SHIPPED, work):
            bundle = load_bundle(folder)
            engine = await open_embedded(bundle)
            stack.push_async_callback(engine.aclose)
            sides.append(Side(bundle, folder, engine))
        found = await probe_constants(*sides)
        back = await probe_constants(sides[1], sides[0])
    assert [each.name.partition(":")[0] for each in found] == [f"constant {constant}"]
    assert back == ()
