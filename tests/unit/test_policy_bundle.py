"""Bundle, data, canonical bytes, module: what does not fit together is refused before it decides anything."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from policy.authoring.build import main as build_main
from policy.authoring.opa import OpaMissing, find_opa
from policy.bundles.bundle import SHIPPED, Bundle, bundle_digest, load_bundle
from policy.canonical import canonical, digest
from policy.data import DATA_PATH, PolicyData
from policy.errors import BundleRejected, InputRejected, PolicyUnavailable
from policy.model import Subject
from policy.wasm import WasmEngine
from tests.policy_world import places

DATA = load_bundle().data
DATA_JSON = (SHIPPED / "rego" / DATA_PATH).read_bytes()
Edit = Callable[[dict[str, Any]], object]


# ------------------------------------------------------------------------------------------------------ canonical bytes

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(max_codepoint=127)), inner, max_size=4)
    ),
    max_leaves=10,
)


@settings(deadline=None)
@given(PLAIN)
def test_canonical_bytes_are_those_of_rfc_8785(value: object) -> None:
    assert canonical(value) == rfc8785.dumps(value)  # type: ignore[arg-type]
    assert digest(canonical(value)).removeprefix("sha256:").isalnum()


@pytest.mark.parametrize(
    "value",
    [
        1.0,
        math.nan,
        math.inf,
        2**53,
        -(2**53),
        "\ud800",
        {"é": 1},
        {1: 2},
        {"a": [{"b": 0.5}]},
        b"x",
        {1},
        (1, 2),
        frozenset(),
    ],
    ids=ascii,
)
def test_what_engines_read_differently_is_refused(value: object) -> None:
    with pytest.raises(InputRejected):
        canonical(value)


def test_depth_exhausts_nothing() -> None:
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises((InputRejected, RecursionError)):
        canonical([nested, 0.5])


# ---------------------------------------------------------------------------------------------------------- the subject


@pytest.mark.parametrize(
    ("roles", "resolved", "clearance"),
    [
        ((), ("public_viewer",), "public"),
        (("viewer",), ("public_viewer",), "public"),
        (("public", "public_viewer"), ("public_viewer",), "public"),
        (("root",), ("public_viewer",), "public"),
        (("Admin",), ("public_viewer",), "public"),
        (("reviewer",), ("maintainer",), "confidential"),
        (("contributor", "root"), ("contributor", "public_viewer"), "internal"),
        (("admin",), ("admin",), "restricted"),
        (("auditor",), ("auditor",), "public"),
        (("auditor", "contributor"), ("auditor", "contributor"), "internal"),
    ],
)
def test_roles_resolve(roles: tuple[str, ...], resolved: tuple[str, ...], clearance: str) -> None:
    subject = Subject.of(id="u", tenant="t", roles=roles, data=DATA)
    assert (subject.roles, subject.clearance) == (resolved, clearance)


def test_capabilities_come_from_roles_and_keys_and_only_known_ones() -> None:
    subject = Subject.of(id="u", tenant="t", roles=("auditor",), extra_capabilities=("pii", "fly"), data=DATA)
    assert subject.capabilities == ("ledger.audit", "pii", "trace")


def test_groups_are_a_set() -> None:
    assert Subject.of(id="u", tenant="t", roles=(), groups=("b", "a", "b"), data=DATA).groups == ("a", "b")


# ------------------------------------------------------------------------------------------------------------- the data


def schema() -> Any:
    return json.loads((SHIPPED / "schemas" / "config.schema.json").read_text())


def test_the_shipped_data_fit_their_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(json.loads(DATA_JSON), schema())


def changed(edit: Edit) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(DATA_JSON)
    edit(data)
    return data


@pytest.mark.parametrize(
    "edit",
    [
        lambda d: d.pop("handling"),
        lambda d: d.update(more=1),
        lambda d: d["limits"].update(support_milli=1_001),
        lambda d: d["limits"].update(support_milli=0.5),
        lambda d: d["handling"]["pii"].update(obligation={"op": "redact", "params": {}}),
        lambda d: d["handling"]["pii"].update(obligation={"op": "sing", "params": {}}),
        lambda d: d["handling"]["sensitive_location"]["obligation"]["params"].update(metres=0),
        lambda d: d.update(lifecycle=["active", "withdrawn"]),
    ],
)
def test_the_schema_refuses(edit: Edit) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(changed(edit), schema())


@pytest.mark.parametrize(
    "edit",
    [
        lambda d: d.pop("roles"),
        lambda d: d["labels"].update(internal=5),
        lambda d: d["labels"].update(internal="1"),
        lambda d: d.update(default_role="nobody"),
        lambda d: d.update(default_role="admin"),
        lambda d: d.update(default_purpose="none"),
        lambda d: d["aliases"].update(boss="root"),
        lambda d: d["roles"]["admin"].update(clearance="cosmic"),
        lambda d: d["roles"]["admin"]["capabilities"].append("fly"),
        lambda d: d.update(roles=[]),
    ],
)
def test_data_that_do_not_fit_together_are_refused(edit: Edit) -> None:
    with pytest.raises(BundleRejected):
        PolicyData.parse(json.dumps(changed(edit)).encode())


WRONG = [None, True, 0, 7, 1_001, 0.5, "", "x", "1", [], ["x"], ["public", "public"], {}, {"x": 1}, {"public": 0}]


@settings(deadline=None, max_examples=50)
@given(st.data())
def test_whatever_the_schema_refuses_is_refused_on_reading(data: st.DataObject) -> None:
    """One place of the data, anywhere, given another value, taken away, or given a neighbour."""
    document = json.loads(DATA_JSON)
    place, key = data.draw(st.sampled_from([each for each in places(document) if each[0] is not None]))
    match data.draw(st.sampled_from(["set", "delete", "add"])):
        case "set":
            place[key] = data.draw(st.sampled_from(WRONG))
        case "delete":
            del place[key]
        case _ if isinstance(place, dict):
            place["more"] = data.draw(st.sampled_from(WRONG))
        case _:
            place.append(data.draw(st.sampled_from(WRONG)))
    if not jsonschema.Draft202012Validator(schema()).is_valid(document):
        with pytest.raises(BundleRejected):
            PolicyData.parse(json.dumps(document).encode())


def test_no_value_of_another_shape_is_read_in_any_place() -> None:
    """Every place of the data with every wrong value: a text, or an object, is no list without members."""
    wrong = jsonschema.Draft202012Validator(schema())
    document = json.loads(DATA_JSON)
    for place, key in [each for each in places(document) if each[0] is not None]:
        kept = place[key]
        for value in WRONG:
            place[key] = value
            if not wrong.is_valid(document):
                with pytest.raises(BundleRejected):
                    PolicyData.parse(json.dumps(document).encode())
        place[key] = kept


@pytest.mark.parametrize("text", [b"", b"[]", b"null", b"\xff", b"{}"])
def test_data_that_are_no_data(text: bytes) -> None:
    with pytest.raises(BundleRejected):
        PolicyData.parse(text)


# ----------------------------------------------------------------------------------------------------------- the bundle


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("rego", "wasm"):
        shutil.copytree(SHIPPED / name, tmp_path / name)
    return tmp_path


def test_a_copy_has_the_digest_of_the_manifest(folder: Path) -> None:
    manifest = json.loads((folder / "wasm" / "manifest.json").read_text())
    bundle = load_bundle(folder)
    assert bundle.digest == manifest["bundle"] == bundle_digest(manifest["files"])
    assert bundle.files == manifest["files"]


def test_edited_data_load_and_have_another_digest(folder: Path) -> None:
    data = changed(lambda d: d["limits"].update(support_milli=900))
    (folder / "rego" / DATA_PATH).write_text(json.dumps(data))
    bundle = load_bundle(folder)
    assert bundle.digest != load_bundle().digest
    assert json.loads(bundle.data_json)["kfm"]["config"]["limits"]["support_milli"] == 900


def test_tests_are_no_part_of_the_bundle(folder: Path) -> None:
    (folder / "rego" / "kfm" / "ai" / "more_test.rego").write_text("package kfm.ai_test\n")
    assert load_bundle(folder).digest == load_bundle().digest


@pytest.mark.parametrize(
    "damage",
    [
        lambda f: (f / "rego/kfm/access/access.rego").write_text("package kfm.access\n"),
        lambda f: (f / "rego/kfm/access/access.rego").unlink(),
        lambda f: (f / "rego/kfm/ai/extra.rego").write_text("package kfm.ai\n"),
        lambda f: (f / "rego" / DATA_PATH).unlink(),
        lambda f: (f / "rego" / DATA_PATH).write_text('{"labels": 1.5}'),
        lambda f: (f / "rego" / DATA_PATH).write_bytes(DATA_JSON.replace(b"500", b"0.5")),
        lambda f: (f / "rego" / "data.json").write_text("{}"),
        lambda f: (f / "wasm/bundle.wasm").unlink(),
        lambda f: (f / "wasm/bundle.wasm").write_bytes((f / "wasm/bundle.wasm").read_bytes()[:-1] + b"x"),
        lambda f: (f / "wasm/manifest.json").unlink(),
        lambda f: (f / "wasm/manifest.json").write_text("[]"),
        lambda f: (f / "wasm/manifest.json").write_text("{}"),
        lambda f: (f / "wasm/manifest.json").write_text("\x00"),
        lambda f: shutil.rmtree(f / "rego"),
    ],
)
def test_a_damaged_bundle_is_rejected(folder: Path, damage: Callable[[Path], object]) -> None:
    damage(folder)
    with pytest.raises(BundleRejected):
        load_bundle(folder)


# ----------------------------------------------------------------------------------------------------------- the module

ABI = '(global (export "opa_wasm_abi_version") i32 (i32.const {abi}))'


def with_module(wasm: bytes) -> Bundle:
    shipped = load_bundle()
    return Bundle(shipped.digest, shipped.files, shipped.data, shipped.data_json, wasm, "0" * 64)


def assembled(text: str) -> bytes:
    import wasmtime

    return bytes(wasmtime.wat2wasm(text))


@pytest.mark.parametrize(
    "wasm",
    [b"", b"\0asm", b"\0asm\1\0\0\0", load_bundle().wasm[:1_000], assembled(f"(module {ABI.format(abi=2)})")],
    ids=["empty", "cut", "hollow", "truncated", "another ABI"],
)
def test_a_module_that_is_none_is_rejected(wasm: bytes) -> None:
    with pytest.raises(BundleRejected):
        WasmEngine.open(with_module(wasm))


FAKE = """(module
  (import "env" "memory" (memory 1))
  (import "env" "opa_abort" (func $abort (param i32)))
  (import "env" "opa_builtin0" (func $builtin (param i32 i32) (result i32)))
  (global (export "opa_wasm_abi_version") i32 (i32.const 1))
  (data (i32.const 1000) "{{}}\\00") (data (i32.const 1010) "{{\\22kfm/ai/query\\22:0}}\\00")
  (data (i32.const 1040) "[]\\00") (data (i32.const 1050) "no\\00")
  (func (export "builtins") (result i32) (i32.const 1000))
  (func (export "entrypoints") (result i32) (i32.const 1010))
  (func (export "opa_json_dump") (param i32) (result i32) (local.get 0))
  (func (export "opa_malloc") (param i32) (result i32) (i32.const 2000))
  (func (export "opa_free") (param i32))
  (func (export "opa_json_parse") (param i32 i32) (result i32) (i32.const 3000))
  (func (export "opa_heap_ptr_get") (result i32) (i32.const 20000))
  (func (export "opa_eval") (param i32 i32 i32 i32 i32 i32 i32) (result i32) {body}))"""


@pytest.mark.parametrize(
    "body",
    [
        "(loop $again (br $again)) (i32.const 0)",
        "unreachable",
        "(i32.const 0)",
        "(call $abort (i32.const 1050)) (i32.const 1040)",
        "(call $builtin (i32.const 0) (i32.const 0))",
        "(i32.load (i32.const -1))",
        "(i32.const 2147483647)",
        "(i32.div_s (i32.const 1) (i32.const 0))",
        "(memory.fill (i32.const 0) (i32.const 1) (i32.const 393216)) (i32.const 9)",
    ],
    ids=[
        "endless loop",
        "unreachable",
        "null",
        "abort",
        "host call",
        "out of bounds",
        "wild pointer",
        "division",
        "no end",
    ],
)
async def test_a_module_that_goes_wrong_gives_no_decision_and_stops(body: str) -> None:
    engine = WasmEngine.open(with_module(assembled(FAKE.format(body=body))))
    for _ in range(2):
        with pytest.raises(PolicyUnavailable):
            await engine.evaluate("kfm/ai/query", b"{}", deadline_s=0.05)
    await engine.aclose()


async def test_the_same_module_without_the_fault_replies() -> None:
    engine = WasmEngine.open(with_module(assembled(FAKE.format(body="(i32.const 1040)"))))
    assert (await engine.evaluate("kfm/ai/query", b"{}", deadline_s=0.5)).results == b"[]"
    await engine.aclose()


async def test_memory_is_capped() -> None:
    refused = "(i32.eq (memory.grow (i32.const 1100)) (i32.const -1))"
    grow = f"(if (result i32) {refused} (then (i32.const 1040)) (else (unreachable)))"
    engine = WasmEngine.open(with_module(assembled(FAKE.format(body=grow))))
    assert (await engine.evaluate("kfm/ai/query", b"{}", deadline_s=0.5)).results == b"[]"
    await engine.aclose()


# ------------------------------------------------------------------------------------------------------------ authoring


def test_without_opa_there_is_a_hint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("EXHIBIT_OPA_BIN", raising=False)
    with pytest.raises(OpaMissing, match="go install"):
        find_opa()


@pytest.mark.parametrize("text", ["#!/bin/sh\n", "#!/bin/sh\nexit 3\n", "no program\n", "#!/nowhere\n"])
def test_what_is_not_opa_is_no_opa(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str) -> None:
    (tmp_path / "opa").write_text(text)
    (tmp_path / "opa").chmod(0o755)
    monkeypatch.setenv("EXHIBIT_OPA_BIN", str(tmp_path / "opa"))
    with pytest.raises(OpaMissing, match="go install"):
        find_opa()
    (tmp_path / "opa").chmod(0o644)
    with pytest.raises(OpaMissing, match="go install"):
        find_opa()


def test_another_version_of_opa_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = tmp_path / "opa"
    other.write_text("#!/bin/sh\necho 'Version: 0.70.0'\n")
    other.chmod(0o755)
    monkeypatch.setenv("EXHIBIT_OPA_BIN", str(other))
    with pytest.raises(OpaMissing, match=r"found 0\.70\.0"):
        find_opa()
    assert build_main(["--check"]) == 1


def test_the_builder_says_how_it_is_used() -> None:
    assert build_main(["--all"]) == 2
