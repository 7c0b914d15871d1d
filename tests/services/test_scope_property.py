"""What each real store admits is what the rule, applied to each document in Python, admits: for random corpora and
principals, on every channel and on the store of record.

The rule is written here a second time, from the contract and not from the Rego; the scope comes from the query point.
A store is then asked with that scope over everything, and must give the run that it gives over the admitted documents
alone.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ai.governance.scoping import class_facts
from policy.bundles.bundle import load_bundle
from policy.model import PromptFacts, RequestFacts, Subject
from policy.points import PolicyPoints
from policy.wasm import WasmEngine
from retrieval.registry.postgres import open_postgres_store
from retrieval.scope import Scope, VisibilityClass
from tests.channel_backends import Backend, Opener
from tests.contracts.test_record_store import fill
from tests.corpora import TENANT, Corpus, corpus, probes, visibility
from tests.services import neo4j_backend, opensearch_backend
from tests.services.neo4j_server import Address, neo4j_server
from tests.services.postgres_backends import POSTGRES, schema_of

pytestmark = pytest.mark.services
__all__ = ["neo4j_server"]
LABELS = ("public", "internal", "confidential", "restricted")
CLEARANCE = {"public_viewer": 0, "contributor": 1, "maintainer": 2, "admin": 3}
GROUPS = ("archivists", "curators", "cultural_review")
SEEDS = (1, 2)
STORES = ("neo4j", "postgis", "pgvector", "pgvector-indexed", "opensearch")


@dataclass(frozen=True)
class Principal:
    role: str
    id: str
    groups: tuple[str, ...]

    def may_see(self, held: VisibilityClass) -> bool:
        """The rule of the contract, for one document."""
        label, clearance = LABELS.index(held.label), CLEARANCE[self.role]
        named = self.id in held.allow_list or held.owner_group in self.groups
        if held.tenant != TENANT or label > clearance + (1 if named else 0):
            return False
        if held.groups and not set(held.groups) & set(self.groups):
            return False
        # The other tags have an obligation that stands for them.
        return "culturally_sensitive" not in held.handling or "cultural_review" in self.groups


def _world(seed: int) -> tuple[Corpus, list[Principal]]:
    chance = random.Random(seed)

    def some(of: tuple[str, ...], most: int) -> tuple[str, ...]:
        return tuple(chance.sample(of, chance.randint(0, most)))

    classes = [
        visibility(
            tenant=chance.choice((TENANT, TENANT, TENANT, "other")),
            collection=chance.choice(("kansas", "letters")),
            label=chance.choice(LABELS),
            groups=some(GROUPS, 1),
            handling=some(("sensitive_location", "aggregate_only", "culturally_sensitive", "pii"), 1),
            owner_group=chance.choice((None, *GROUPS)),
            allow_list=some(("ada", "ben"), 1),
        )
        for _ in range(10)
    ]
    principals = [Principal(role, chance.choice(("ada", "ben", "eve")), some(GROUPS, 2)) for role in CLEARANCE]
    return corpus(seed, documents=20, classes=(visibility(), *classes)), principals


def _admitted(content: Corpus, principal: Principal) -> Corpus:
    """The corpus of the documents that the rule admits, one by one."""
    return content.without(d.facts.document_id for d in content.documents if not principal.may_see(d.facts.visibility))


@pytest.fixture(scope="module")
def points() -> PolicyPoints:
    bundle = load_bundle()
    return PolicyPoints(engine=WasmEngine.open(bundle), clock_ms=lambda: 1, deadline_s=30.0, data=bundle.data)


async def _scope(points: PolicyPoints, principal: Principal, content: Corpus) -> Scope:
    subject = Subject.of(
        id=principal.id, tenant=TENANT, roles=(principal.role,), groups=principal.groups, data=load_bundle().data
    )
    decision = await points.query(
        request=RequestFacts(id="r", purpose="general", profile="focus", collections=()),
        subject=subject,
        prompt=PromptFacts(chars=1, verdict="ALLOW", risk=0, classes=()),
        classes=class_facts(held for held in content.classes if held.tenant == TENANT),
    )
    return Scope(TENANT, frozenset(decision.classes))


@pytest.fixture
def opener(request: pytest.FixtureRequest) -> Opener:
    match request.param:
        case "neo4j":
            address: Address = request.getfixturevalue("neo4j_server")
            return neo4j_backend.opener_on(address)
        case "opensearch":
            return opensearch_backend.opener_on(request.getfixturevalue("opensearch_url"))
        case name:
            dsn: str = request.getfixturevalue("postgres_dsn")
            return lambda folder: POSTGRES[name](dsn, folder)


async def _fill(backend: Backend, content: Corpus) -> None:
    for batch in content.batches():
        await backend.index.add(batch)
    await backend.index.commit()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("opener", STORES, indirect=True)
async def test_a_channel_admits_what_the_rule_admits_document_by_document(
    opener: Opener, points: PolicyPoints, tmp_path: Path, seed: int
) -> None:
    content, principals = _world(seed)
    sizes = set()
    async with opener(tmp_path / "all") as whole:
        await _fill(whole, content)
        for number, principal in enumerate(principals):
            admitted, scope = _admitted(content, principal), await _scope(points, principal, content)
            assert scope.class_ids == {held.class_id for held in admitted.classes}
            async with opener(tmp_path / f"only{number}") as only:
                await _fill(only, admitted)
                for query in probes(content, top_k=200, scope=scope):
                    run = await whole.channel.search(query)
                    assert run == await only.channel.search(query), principal
                    assert {hit.record_id for hit in run.hits if hit.computed is None} <= {
                        record.record_id for record in admitted.records
                    }
                    sizes.add(len(run.hits))
    assert len(sizes) > 1  # the principals differ, and something was found


@pytest.fixture
async def records(postgres_dsn: str, tmp_path: Path) -> AsyncIterator[object]:
    store = open_postgres_store(postgres_dsn, schema=schema_of(tmp_path))
    yield store
    await store.aclose()


@pytest.mark.parametrize("seed", SEEDS)
async def test_the_store_of_record_admits_what_the_rule_admits_record_by_record(
    records: object, points: PolicyPoints, seed: int
) -> None:
    content, principals = _world(seed)
    await fill(records, content)  # type: ignore[arg-type]
    everything = [record.record_id for record in content.records]
    for principal in principals:
        admitted, scope = _admitted(content, principal), await _scope(points, principal, content)
        found, entries = await asyncio.gather(
            records.fetch(everything, scope=scope),  # type: ignore[attr-defined]
            records.gazetteer_entries(scope=scope),  # type: ignore[attr-defined]
        )
        assert set(found) == {record.record_id for record in admitted.records}
        assert {e.document_id for e in entries} == {e.document_id for e in admitted.entries}
