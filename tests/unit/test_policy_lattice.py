"""The lattice: the invariants hold in every cell of the shipped bundle, and planted leaks are found."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from policy.authoring.lattice.claims import ClaimCell, broken_claims, decide_claims, read_unreleased
from policy.authoring.lattice.domain import Domain, allowed
from policy.authoring.lattice.invariants import SCHEMA, InvariantsInvalid, broken, parse_invariants, read_invariants
from policy.authoring.lattice.lattice import AXES, Lattice, decide_lattice
from policy.authoring.remembering import RememberingEngine
from policy.bundles.bundle import SHIPPED, Bundle, load_bundle
from policy.canonical import canonical, encode_plain
from policy.data import PolicyData
from policy.engine import PolicyEngine, Reply
from policy.errors import BundleRejected, PolicyUnavailable
from policy.model import Point
from policy.wasm import WasmEngine

FILE = SHIPPED / "vectors" / "invariants.toml"
LADDER = [["public_viewer", "auditor", "policy_author", "operator"], ["contributor"], ["maintainer"], ["admin"]]
Edit = Callable[[dict[str, Any]], object]


def edited(edit: Edit) -> Bundle:
    """The shipped rules over changed data: fewer tags and roles, so that a lattice takes a second."""
    bundle = load_bundle()
    config = json.loads(bundle.data_json)["kfm"]["config"]
    edit(config)
    data = PolicyData.parse(json.dumps(config).encode())
    return replace(bundle, data=data, data_json=canonical({"kfm": {"config": config}}))


def small(config: dict[str, Any]) -> None:
    """Only what the invariants name."""
    for role in ("auditor", "policy_author", "operator"):
        del config["roles"][role]
    for tag in ("aggregate_only", "pii"):
        del config["handling"][tag]


def decided(edit: Edit = lambda _config: None) -> tuple[Lattice, Domain]:
    """The lattice of the small domain with one more change."""

    def both(config: dict[str, Any]) -> None:
        small(config)
        edit(config)

    bundle = edited(both)
    domain = Domain.of(bundle)

    async def run() -> Lattice:
        engine = WasmEngine.open(bundle)
        try:
            return await decide_lattice(engine, domain)
        finally:
            await engine.aclose()

    return asyncio.run(run()), domain


INVARIANTS: dict[str, Any] = {
    "schema": SCHEMA,
    "ladder": [["public_viewer"], ["contributor"], ["maintainer"], ["admin"]],
    "never": [
        {"title": "tenant", "tenant": ["other"]},
        {"title": "restricted", "below": "admin", "label_from": "restricted", "named": ["no"]},
        {"title": "cultural", "tag": "culturally_sensitive", "not_holding": "cultural_review"},
    ],
    "always": [{"title": "open", "label": ["public"], "untagged": ["culturally_sensitive", "sensitive_location", "unknown"],
                "groups": ["none"], "tenant": ["own"], "lifecycle": ["active"]}],
    "obliged": [{"title": "place", "op": "generalise_geometry", "tag": "sensitive_location", "without": "precise_location"}],
    "monotone": [
        {"title": "roles", "along": "role", "direction": "grows"},
        {"title": "labels", "along": "label", "direction": "shrinks"},
    ],
}  # fmt: skip


def test_the_invariants_hold_in_the_small_domain() -> None:
    lattice, domain = decided()
    assert broken(lattice, parse_invariants(INVARIANTS, domain)) == ()
    assert lattice.cells == lattice.obliged.size > 20_000
    assert 0 < lattice.visible.mean() < 0.1
    cell = lattice.cell((0,) * len(AXES))
    assert set(cell) == {*AXES, "searched", "visible", "obligations"}
    assert (lattice.searched | ~lattice.visible).all(), "what is visible was searched"


class Counting:
    """The bundle's engine, which counts what it is asked."""

    def __init__(self, engine: PolicyEngine) -> None:
        self._engine, self.asked = engine, 0
        self.name, self.bundle_digest = engine.name, engine.bundle_digest

    async def evaluate(self, entrypoint: str, input: bytes, *, deadline_s: float) -> Reply:
        self.asked += 1
        return await self._engine.evaluate(entrypoint, input, deadline_s=deadline_s)

    async def aclose(self) -> None:
        await self._engine.aclose()


async def test_names_that_make_the_same_asker_are_decided_once_and_nothing_is_decided_twice() -> None:
    bundle = edited(small)
    domain = Domain.of(bundle)
    named = replace(domain, roles=(*domain.roles, "viewer", "reviewer", "unheard-of"))
    counting = Counting(WasmEngine.open(bundle))
    engine = RememberingEngine(counting)
    plain, claims = await decide_lattice(engine, domain), await decide_claims(engine, domain)
    once = counting.asked
    more, more_claims = await decide_lattice(engine, named), await decide_claims(engine, named)
    assert counting.asked == once > 100
    for name, of in (("viewer", "public_viewer"), ("reviewer", "maintainer"), ("unheard-of", "public_viewer")):
        at, known = named.roles.index(name), domain.roles.index(of)
        for new, old in ((more.searched, plain.searched), (more.visible, plain.visible), (more.obliged, plain.obliged)):
            assert (new[at] == old[known]).all()
        assert [replace(c, role=of) for c in more_claims if c.role == name] == [c for c in claims if c.role == of]
    assert plain.visible.any()
    assert len(repr(plain)) < 5_000, "an event loop writes a result that it ends with"
    await engine.aclose()


async def test_what_an_engine_says_is_kept_up_to_a_bound_and_until_it_is_closed() -> None:
    bundle = edited(small)
    domain, counting = Domain.of(bundle), Counting(WasmEngine.open(bundle))
    asked = encode_plain(allowed(Point.QUERY, domain))
    for max_bytes, expected in ((0, 2), (10_000, 3)):
        engine = RememberingEngine(counting, max_bytes=max_bytes)
        first, second = [await engine.evaluate("kfm/ai/query", asked, deadline_s=5) for _ in range(2)]
        assert (first, counting.asked) == (second, expected)
    other = encode_plain(allowed(Point.QUERY, domain) | {"now_ms": 5})
    with pytest.raises(PolicyUnavailable):
        await engine.evaluate("kfm/ai/query", other, deadline_s=0)
    assert await engine.evaluate("kfm/ai/query", other, deadline_s=5)
    assert counting.asked == 5, "a failure is not kept"
    await engine.aclose()


def leaky(config: dict[str, Any]) -> None:
    """A clearance lifted, two tags no longer met as they should be, a permission lost: all at once."""
    config["roles"]["maintainer"].update(clearance="restricted")
    config["roles"]["contributor"].update(permissions=[])
    for tag in ("culturally_sensitive", "sensitive_location"):
        config["handling"][tag].update(obligation={"op": "datamark", "params": {}})


def test_planted_leaks_are_found_each_with_a_counterexample() -> None:
    lattice, domain = decided(leaky)
    found = {each.title: each for each in broken(lattice, parse_invariants(INVARIANTS, domain))}
    counterexamples: dict[str, dict[str, object]] = {
        "restricted": {"role": "maintainer", "label": "restricted", "named": "no"},
        "cultural": {"handling": ("culturally_sensitive",), "obligations": ["datamark"]},
        "place": {"handling": ("sensitive_location",), "obligations": ["datamark"]},
        "open": {"role": "contributor", "visible": False},
        "roles": {"role": "public_viewer", "visible": True},
    }
    assert found.keys() == counterexamples.keys()
    for title, cell in counterexamples.items():
        assert 0 < found[title].count <= found[title].checked
        assert found[title].examples[0][0].items() >= cell.items()
    assert found["roles"].examples[0][1].items() >= {"role": "contributor", "visible": False}.items()


class Widening:
    """The bundle's engine, whose query point lets every class of the tenant into the scope."""

    def __init__(self, engine: PolicyEngine) -> None:
        self._engine = engine
        self.name, self.bundle_digest = engine.name, engine.bundle_digest

    async def evaluate(self, entrypoint: str, input: bytes, *, deadline_s: float) -> Reply:
        reply = await self._engine.evaluate(entrypoint, input, deadline_s=deadline_s)
        if entrypoint != "kfm/ai/query":
            return reply
        [result] = json.loads(reply.results)
        [duty] = result["result"]["obligations"]
        duty["params"]["classes"] = [each["id"] for each in json.loads(input)["classes"] if each["tenant"] == "t1"]
        return replace(reply, results=json.dumps([result]).encode())

    async def aclose(self) -> None:
        await self._engine.aclose()


async def test_a_scope_that_is_too_wide_is_a_leak_though_nothing_of_it_is_seen() -> None:
    bundle = edited(small)
    domain, engine = Domain.of(bundle), Widening(WasmEngine.open(bundle))
    found = broken(await decide_lattice(engine, domain), parse_invariants(INVARIANTS, domain))
    await engine.aclose()
    assert {each.title for each in found} == {"restricted", "cultural"}
    for each in found:
        assert all((cell["searched"], cell["visible"]) == (True, False) for [cell] in each.examples)


def test_the_shipped_file_means_something_over_the_shipped_domain() -> None:
    rules = read_invariants(FILE, Domain.of(load_bundle()))
    assert {each.kind for each in rules} == {"never", "always", "obliged", "monotone"}


@pytest.mark.parametrize(
    "table",
    [
        {},
        {"title": ""},
        {"title": "x", "label": ["secret"]},
        {"title": "x", "label": "public"},
        {"title": "x", "label": []},
        {"title": "x", "below": "root"},
        {"title": "x", "below": "public_viewer"},
        {"title": "x", "tag": "fragile"},
        {"title": "x", "colour": "red"},
        {"title": "x", "holding": "nobody"},
        {"title": "x", "op": "redact"},
        {"title": "x", "without": "fly"},
    ],
    ids=str,
)
def test_an_invariant_that_means_nothing_is_refused(table: dict[str, Any]) -> None:
    with pytest.raises(InvariantsInvalid):
        parse_invariants({"schema": SCHEMA, "ladder": LADDER, "never": [table]}, Domain.of(load_bundle()))


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"schema": "exhibit.policy.invariants/2"},
        {"schema": SCHEMA, "ladder": LADDER},
        {"schema": SCHEMA, "ladder": LADDER, "sometimes": []},
        {"schema": SCHEMA},
        {"schema": SCHEMA, "ladder": "admin"},
        {"schema": SCHEMA, "ladder": LADDER[1:]},
        {"schema": SCHEMA, "ladder": [*LADDER, ["root"]]},
        {"schema": SCHEMA, "ladder": LADDER, "obliged": [{"title": "x", "op": "sing"}]},
        {"schema": SCHEMA, "ladder": LADDER, "monotone": [{"title": "x", "along": "tenant", "direction": "grows"}]},
        {"schema": SCHEMA, "ladder": LADDER, "monotone": [{"title": "x", "along": "label", "direction": "up"}]},
    ],
    ids=str,
)
def test_a_file_that_means_nothing_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(InvariantsInvalid):
        parse_invariants(document, Domain.of(load_bundle()))


def claims_of(edit: Edit = lambda _config: None) -> tuple[ClaimCell, ...]:
    """Every claim at the answer point of the shipped rules over changed data."""
    bundle = edited(edit)

    async def run() -> tuple[ClaimCell, ...]:
        engine = WasmEngine.open(bundle)
        try:
            return await decide_claims(engine, Domain.of(bundle))
        finally:
            await engine.aclose()

    return asyncio.run(run())


def test_no_role_is_released_a_contradicted_claim() -> None:
    cells = claims_of()
    rules = read_unreleased(FILE)
    assert {rule.title for rule in rules} >= {"No role is released a contradicted claim"}
    assert broken_claims(cells, rules) == ()
    released = [cell for cell in cells if cell.released]
    assert {cell.verdict for cell in released} == {"borne_out", "judged", "not_checkable"}
    judged = [cell for cell in released if cell.verdict == "judged"]
    assert {cell.kind for cell in judged} == {"paraphrase"}
    assert {cell.label for cell in judged} == {"public", "internal"}
    assert {cell.kind for cell in released if cell.verdict == "not_checkable"} == {
        "event",
        "negation",
        "prose",
        "quotation",
    }


def tolerant(config: dict[str, Any]) -> None:
    everything = {
        "kinds": ["figure", "event", "superlative", "comparison", "negation", "quotation", "prose"],
        "label": "internal",
        "purposes": ["research"],
    }
    config["claims"]["tolerated"] = [
        {"verdict": verdict, **everything} for verdict in ("not_in_source", "not_checkable")
    ]


def test_data_that_tolerate_a_figure_of_no_source_are_noticed_and_reach_no_further_than_they_say() -> None:
    cells = claims_of(tolerant)
    [found] = broken_claims(cells, read_unreleased(FILE))
    assert found.title == "No role is released a figure that is not borne out"
    loose = [cell for cell in cells if cell.released and cell.verdict != "borne_out"]
    assert {cell.purpose for cell in loose} == {"research"}
    assert {cell.label for cell in loose} == {"public", "internal"}


def test_no_data_can_tolerate_a_contradiction() -> None:
    with pytest.raises(BundleRejected):
        edited(lambda config: config["claims"]["tolerated"][0].update(verdict="contradicted"))


def test_data_without_a_word_on_claims_tolerate_none() -> None:
    cells = claims_of(lambda config: config.pop("claims"))
    assert {cell.verdict for cell in cells if cell.released} == {"borne_out"}


@pytest.mark.parametrize(
    "table", [{"verdict": ["contradicted"]}, {"title": "x", "verdict": []}, {"title": "x", "verdict": ["bad"]}]
)
def test_an_invariant_over_claims_that_means_nothing_is_refused(table: dict[str, Any], tmp_path: Path) -> None:
    lines = [f"{name} = {json.dumps(value)}" for name, value in table.items()]
    (tmp_path / "invariants.toml").write_text("[[unreleased]]\n" + "\n".join(lines), "utf-8")
    with pytest.raises(InvariantsInvalid):
        read_unreleased(tmp_path / "invariants.toml")
