"""A leaf has a second version: a planted one is written and read beside the first, in Python and in the pages' script,
and what is of neither is refused."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.web.log_page import FORMS as PAGE_FORMS
from ledger.entry.leaf import encode_leaf, parse_leaf
from ledger.entry.leaf_form import KNOWN, forms_of
from ledger.errors import EntryRefused, MalformedLeaf
from ledger.model import FORMS, LEAF_VERSION, PART_NAMES, Kind, Leaf, Ref
from tests.ledger_vectors.leaves import REFERRED, leaf

V2 = "exhibit.ledger/999999"  # no release gets there, so a real second version leaves these tests as they are
PLANTED = {**FORMS, **{(V2, kind): (*PART_NAMES[kind], "claims.v2") for kind in Kind}}
BOTH = forms_of(PLANTED)
WEB = Path(__file__).parents[2] / "api" / "web"
names = st.from_regex(r"\A[a-z][a-z.]{0,12}\Z")


def of(version: str, kind: Kind, parts: tuple[str, ...], committed: str = "ab" * 32) -> Leaf:
    made = leaf(kind, parts=dict.fromkeys(parts, committed), refs=(Ref("intent", REFERRED, "ef" * 32),))
    return Leaf(**{name: getattr(made, name) for name in Leaf.__slots__ if name != "version"}, version=version)


def test_the_first_version_stays_readable() -> None:
    """This list only grows. What is written may change; what was written is read."""
    assert {("exhibit.ledger/1", kind) for kind in Kind} <= set(FORMS)
    assert {(LEAF_VERSION, kind) for kind in Kind} <= set(FORMS)


@pytest.mark.parametrize("kind", Kind)
def test_both_versions_are_written_and_read(kind: Kind) -> None:
    first, second = of(LEAF_VERSION, kind, PART_NAMES[kind]), of(V2, kind, PLANTED[V2, kind])
    for made in (first, second):
        data = encode_leaf(made, forms=BOTH)
        assert parse_leaf(data, forms=BOTH) == made
        assert json.loads(data)["v"] == made.version
    assert encode_leaf(first) == encode_leaf(first, forms=BOTH)


@pytest.mark.parametrize("kind", Kind)
def test_a_leaf_of_an_unknown_version_is_refused(kind: Kind) -> None:
    made = of(V2, kind, PLANTED[V2, kind])
    with pytest.raises(MalformedLeaf, match="v is not"):
        parse_leaf(encode_leaf(made, forms=BOTH))
    with pytest.raises(EntryRefused):
        encode_leaf(made)


@pytest.mark.parametrize("kind", Kind)
def test_the_parts_of_one_version_under_the_name_of_another_are_refused(kind: Kind) -> None:
    for version, parts in ((V2, PART_NAMES[kind]), (LEAF_VERSION, PLANTED[V2, kind])):
        with pytest.raises(EntryRefused, match="parts are not exactly"):
            encode_leaf(of(version, kind, parts), forms=BOTH)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(Kind), st.lists(names, min_size=1, max_size=8, unique=True), st.integers(2, 10**6))
def test_any_list_of_parts_can_be_a_form(kind: Kind, parts: list[str], number: int) -> None:
    version = f"exhibit.ledger/{number}"
    forms = {**KNOWN, **forms_of({(version, kind): tuple(parts)})}
    made = of(version, kind, tuple(parts))
    data = encode_leaf(made, forms=forms)
    assert parse_leaf(data, forms=forms) == made
    assert list(parse_leaf(data, forms=forms).parts) == parts
    for at in (0, len(data) // 2, len(data) - 2):
        with pytest.raises(MalformedLeaf):
            parse_leaf(data[:at] + b" " + data[at:], forms=forms)


SCRIPT = """
const fs = require("fs"), input = JSON.parse(fs.readFileSync(0, "utf8"));
class Failed extends Error {}
const check = (good, step, why) => { if (!good) throw new Failed(why); };
const text8 = bytes => new TextDecoder("utf-8", { fatal: true }).decode(bytes);
const document = { getElementById: () => ({ textContent: JSON.stringify(input.forms) }) };
eval(fs.readFileSync(input.script, "utf8") + `
  const forms = leafForms();
  const read = text => { try { return parseLeaf(new TextEncoder().encode(text), forms, 0).v; } catch { return null; } };
  process.stdout.write(JSON.stringify(input.leaves.map(read)));`);
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="no node")
def test_the_script_of_the_pages_reads_both_versions() -> None:
    forms = {f"{version} {kind}": list(parts) for (version, kind), parts in PLANTED.items()}
    leaves, expected = list[str](), list[str | None]()
    for version in (LEAF_VERSION, V2):
        for kind in Kind:
            data = encode_leaf(of(version, kind, PLANTED[version, kind]), forms=BOTH).decode()
            other = data.replace(version, V2 if version == LEAF_VERSION else LEAF_VERSION)
            unknown = data.replace(version, "exhibit.ledger/3")
            leaves += [data, other, unknown, data.replace("/", "x"), data + " "]
            expected += [version, None, None, None, None]
    said = {"forms": forms, "leaves": leaves, "script": str(WEB / "leaf.js")}
    done = subprocess.run(["node", "-e", SCRIPT], input=json.dumps(said), capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == expected
    assert set(PAGE_FORMS) == {f"{version} {kind}" for version, kind in FORMS}
