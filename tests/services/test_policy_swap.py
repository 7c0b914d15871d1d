"""Rules that were really changed, compiled by the real `opa`: what decided is told apart from what decides today."""

from __future__ import annotations

from pathlib import Path

import pytest

from ai.replay.attribution import Swap, attribute_all
from api.cli.replay.swap import causes_of
from policy.authoring.build import build
from policy.bundles.archive import copy_bundle
from policy.bundles.bundle import SHIPPED
from tests.api_world import POPULATION, make_world
from tests.harness import ask, opened
from tests.opa_server import pinned_opa
from tests.published import published

pytestmark = pytest.mark.services

RULE = 'tables(sentence) if {{\n\tsome id in sentence.citations\n\tstartswith(id, "{start}")\n}}\n'


@pytest.mark.parametrize(
    ("start", "causes", "stage"), [("county-population@", ["policy"], "policy.answer"), ("no-such-table@", [], None)]
)
async def test_a_changed_rule_is_the_cause_where_it_decides_otherwise(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    start: str,
    causes: list[str],
    stage: str | None,
) -> None:
    monkeypatch.setenv("EXHIBIT_OPA_BIN", str(pinned_opa(request.config).path))
    home = (await make_world(tmp_path / "world")).configuration.home
    async with opened(home) as system:
        entry_id = (await ask(system, POPULATION))["provenance"]["entry_id"]
        before = system.policy.bundle.digest
    copy_bundle(SHIPPED, tmp_path / "bundle")
    rules = tmp_path / "bundle" / "rego" / "kfm" / "ai" / "answer.rego"
    text = rules.read_text().replace("clean(sentence) if {", "clean(sentence) if {\n\tnot tables(sentence)", 1)
    rules.write_text(text + "\n" + RULE.format(start=start))
    for name, content in build(tmp_path / "bundle").items():
        (tmp_path / "bundle" / "wasm" / name).write_bytes(content)
    await published(home, tmp_path / "bundle")
    async with opened(home) as system:
        assert system.policy.bundle.digest != before
        found = await attribute_all(entry_id, services=system.services)
    assert causes_of(found) == causes
    assert [each.differs_at for each in found if each.swap is Swap.POLICY] == [stage]
