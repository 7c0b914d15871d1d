"""Who sees what, as a table: read whole or refused with its place, and decided as a request is."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from policy.authoring.testing.access_table import FILE, AccessTable, CellResult, parse_table, read_table, try_table
from policy.authoring.testing.vectors import VectorsInvalid
from policy.bundles.bundle import load_bundle
from policy.wasm import WasmEngine

BUNDLE = load_bundle()
DOCS = (Path(__file__).parents[2] / "docs" / "policy.md").read_text("utf-8")
EXAMPLE = next(each for each in re.findall(r"```toml\n(.*?)```", DOCS, re.DOTALL) if "[principal." in each)
MORE = """
[principal.stranger]
role = "admin"
tenant = "elsewhere"
[principal.keeper]
role = "contributor"
groups = ["keepers"]
[resource.mound]
label = "public"
handling = ["pii", "sensitive_location"]
[resource.file]
label = "confidential"
owner_group = "keepers"
[resource.gone]
label = "public"
lifecycle = "withdrawn"
[resource.theirs]
label = "public"
tenant = "elsewhere"
[sees.stranger]
mound = "hidden"
file = "hidden"
gone = "hidden"
theirs = "visible"
[sees.keeper]
mound = "generalise_geometry+redact"
file = "visible"
gone = "hidden"
theirs = "hidden"
"""


async def decided(table: AccessTable) -> tuple[CellResult, ...]:
    engine = WasmEngine.open(BUNDLE)
    try:
        return await try_table(table, BUNDLE, engine)
    finally:
        await engine.aclose()


@pytest.mark.parametrize("text", [EXAMPLE, MORE])
async def test_the_shipped_bundle_decides_what_is_stated(text: str) -> None:
    found = await decided(parse_table(tomllib.loads(text), BUNDLE))
    assert len(found) in (6, 8)
    assert [str(each) for each in found if not each.passed] == []


@pytest.mark.parametrize("text", [EXAMPLE, MORE])
async def test_each_cell_that_is_stated_wrongly_fails_alone(text: str) -> None:
    right = tomllib.loads(text)
    for principal, row in right["sees"].items():
        for resource, told in row.items():
            wrong = tomllib.loads(text)
            wrong["sees"][principal][resource] = "visible" if told == "hidden" else "hidden"
            failed = [each for each in await decided(parse_table(wrong, BUNDLE)) if not each.passed]
            assert [(each.principal, each.resource, each.decided) for each in failed] == [(principal, resource, told)]


def changed(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    document = tomllib.loads(EXAMPLE)
    change(document)
    return document


WRONG: dict[str, Callable[[dict[str, Any]], object]] = {
    "principal.visitor": lambda d: d["principal"]["visitor"].update(role="nobody"),
    "'rolle' is not known": lambda d: d["principal"]["visitor"].update(rolle="admin"),
    "principal.visitor.groups": lambda d: d["principal"]["visitor"].update(groups="data_stewards"),
    "principal.visitor.role": lambda d: d["principal"]["visitor"].update(role=7),
    "principal.visitor is a table": lambda d: d["principal"].update(visitor="public_viewer"),
    "'top secret'": lambda d: d["resource"]["census"].update(label="top secret"),
    "resource.census: ''": lambda d: d["resource"]["census"].pop("label"),
    "'unheard of'": lambda d: d["resource"]["census"].update(handling=["unheard of"]),
    "resource.census.handling": lambda d: d["resource"]["census"].update(handling=[7]),
    "sees.visitor.wards": lambda d: d["sees"]["visitor"].pop("wards"),
    "sees.steward.census": lambda d: d["sees"].pop("steward"),
    "sees.visitor.census": lambda d: d["sees"]["visitor"].update(census="seen"),
    "sees.visitor.minutes": lambda d: d["sees"]["visitor"].update(minutes="redact+redact"),
    "'attic' is not known": lambda d: d["sees"]["visitor"].update(attic="hidden"),
    "'guest' is not known": lambda d: d["sees"].update(guest={}),
    r"no [principal.NAME]": lambda d: d.pop("principal"),
    r"no [resource.NAME]": lambda d: d.update(resource={}),
    "'principle' is not known": lambda d: d.update(principle={}),
}


@pytest.mark.parametrize("place", WRONG)
def test_what_cannot_be_meant_is_refused_with_its_place(place: str) -> None:
    with pytest.raises(VectorsInvalid, match=re.escape(place)):
        parse_table(changed(WRONG[place]), BUNDLE)


@pytest.mark.parametrize("content", [b"\xff", b"[principal", b"[principal.a]\n[principal.a]"])
def test_a_file_that_is_no_toml_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(VectorsInvalid, match=FILE):
        read_table(tmp_path, BUNDLE)


def test_no_file_is_no_table(tmp_path: Path) -> None:
    assert read_table(tmp_path, BUNDLE) is None
