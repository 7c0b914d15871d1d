"""The scope that a query decision gives a channel is what the evidence point would admit item by item, whatever the
policy data say: one rule, every embedded store."""

from __future__ import annotations

import asyncio
import copy
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from ai.governance.scoping import class_facts
from policy.bundles.bundle import Bundle, load_bundle
from policy.canonical import canonical
from policy.data import PolicyData
from policy.model import EvidenceFacts, Injection, PromptFacts, RequestFacts, Subject
from policy.points import PolicyPoints
from policy.wasm import WasmEngine
from retrieval.scope import Scope, VisibilityClass
from tests.channel_backends import BACKENDS
from tests.corpora import TENANT, Corpus, corpus, probes

SHIPPED = load_bundle()
CONFIG: dict[str, Any] = json.loads(SHIPPED.data_json)["kfm"]["config"]
TAGS = sorted(CONFIG["handling"])
GROUPS = ("curators", "historians", "cultural_review", "data_stewards")
REQUEST, PROMPT = RequestFacts(id="r1"), PromptFacts(chars=9, verdict="ALLOW", risk=0)
MUTATIONS = 4


@dataclass(frozen=True)
class World:
    """A corpus, an asker and policy data, drawn together; `scope` is the query decision's, `admitted` the documents
    that the evidence point admits one by one."""

    content: Corpus
    scope: Scope
    admitted: frozenset[str]


def drawn_class(chance: random.Random) -> VisibilityClass:
    return VisibilityClass(
        tenant=chance.choice((TENANT, TENANT, TENANT, "other")),
        collection=chance.choice(("kansas", "letters")),
        label=chance.choice(("public", "public", "public", "internal", "confidential", "restricted")),
        handling=tuple(chance.sample(TAGS, chance.choice((0, 0, 0, 1, 2)))),
        groups=tuple(chance.sample(GROUPS, chance.choice((0, 0, 0, 1)))),
        owner_group=chance.choice((None, None, "curators")),
        allow_list=chance.choice(((), (), ("anna",))),
    )


def mutated(chance: random.Random) -> Bundle:
    """The shipped rules over data with some values drawn anew."""
    config = copy.deepcopy(CONFIG)
    labels = list(config["labels"])
    for name, role in config["roles"].items():
        if name != config["default_role"] and chance.random() < 0.5:
            role["clearance"] = chance.choice(labels)
        role["capabilities"] = sorted({*role["capabilities"], *chance.sample(config["capabilities"], 2)})
    for rule in config["handling"].values():
        rule["capability"] = chance.choice((None, *config["capabilities"]))
        rule["group"] = chance.choice((None, *GROUPS))
        rule["obligation"] = chance.choice((None, {"op": "datamark", "params": {}}, rule["obligation"]))
    data = PolicyData.parse(json.dumps(config).encode())
    return replace(SHIPPED, data=data, data_json=canonical({"kfm": {"config": config}}))


def asker(chance: random.Random, data: PolicyData) -> Subject:
    role = chance.choice(("public_viewer", "contributor", "maintainer", "admin", "auditor"))
    groups = chance.sample(GROUPS, chance.choice((0, 1, 2)))
    return Subject.of(
        id=chance.choice(("anna", "boris")), tenant=TENANT, roles=(role,), groups=tuple(groups), data=data
    )


async def decided(seed: int) -> World:
    """One world: the query point over the classes, the evidence point over each document alone."""
    chance = random.Random(seed)
    bundle = mutated(chance)
    engine = WasmEngine.open(bundle)
    points = PolicyPoints(engine=engine, clock_ms=lambda: 1_000, deadline_s=10, data=bundle.data)
    subject = asker(chance, bundle.data)
    content = corpus(seed, documents=12, classes=[drawn_class(chance) for _ in range(8)])
    query = await points.query(request=REQUEST, subject=subject, prompt=PROMPT, classes=class_facts(content.classes))
    admitted = set()
    for document in content.documents:
        visible, everywhere = document.facts.visibility, tuple(each.class_id for each in content.classes)
        decision = await points.evidence(
            request=REQUEST,
            subject=subject,
            prompt=PROMPT,
            classes=class_facts([visible]),
            evidence=[item_of(document.facts.document_id, visible)],
            prior=replace(query, classes=everywhere),
        )
        if decision.admit:
            admitted.add(document.facts.document_id)
    await engine.aclose()
    scope = Scope.of(TENANT, [each for each in content.classes if each.class_id in query.classes])
    return World(content, scope, frozenset(admitted))


def item_of(id: str, visible: VisibilityClass) -> EvidenceFacts:
    return EvidenceFacts(
        id=id,
        class_id=visible.class_id,
        tenant=visible.tenant,
        label=visible.label,
        handling=visible.handling,
        groups=visible.groups,
        lifecycle="active",
        valid_until_ms=None,
        sha256="aa",
        indexed_sha256="aa",
        injection=Injection(0),
    )


@pytest.fixture(scope="module")
def worlds() -> Iterator[list[World]]:
    async def run() -> list[World]:
        return [await decided(seed) for seed in range(MUTATIONS)]

    yield asyncio.run(run())


def test_the_worlds_differ_and_both_hide_and_show(worlds: list[World]) -> None:
    shares = {len(world.admitted) / len(world.content.documents) for world in worlds}
    assert len(shares) > 2
    assert all(share < 1 for share in shares)
    assert any(share > 0.3 for share in shares)


def test_the_scope_is_the_item_rule(worlds: list[World]) -> None:
    for world in worlds:
        inside = {
            d.facts.document_id for d in world.content.documents if d.facts.visibility.class_id in world.scope.class_ids
        }
        assert inside == world.admitted


@pytest.mark.parametrize("name", BACKENDS)
async def test_a_channel_finds_in_the_scope_what_the_item_rule_admits(
    worlds: list[World], name: str, tmp_path: Path
) -> None:
    """The runs in the scope equal those of an index that holds the admitted documents alone."""
    hits = 0
    for number, world in enumerate(worlds):
        alone = world.content.without(
            d.facts.document_id for d in world.content.documents if d.facts.document_id not in world.admitted
        )
        async with (
            BACKENDS[name](tmp_path / f"all{number}") as everything,
            BACKENDS[name](tmp_path / f"alone{number}") as only,
        ):
            for backend, content in ((everything, world.content), (only, alone)):
                for batch in content.batches():
                    await backend.index.add(batch)
                await backend.index.commit()
            for query in probes(world.content, top_k=50, scope=world.scope):
                run = await everything.channel.search(query)
                assert run == await only.channel.search(query)
                hits += len(run.hits)
    assert hits
