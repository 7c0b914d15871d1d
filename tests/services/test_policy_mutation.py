"""Mutants of the shipped rules, and a regression planted in Rego that the backtest tells to the sentence."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ai.backtest.difference import STOPPED
from api.audit.policy.backtesting import run_backtest
from api.home.configuration import load
from api.wiring import open_embedded
from policy.authoring.candidate import open_candidate
from policy.authoring.opa import Opa
from policy.authoring.testing.mutants import Mutant, mutants_of
from policy.authoring.testing.mutation import Fate, MutationReport, mutate, read_explained
from policy.authoring.testing.vectors import Vector, read_vectors
from policy.bundles.bundle import SHIPPED, load_bundle
from tests.harness import ask, ingest, opened
from tests.opa_server import pinned_opa

pytestmark = pytest.mark.services
REGO, VECTORS = SHIPPED / "rego", SHIPPED / "vectors"


@pytest.fixture(scope="module")
def opa(request: pytest.FixtureRequest) -> Opa:
    return pinned_opa(request.config)


@pytest.fixture(scope="module")
def mutants(opa: Opa) -> tuple[Mutant, ...]:
    return mutants_of(opa, REGO)


async def tried(opa: Opa, chosen: tuple[Mutant, ...], vectors: tuple[Vector, ...]) -> MutationReport:
    return await mutate(
        chosen,
        bundle=load_bundle(),
        root=REGO,
        vectors=vectors,
        opa=opa,
        open_engine=open_embedded,
        explained=read_explained(VECTORS / "mutants.toml"),
    )


def test_mutants_change_one_expression_each(mutants: tuple[Mutant, ...]) -> None:
    assert len(mutants) > 400
    kinds = {each.kind for each in mutants}
    assert kinds >= {"condition deleted", "negation deleted", "clause deleted", "comparison turned", "set widened"}
    for each in mutants:
        text = (REGO / each.file).read_text()
        assert each.applied(text) != text


def test_every_explained_mutant_exists(mutants: tuple[Mutant, ...]) -> None:
    assert read_explained(VECTORS / "mutants.toml").keys() <= {each.name for each in mutants}


async def test_a_spread_of_mutants_is_noticed(opa: Opa, mutants: tuple[Mutant, ...]) -> None:
    report = await tried(opa, mutants[::24], read_vectors(VECTORS))
    # Of a sample so small the explained ones, which nothing can notice, are no small part: they do not count.
    killed = len(report.having(Fate.KILLED))
    assert 1_000 * killed // (killed + len(report.unexplained)) >= 900
    assert report.unexplained == ()
    assert all(each.by for each in report.having(Fate.KILLED))


async def test_without_vectors_mutants_survive(opa: Opa, mutants: tuple[Mutant, ...]) -> None:
    """What the vectors know and the canary does not: thresholds."""
    chosen = tuple(
        each for each in mutants if each.kind == "comparison turned" and each.rule in ("supported", "unexpired")
    )
    with_vectors, without = await tried(opa, chosen, read_vectors(VECTORS)), await tried(opa, chosen, ())
    assert len(without.having(Fate.SURVIVED)) > len(with_vectors.having(Fate.SURVIVED)) == 0


# ------------------------------------------------------------------------------------------------------------ backtest

MANIFEST = """[[collection]]
name = "notes"
title = "Notes"

[[source]]
path = "open.md"
source_id = "open"
title = "Open"
license = "CC0-1.0"
collection = "notes"
label = "public"

[[source]]
path = "owned.md"
source_id = "owned"
title = "Owned"
license = "CC0-1.0"
collection = "notes"
label = "internal"
owner_group = "curators"
"""
QUESTION = "When did the ferry at Ashfield open?"


async def test_a_label_condition_removed_is_told_with_entries_and_sentences(
    opa: Opa, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXHIBIT_OPA_BIN", str(opa.path))
    (tmp_path / "open.md").write_text("# Mill\n\nThe mill at Ashfield was built in 1868.\n")
    (tmp_path / "owned.md").write_text("# Ferry\n\nThe ferry at Ashfield opened in 1871.\n")
    (tmp_path / "manifest.toml").write_text(MANIFEST)
    home = tmp_path / "home"
    await ingest(home, manifest=tmp_path / "manifest.toml")
    async with opened(home) as system:
        owner = await ask(system, QUESTION, groups=("curators",))
        stranger = await ask(system, QUESTION)
        member = await ask(system, QUESTION, role="contributor")
    assert [body["outcome"] for body in (owner, stranger, member)] == ["ANSWER", "ABSTAIN", "ANSWER"]

    named = changed(tmp_path / "named", "\tnamed(record)\n", "\tfalse\n")
    found = await run_backtest(load({}, home=home), open_candidate(named), since_ms=0, limit=100)
    assert not found.refused
    [difference] = found.differences
    assert difference.entry_id == owner["provenance"]["entry_id"]
    assert [each.text for each in difference.lost_sentences] == [
        s["text"] for s in owner["sentences"] if s["citations"]
    ]
    assert difference.becomes == "ABSTAIN"

    before = "label_ok(record) if config.labels[record.label] <= subject.clearance_rank"
    lax = changed(tmp_path / "lax", before, "label_ok(record) if config.labels[record.label] >= 0")
    found = await run_backtest(load({}, home=home), open_candidate(lax), since_ms=0, limit=100)
    [difference] = found.differences
    assert difference.entry_id == stranger["provenance"]["entry_id"]
    [opened_class] = difference.opened
    assert opened_class.startswith("internal notes sha256:")
    assert opened_class.endswith(STOPPED)
    assert found.unknown == {}


def changed(folder: Path, before: str, after: str) -> Path:
    """A copy of the bundle's rules with one condition of the label rule changed."""
    shutil.copytree(REGO, folder / "rego")
    file = folder / "rego/kfm/access/access.rego"
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))
    return folder
