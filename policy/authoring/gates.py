"""The gates that a bundle must pass before it may decide: each a named check with its problems, in this order.

data and module - compiler, format, lint - its own tests - its vectors on every engine - the canary on every engine -
parity between the module and OPA - the lattice with its invariants. The dear ones are last, and are not tried on a
bundle that the author's own expectations already refuse.

A bundle with the rules and the module of one that is in force needs no `opa`: only its data are new, so what the
program would say of the rules has been said.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from policy.authoring.checking import CheckResult, check_data, check_module, check_sources
from policy.authoring.lattice.binding import binding_invariants
from policy.authoring.lattice.claims import broken_claims, decide_claims, parse_unreleased
from policy.authoring.lattice.deciding import by_opa
from policy.authoring.lattice.domain import Domain
from policy.authoring.lattice.invariants import broken, parse_invariants
from policy.authoring.lattice.lattice import decide_lattice
from policy.authoring.opa import Opa
from policy.authoring.testing.canary import canary
from policy.authoring.testing.opa_tests import run_own_tests
from policy.authoring.testing.parity import parity
from policy.authoring.testing.vectors import Evaluator, read_vectors, run_vectors, vectors_folder
from policy.bundles.bundle import Bundle
from policy.engine import PolicyEngine
from policy.errors import PolicyError

SHOWN = 10


def same_rules(one: Bundle, other: Bundle) -> bool:
    """True if two bundles differ in their data at most: the rules are the same, and so is the module."""
    rules, others = (
        {path: digest for path, digest in each.files.items() if path.endswith(".rego")} for each in (one, other)
    )
    return rules == others and one.wasm_sha256 == other.wasm_sha256


def static_gates(folder: Path, opa: Opa | None) -> tuple[CheckResult, ...]:
    """Checks that need no decision."""
    return (check_data(folder), check_module(folder), *(check_sources(opa, folder) if opa else ()))


async def expected_gates(folder: Path, *, opa: Opa | None, engines: Sequence[Evaluator]) -> AsyncIterator[CheckResult]:
    """True if the bundle does what its author expects: its own tests, and its vectors on every engine."""
    if opa is not None:
        yield await asyncio.to_thread(_own_tests, opa, folder)
    vectors = read_vectors(vectors_folder(folder))
    for each in engines:
        wrong = [result for result in await run_vectors(each, vectors) if not result.passed]
        lines = [f"{r.vector.group}: {r.vector.name}: {'; '.join(r.differences())}" for r in wrong]
        yield CheckResult(f"{len(vectors)} decision vectors on {each.name}", _some(lines))


async def required_gates(
    bundle: Bundle, folder: Path, *, opa: Opa | None, embedded: PolicyEngine, engines: Sequence[Evaluator], inputs: int
) -> AsyncIterator[CheckResult]:
    """True if it does what every bundle must. `embedded` serves its module; `engines` are all to try it on, the
    embedded one first; `inputs` are compared between the module and OPA."""
    domain = Domain.of(bundle)
    for each in engines:
        found = await canary(each.decide, domain)
        yield CheckResult(f"the canary on {each.name}", _some([str(finding) for finding in found]))
    if opa is not None:
        compared = await parity(engines[0].decide, by_opa(opa, folder / "rego"), domain, count=inputs)
        lines = [f"{d.point}: decided differently over {d.asked!r}"[:400] for d in compared.differences]
        yield CheckResult(f"parity of module and OPA on {compared.compared} inputs", _some(lines))
    yield await _lattice(embedded, folder, domain)


def _own_tests(opa: Opa, folder: Path) -> CheckResult:
    try:
        found = run_own_tests(opa, folder / "rego")
    except PolicyError as exc:
        return CheckResult("its own tests", tuple(str(exc).splitlines()))
    wrong = [f"{each.name} ({each.state})" for each in found if each.state in ("failed", "error")]
    return CheckResult(f"{len(found)} own tests", _some(wrong if found else ["there are none"]))


async def _lattice(embedded: PolicyEngine, folder: Path, domain: Domain) -> CheckResult:
    try:
        document = binding_invariants(folder)
        rules, over_claims = parse_invariants(document, domain), parse_unreleased(document)
    except PolicyError as exc:
        return CheckResult("its invariants", (str(exc),))
    found = await decide_lattice(embedded, domain)
    claims = await decide_claims(embedded, domain)
    wrong = (*broken(found, rules), *broken_claims(claims, over_claims))
    lines = [f"{each.title}: {each.count:,} of {each.checked:,} cells" for each in wrong]
    return CheckResult(f"{len(rules) + len(over_claims)} invariants in {found.cells:,} cells", _some(lines))


def _some(lines: Sequence[str]) -> tuple[str, ...]:
    more = (f"and {len(lines) - SHOWN} more",) if len(lines) > SHOWN else ()
    return (*lines[:SHOWN], *more)
