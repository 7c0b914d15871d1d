"""Each lint rule on examples that it must find (with the row) and on examples that it must leave alone."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from policy.authoring.lint import LINT_RULES, UNKNOWN_EXCUSE, lint
from policy.authoring.lint.rules.portable_builtins import PORTABLE
from policy.authoring.opa import Opa, OpaFailed
from policy.bundles.bundle import DATA_PATH, SHIPPED
from policy.wasm import WasmEngine
from tests.opa_server import pinned_opa
from tests.unit.test_policy_bundle import with_module

pytestmark = pytest.mark.services
HEAD = "package kfm.ai\n\nimport data.kfm.config\n\n"
FIRST = HEAD.count("\n") + 1


@pytest.fixture(scope="module")
def opa(request: pytest.FixtureRequest) -> Opa:
    return pinned_opa(request.config)


def meta(*more: str, id: str = "X01", severity: str = "deny") -> str:
    custom = [f"id: {id}", "code: SOME_CODE", f"severity: {severity}", "owner: security", "reader: Some words.", *more]
    return "# METADATA\n# title: Something\n# custom:\n" + "".join(f"#  {line}\n" for line in custom)


HELPER = "tenant_ok(x) if x.tenant == input.subject.tenant\n"

# lint rule -> (text, row of the finding counted from the first line after the imports)
BAD: dict[str, Sequence[tuple[str, int]]] = {
    "negated-argument": [
        ('a_reasons contains "x" if not startswith(input.subject.id, "u")\n', 1),
        (HELPER + 'a_reasons contains "x" if not tenant_ok(input.evidence[0])\n', 2),
        ('a_reasons contains "x" if not input.now_ms > 3\n', 1),
        ('a_reasons contains "x" if not input.now_ms != 3\n', 1),
        ('a_reasons contains "x" if not input.subject.clearance in {"public"}\n', 1),
        ('a_reasons contains "x" if not "g1" in input.subject.groups\n', 1),
        ('a_reasons contains "x" if not startswith(concat("", [input.subject.id]), "u")\n', 1),
        ('a_reasons contains "x" if not input.now_ms + 1 == 2\n', 1),
        ('a_reasons contains id if {\n\tsome id, item in input.evidence\n\tnot startswith(item.label, "p")\n}\n', 3),
        ('ready if input.now_ms > 1\n\na_reasons contains "x" if not same(ready)\n\nsame(x) if x == true\n', 3),
        ('a_reasons contains "x" if {\n\tevery item in input.evidence {\n\t\tnot startswith(item.label, "p")\n\t}\n}\n', 3),
        ('a_reasons contains "x" if {\n\tsome c in config.labels\n\tnot c < config.labels[input.subject.clearance]\n}\n', 3),
    ],
    "absent-grants": [
        ("ok(item) if not item.aggregate_n\n", 1),
        ("ok if not input.prompt.risk\n", 1),
        ("ok(item) if {\n\tis_string(item.label)\n\tnot item.injection.score_milli\n}\n", 3),
        ('ok(item) if count([f | some f in item.findings; f.kind == "pii"]) == 0\n', 1),
        ("ok(item) if {f | some f in item.findings} == set()\n", 1),
        ("ok(item) if [f | some f in item.findings] == []\n", 1),
        ("ok(item) if count({f | some f in item.findings}) < 3\n", 1),
        ("ok(item) if 1 > count({f | some f in item.findings})\n", 1),
        ("ok(item) if not count({f | some f in item.findings}) > 0\n", 1),
        ("ok(item) if {\n\tn := count({f | some f in item.findings})\n\tn == 0\n}\n", 3),
        ('ok(item) if object.get(item, "aggregate_n", 9) >= 3\n', 1),
        ('ok if object.get(input.subject, "session_expires_ms", null) == null\n', 1),
        ('ok(item) if object.get(item, "label", "public") == "public"\n', 1),
        ('ok(item) if object.get(item, "lifecycle", "") != "withdrawn"\n', 1),
        ('ok(item) if not object.get(item, "aggregate_n", false)\n', 1),
        ('ok(item) if object.get(item, "aggregate_n", true)\n', 1),
    ],
    "unbound-message": [
        ('deny contains {"rule": input.subject.id} if not ok\n\nok if input.now_ms > 1\n', 1),
        ("a_reasons contains item.label if {\n\tsome item in input.evidence\n\titem.tenant\n}\n", 1),
        ('a_obligations contains {"op": "redact", "params": {"start": f.start}} if {\n\tsome f in input.evidence[0].findings\n}\n', 1),
        ("a_reasons contains concat(\"\", [input.request.id]) if not ok\n\nok if input.now_ms > 1\n", 1),
        ('a_reasons contains said(input.request.id) if not ok\n\nok if input.now_ms > 1\n\nsaid(x) := {"rule": x}\n', 1),
    ],
    "denial-without-helper": [
        (meta() + 'a_reasons contains "x" if input.subject.clearance == "public"\n', 9),
        (meta() + 'a_reasons contains "x" if input.now_ms < 3\n', 9),
        (meta(severity="drop") + 'a_reasons contains "x" if {\n\tsome item in input.evidence\n\titem.lifecycle == "active"\n}\n', 9),
        (meta() + 'a_reasons contains "x" if not input.subject.id\n', 9),
        (meta() + 'a_reasons contains "x"\n', 9),
    ],
    "open-default": [
        ("default allow := true\n", 1),
        ('default decision := {"effect": "allow"}\n', 1),
        ('default decision := {"effect": "allow_with_obligations"}\n', 1),
        ('default effect := "allow"\n', 1),
    ],
    "rule-conflict": [
        ("level := 1 if input.now_ms > 1\n\nlevel := 2 if input.now_ms > 2\n", 3),
        ("f(x) := 1 if x > 1\n\nf(x) := 2 if x > 2\n", 3),
        ("level := input.now_ms if input.now_ms > 1\n\nlevel := true if input.now_ms > 2\n", 3),
    ],
    "portable-builtins": [
        ("late if time.now_ns() > 1\n", 1),
        ('x := sprintf("%v", [input.now_ms])\n', 1),
        ("x := lower(input.subject.id)\n", 1),
        ("x := substring(input.subject.id, 0, 1)\n", 1),
        ('x := http.send({"method": "GET", "url": "http://127.0.0.1"})\n', 1),
        ('x := crypto.sha256("a")\n', 1),
        ('x := rand.intn("a", 3)\n', 1),
        ("x := opa.runtime()\n", 1),
        ("x := json.marshal(input)\n", 1),
        ('x if glob.match("a*", [], input.subject.id)\n', 1),
        ("x if {\n\tprint(input.now_ms)\n\tinput.now_ms > 1\n}\n", 2),
        ("x contains path if walk(input, [path, _])\n", 1),
        ('x := $"{input.now_ms} ms"\n', 1),
    ],
    "regex-classes": [
        ('x if regex.match(`^\\w+$`, input.subject.id)\n', 1),
        ('x if regex.match(`^\\d$`, input.subject.id)\n', 1),
        ('x if regex.match("(?i)^a$", input.subject.id)\n', 1),
        ('x if regex.match("^[[:alpha:]]$", input.subject.id)\n', 1),
        ('x if regex.match("^é$", input.subject.id)\n', 1),
        ("x if regex.match(input.request.id, input.subject.id)\n", 1),
    ],
    "fraction": [
        ("x := 0.5\n", 1),
        ("x := 9007199254740993\n", 1),
        ("x := input.now_ms / 2\n", 1),
        ("x := round(input.now_ms)\n", 1),
        ('x := to_number("1")\n', 1),
    ],
    "closed-sets": [
        ('x if input.subject.clearance == "secret"\n', 1),
        ('x if "fly" in input.subject.capabilities\n', 1),
        ('x if "root" in input.subject.roles\n', 1),
        ("x if {\n\tsome item in input.evidence\n\titem.label == \"Public\"\n}\n", 3),
        ('x if "deleted" != input.evidence[0].lifecycle\n', 1),
    ],
    "unknown-data": [
        ("x if input.now_ms > config.limit.support_milli\n", 1),
        ("x if input.now_ms > config.limits.support\n", 1),
        ("x if data.kfm.nobody.ok\n", 1),
        ("x if data.other.thing\n", 1),
        ("x if data.kfm.ai.missing_rule\n", 1),
    ],
    "unknown-field": [
        ('ok(item) if item.labl == "public"\n', 1),
        ("x if {\n\tsome item in input.evidence\n\titem.tennant == input.subject.tenant\n}\n", 3),
    ],
    "whole-metadata": [
        ("# METADATA\n# title: x\n# custom: {id: X01}\na_reasons contains \"x\" if not ok\n\nok if input.now_ms > 1\n", 4),
        (meta(severity="warn") + 'a_reasons contains "x" if not ok\n\nok if input.now_ms > 1\n', 9),
        (meta(id="rule-1") + 'a_reasons contains "x" if not ok\n\nok if input.now_ms > 1\n', 9),
        (meta() + 'a_reasons contains "x" if not ok\n\nok if input.now_ms > 1\n\n' + meta() + 'a_reasons contains "y" if not ok\n', 21),
        ('a_reasons contains "X07" if not ok\n\nok if input.now_ms > 1\n', 1),
    ],
}  # fmt: skip

GOOD: dict[str, Sequence[str]] = {
    "negated-argument": [
        HELPER + 'a_reasons contains "x" if {\n\tsome item in input.evidence\n\tnot tenant_ok(item)\n}\n',
        'a_reasons contains "x" if not input.point == "query"\n',
        'a_reasons contains "x" if not input.subject.id\n',
        'a_reasons contains "x" if {\n\tis_string(input.subject.id)\n\tnot startswith(input.subject.id, "u")\n}\n',
        'a_reasons contains "x" if not may("ai.query")\n\nmay(p) if p == input.request.id\n',
        'kept contains id if some id in input.prior.admit\n\na_reasons contains "x" if {\n\tsome id, _ in input.evidence\n\tnot id in kept\n}\n',
        'a_reasons contains "x" if {\n\tsome f in input.evidence[0].findings\n\tplaced(f)\n\tnot f.kind in config.leaks\n}\n\nplaced(f) if is_string(f.kind)\n',
        'a_reasons contains "x" if not 1 in [each | some each in input.answer.markers]\n',
        'default level := 0\n\nlevel := 1 if input.now_ms > 1\n\na_reasons contains "x" if not level > 3\n',
    ],
    "absent-grants": [
        'ok(item) if not "aggregate_n" in object.keys(item)\n',
        "ok(item) if {\n\tis_number(item.aggregate_n)\n\titem.aggregate_n >= 3\n}\n",
        'ok(item) if {\n\tis_array(item.findings)\n\tcount([f | some f in item.findings; f.kind == "pii"]) == 0\n}\n',
        "ok(item) if count({f | some f in item.findings}) > 0\n",
        "ok(item) if {f | some f in item.findings} != set()\n",
        'ok(item) if object.get(item, "aggregate_n", 0) >= 3\n',
        'ok(item) if not object.get(item, "aggregate_n", true)\n',
        'ok(item) if object.get(item, "label", "") == "public"\n',
        'ok if input.subject.session_expires_ms == null\n',
        "kept contains id if some id in input.prior.admit\n\nok(item) if {\n\tusable := kept\n\tnot usable[item.id]\n}\n",
        'ok(item) if every f in item.findings {\n\tf.kind != "pii"\n}\n',
        "ok(item) if {\n\titem.aggregate_n\n\tnot item.aggregate_n == 1\n}\n",
        meta() + 'a_reasons contains "x" if not input.subject.id\n',
    ],
    "unbound-message": [
        'a_reasons contains {"rule": "E"} if not ok\n\nok if input.now_ms > 1\n',
        "a_reasons contains item.label if {\n\tsome item in input.evidence\n\tis_string(item.label)\n}\n",
        "a_reasons contains id if some id in input.prior.admit\n",
        "admitted[item.id] := item if {\n\tsome item in input.evidence\n\titem.tenant\n}\n",
        'a_obligations contains {"op": "x", "ref": config.notice.catalogue} if not ok\n\nok if input.now_ms > 1\n',
    ],
    "denial-without-helper": [
        meta() + 'a_reasons contains "x" if not ok\n\nok if input.now_ms > 1\n',
        meta() + 'a_reasons contains "x" if {\n\tsome item in input.evidence\n\tnot tenant_ok(item)\n}\n\n' + HELPER,
        meta(severity="oblige") + 'a_obligations contains "x" if input.now_ms > 1\n',
        meta("lint:", " denial-without-helper: Another rule denies a missing verdict.")
        + 'a_reasons contains "x" if input.prompt.verdict == "REJECT"\n',
    ],
    "open-default": ["default allow := false\n", 'default decision := {"effect": "deny"}\n', "default level := 1\n"],
    "rule-conflict": [
        "ok if input.now_ms > 1\n\nok if input.now_ms < 9\n",
        "level := 1 if {\n\tinput.now_ms > 1\n} else := 2\n",
        "default level := 0\n\nlevel := 1 if input.now_ms > 1\n",
        "s contains 1 if input.now_ms > 1\n\ns contains 2 if input.now_ms > 2\n",
        'o["a"] := 1 if input.now_ms > 1\n\no["b"] := 2 if input.now_ms > 2\n',
    ],
    "portable-builtins": [
        "x := count(input.evidence)\n",
        "x := array.concat([1], [2])\n",
        'x if startswith(input.subject.id, "u")\n',
        "x := ok(1)\n\nok(y) := y + 1\n",
        "x := {k | some k, _ in input.subject}\n",
    ],
    "regex-classes": ['x if regex.match("^[0-9A-Za-z_]+$", input.subject.id)\n'],
    "fraction": ["x := 1000 * input.now_ms\n", "x := -1\n", "x := 9007199254740991\n"],
    "closed-sets": [
        'x if input.subject.clearance == "public"\n',
        'x if "pii" in input.subject.capabilities\n',
        'x if input.subject.id == "secret"\n',
        "x if input.subject.clearance == input.subject.id\n",
    ],
    "unknown-data": [
        "x if input.now_ms > config.limits.support_milli\n",
        "x if data.kfm.ai.ok\n\nok if input.now_ms > 1\n",
        "x := config.labels[input.subject.clearance]\n",
        "x := data.kfm.config\n",
    ],
    "unknown-field": [
        'ok(item) if item.label == "public"\n',
        'made := {"own": 1}\n\nx(y) if y.own == 1\n',
        "x(duty) if duty.op\n",
    ],
    "whole-metadata": [
        meta() + 'a_reasons contains "X01" if not ok\n\nok if input.now_ms > 1\n',
        "# METADATA\n# title: Only a helper\nok if input.now_ms > 1\n",
        "x := 1\n",
    ],
}  # fmt: skip


def found(opa: Opa, folder: Path, text: str) -> list[tuple[str, int]]:
    """The findings in one file beside the shipped data: lint rule, row after the imports."""
    (folder / DATA_PATH).parent.mkdir(parents=True)
    (folder / DATA_PATH).write_bytes((SHIPPED / "rego" / DATA_PATH).read_bytes())
    (folder / "kfm" / "ai").mkdir()
    (folder / "kfm" / "ai" / "x.rego").write_text(HEAD + text)
    return [(each.rule, each.row - FIRST + 1) for each in lint(opa, folder)]


@pytest.mark.parametrize(("rule", "text", "row"), [(rule, *each) for rule, cases in BAD.items() for each in cases])
def test_bad(opa: Opa, tmp_path: Path, rule: str, text: str, row: int) -> None:
    assert (rule, row) in found(opa, tmp_path, text)


@pytest.mark.parametrize(("rule", "text"), [(rule, each) for rule, cases in GOOD.items() for each in cases])
def test_good(opa: Opa, tmp_path: Path, rule: str, text: str) -> None:
    assert rule not in {name for name, _ in found(opa, tmp_path, text)}


def test_every_rule_has_examples_and_advice() -> None:
    assert {rule.id for rule in LINT_RULES} == BAD.keys() == GOOD.keys()
    assert all(rule.advice.endswith((".", ")")) for rule in LINT_RULES)


@pytest.mark.parametrize("excuse", ["no-such-rule: Because.", 'fraction: ""', "fraction: 7"])
def test_an_excuse_names_a_rule_and_a_reason(opa: Opa, tmp_path: Path, excuse: str) -> None:
    text = meta("lint:", f" {excuse}") + 'a_reasons contains "x" if not ok\n\nok if input.now_ms > 1\n'
    rules = {name for name, _ in found(opa, tmp_path, text)}
    assert rules == (set() if "7" in excuse else {UNKNOWN_EXCUSE})


def test_what_only_a_comprehension_reads_is_not_stated(opa: Opa, tmp_path: Path) -> None:
    """It is empty where the field is absent, and proves nothing of it."""
    text = (
        'a_reasons contains "x" if {\n\tn := [p | p := input.subject.id]\n\tnot startswith(input.subject.id, n[0])\n}\n'
    )
    assert ("negated-argument", 3) in found(opa, tmp_path, text)


@pytest.mark.parametrize(
    ("file", "right", "wrong"),
    [
        ("ai/evidence", "input.now_ms < item", "input.now_msx < item"),
        ("ai/request", "input.now_ms", "input.now"),
        ("subject/subject", "input.subject.tenant != ", "input.subject.tennant != "),
        ("access/access", "input.subject.tenant", "input.subjct.tenant"),
        ("ai/evidence", "config.limits.injection_milli", "config.limits.injection_mili"),
    ],
)
def test_the_schemas_that_the_metadata_name_type_input_and_data(
    opa: Opa, tmp_path: Path, file: str, right: str, wrong: str
) -> None:
    """As an author or an editor asks: the schemas' folder, and nothing else of ours."""
    shutil.copytree(SHIPPED / "rego", tmp_path / "rego")
    check = ("check", "--schema", str(SHIPPED / "schemas"), "rego")
    opa.run(*check, cwd=tmp_path)
    path = tmp_path / "rego" / "kfm" / f"{file}.rego"
    assert right in path.read_text("utf-8")
    path.write_text(path.read_text("utf-8").replace(right, wrong), "utf-8")
    with pytest.raises(OpaFailed, match="undefined ref: "):
        opa.run(*check, cwd=tmp_path)


def test_the_shipped_bundle_is_clean(opa: Opa) -> None:
    assert lint(opa, SHIPPED / "rego") == ()


def test_what_is_called_portable_is_compiled_into_the_module(opa: Opa, tmp_path: Path) -> None:
    """Each name of PORTABLE, called with the arity that OPA declares: the module must ask its host for none of them."""
    declared = json.loads(opa.run("capabilities", "--current", cwd=tmp_path))["builtins"]
    arity = {each["name"]: len(each["decl"].get("args") or ()) for each in declared}
    names = sorted(PORTABLE - {"assign", "eq"})
    assert set(names) <= arity.keys()
    calls = [f"r contains x if x := {n}({', '.join(f'input.a{i}' for i in range(arity[n]))})" for n in names]
    (tmp_path / "t.rego").write_text("package t\n\n" + "\n".join(calls) + "\n")
    opa.run("build", "-b", ".", "-t", "wasm", "-e", "t/r", "-o", "out.tar.gz", cwd=tmp_path)
    with tarfile.open(tmp_path / "out.tar.gz") as archive:
        member = archive.extractfile("/policy.wasm")
        assert member is not None
        WasmEngine.open(with_module(member.read()))
