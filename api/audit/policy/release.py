"""Letting a bundle decide: every gate that it must pass, what it newly permits, and the ledger entry that comes before
it decides. On the command line and over HTTP alike."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from api.errors import ActionForbidden, NoSuchThing, RequestRejected
from api.home.backends import PolicyBackend, backends_of
from api.home.configuration import Configuration
from api.wiring import (
    bundle_folder,
    clock_ms,
    key_store,
    open_bundle,
    open_embedded,
    open_server,
    pass_canary,
    releases_of,
    require_signature,
)
from api.wiring.publications import (
    PUBLISHED,
    ROLLED_BACK,
    latest_publication,
    open_proposal,
    record_proposal,
    record_publication,
    require_published,
    was_in_force,
)
from ledger.ledger import Ledger
from policy.bundles.archive import folder_digest
from policy.bundles.bundle import SHIPPED, Bundle, load_bundle
from policy.bundles.releases import Releases
from policy.engine import PolicyEngine
from policy.errors import BundleRejected, BundleUnpublished

if TYPE_CHECKING:
    from policy.authoring.checking import CheckResult
    from policy.authoring.opa import Opa
    from policy.authoring.testing.access_table import CellResult
    from policy.authoring.testing.vectors import Evaluator
    from policy.authoring.widening import Side, Widening

INPUTS = 600
NOBODY_NAMED = "command line"
"""The name for somebody who changes something on the command line without a key."""


@dataclass(frozen=True, slots=True)
class Candidacy:
    """A bundle in its folder, as its files were when the trial began, and the one in force in its."""

    bundle: Bundle
    folder: Path
    folder_digest: str
    active: Bundle
    active_folder: Path

    @classmethod
    def of(cls, bundle: Bundle, folder: Path, backend: PolicyBackend) -> Candidacy:
        """The bundle below `folder`, beside the one in force; signed, where only signed ones may decide. Raises
        BundleRejected, BundleNotFound, SettingsInvalid."""
        require_signature(backend, folder)
        return cls(bundle, folder, folder_digest(folder), open_bundle(backend), bundle_folder(backend))


@dataclass(frozen=True, slots=True)
class Change:
    """The reason for a change of the bundle in force, and who makes it."""

    by: str
    why: str


def may_publish(backend: PolicyBackend) -> None:
    """Raise RequestRejected where the settings fix the bundle, so that publishing would change nothing."""
    if backend.folder is not None:
        raise RequestRejected(f"the setting policy.bundle fixes the bundle to {backend.folder}; unset it to publish")


class Engines:
    """The embedded engines of a trial: one for each bundle, opened when it is first asked for, that decides nothing
    twice. Those of `beside` are taken where it has them, and outlive this."""

    def __init__(self, stack: AsyncExitStack, beside: Engines | None = None) -> None:
        self._stack = stack
        self._opened: dict[tuple[str, str], PolicyEngine] = {} if beside is None else {**beside._opened}

    async def of(self, bundle: Bundle) -> PolicyEngine:
        """That of the bundle. Raises BundleRejected."""
        from policy.authoring.remembering import RememberingEngine  # noqa: PLC0415

        which = bundle.digest, bundle.wasm_sha256
        if which not in self._opened:
            self._opened[which] = RememberingEngine(await open_embedded(bundle))
            self._stack.push_async_callback(self._opened[which].aclose)
        return self._opened[which]


@asynccontextmanager
async def trial_engines(beside: Engines | None = None) -> AsyncIterator[Engines]:
    """Engines for one trial, with those of `beside`, which stay open."""
    async with AsyncExitStack() as stack:
        yield Engines(stack, beside)


async def gates(
    candidacy: Candidacy, opened: Engines, *, inputs: int, tell: Callable[[str], None]
) -> AsyncIterator[CheckResult]:
    """Every gate in order, in three steps; after a step with a closed gate the next one is not tried. Raises OpaMissing
    where rules or module are new and so must be checked by `opa`."""
    from policy.authoring.checking import CheckResult  # noqa: PLC0415
    from policy.authoring.gates import expected_gates, required_gates, static_gates  # noqa: PLC0415
    from policy.authoring.testing.vectors import vectors_folder  # noqa: PLC0415

    bundle, folder, closed = candidacy.bundle, candidacy.folder, False
    opa = _opa_for(candidacy, tell)
    for each in await asyncio.to_thread(static_gates, folder, opa):
        closed = closed or not each.passed
        yield each
    if closed:
        return
    async with evaluators(bundle, folder, opa) as engines:
        async for each in expected_gates(folder, opa=opa, engines=engines):
            closed = closed or not each.passed
            yield each
        if table := await tried_table(bundle, vectors_folder(folder)):
            lines = [str(each) for each in table if not each.passed]
            closed = closed or bool(lines)
            yield CheckResult(f"{len(table)} cells of the access table", tuple(lines))
        if not closed:
            embedded = await opened.of(bundle)
            async for each in required_gates(
                bundle, folder, opa=opa, embedded=embedded, engines=engines, inputs=inputs
            ):
                yield each


async def tried_table(bundle: Bundle, vectors: Path) -> tuple[CellResult, ...]:
    """Every cell of the access table below `vectors`, decided by the bundle's module; none where there is no table.
    Raises VectorsInvalid."""
    from policy.authoring.testing.access_table import read_table, try_table  # noqa: PLC0415

    table = read_table(vectors, bundle)
    if table is None:
        return ()
    engine = await open_embedded(bundle)
    try:
        return await try_table(table, bundle, engine)
    finally:
        await engine.aclose()


async def widenings_of(candidacy: Candidacy, opened: Engines) -> tuple[Widening, ...]:
    """Everything that the candidate permits beyond the bundle in force."""
    from policy.authoring.widening import widenings  # noqa: PLC0415

    return await widenings(*await _sides(candidacy, opened))


async def narrowings_of(candidacy: Candidacy, opened: Engines) -> tuple[Widening, ...]:
    """Everything that the bundle in force permits beyond the candidate: the candidate forbids it. Named and told as
    what the way back would permit."""
    from policy.authoring.widening import widenings  # noqa: PLC0415

    active, candidate = await _sides(candidacy, opened)
    return await widenings(candidate, active)


async def _sides(candidacy: Candidacy, opened: Engines) -> tuple[Side, Side]:
    """The bundle in force and the candidate, each with an engine."""
    from policy.authoring.widening import Side  # noqa: PLC0415

    return (
        Side(candidacy.active, candidacy.active_folder, await opened.of(candidacy.active)),
        Side(candidacy.bundle, candidacy.folder, await opened.of(candidacy.bundle)),
    )


@asynccontextmanager
async def evaluators(bundle: Bundle, folder: Path, opa: Opa | None) -> AsyncIterator[list[Evaluator]]:
    """The embedded engine first; then, with `opa`, a server of our own over the bundle below `folder`."""
    from policy.authoring.server import own_server  # noqa: PLC0415
    from policy.authoring.testing.evaluators import engine_evaluator  # noqa: PLC0415

    async with AsyncExitStack() as stack:
        embedded = await open_embedded(bundle)
        stack.push_async_callback(embedded.aclose)
        opened = [engine_evaluator(embedded.name, embedded)]
        if opa is not None:
            server = open_server(await stack.enter_async_context(own_server(opa, folder)), bundle)
            stack.push_async_callback(server.aclose)
            opened.append(engine_evaluator("opa server", server))
        yield opened


@dataclass(frozen=True, slots=True)
class Release:
    """The ledger entry of a change, None where there was none to make. One that is `proposed` decides nothing until
    somebody else accepts it."""

    entry_id: str | None
    proposed: bool = False


async def publish(
    candidacy: Candidacy,
    *,
    gates_passed: Sequence[str],
    widened: Sequence[str],
    change: Change,
    configuration: Configuration,
    ledger: Ledger,
) -> Release:
    """File both bundles, so that the new one can be taken up and the old one rolled back to, and let the candidate
    decide, or propose it, where it opens what needs a second person. What decides is what was tried, to the byte, and
    it was compared with what the log says is in force; nothing decides that could not be recorded. Raises
    BundleRejected, RequestRejected, LedgerUnavailable."""
    from policy.authoring.lattice.binding import removals  # noqa: PLC0415
    from policy.authoring.widening import need_a_second_person  # noqa: PLC0415

    backend = backends_of(configuration).policy
    releases, bundle, active = releases_of(backend), candidacy.bundle, candidacy.active
    await require_published(configuration, ledger, active.digest)
    before = await asyncio.to_thread(folder_digest, candidacy.active_folder)
    await asyncio.to_thread(lambda: releases.archive.put(candidacy.active_folder, renew=True))
    if before == candidacy.folder_digest:
        return Release(None)
    filed = await asyncio.to_thread(lambda: releases.archive.put(candidacy.folder, renew=True))
    if (filed, folder_digest(releases.archive.path(filed.digest))) != (bundle, candidacy.folder_digest):
        raise BundleRejected(f"{candidacy.folder} was changed while it was tried")
    detail = {
        "before": active.digest,
        "before_folder_digest": before,
        "after": bundle.digest,
        "folder_digest": candidacy.folder_digest,
        "module_sha256": bundle.wasm_sha256,
        "gates": [*gates_passed],
        "widenings": [*widened],
        "removed_invariants": [asdict(each) for each in removals(candidacy.folder)],
        "by": change.by,
        "why": change.why,
    }
    if waiting := need_a_second_person(widened, active.data):
        if change.by == NOBODY_NAMED:
            raise RequestRejected(f"{waiting[0]!r} needs a second person, so say who proposes it: --key-file")
        return Release(await record_proposal(ledger, {**detail, "second_person": [*waiting]}), proposed=True)
    return await _put_in_force(releases, detail, ledger)


async def accept(
    wanted: str, *, accepted: Collection[str], change: Change, configuration: Configuration, ledger: Ledger
) -> Release:
    """Let the bundle of that digest decide that somebody else has proposed to publish next. `accepted` must name all
    that it opens for which the data in force ask a second person. Raises NoSuchThing where nobody has proposed it,
    ActionForbidden for the one who has, BundleNotFound, BundleRejected, RequestRejected, LedgerUnavailable."""
    backend = backends_of(configuration).policy
    releases = releases_of(backend)
    folder = releases.archive.path(wanted)
    candidacy = Candidacy.of(await asyncio.to_thread(releases.archive.load, wanted), folder, backend)
    found = await open_proposal(ledger, candidacy.folder_digest)
    if found is None:
        raise NoSuchThing("Nobody has proposed this bundle in place of the one in force.")
    proposal_id, proposal = found
    people = {key.key_id: key.name for key in key_store(configuration).all()}
    who, proposer = (people.get(each.removeprefix("key:"), each) for each in (change.by, proposal["by"]))
    if who == proposer or change.by == NOBODY_NAMED:
        raise ActionForbidden("A change must be accepted by a named person other than the one who proposed it.")
    if missing := [name for name in proposal["second_person"] if name not in accepted]:
        raise RequestRejected(f"Not every widening is accepted by name: {missing[0]}")
    await require_published(configuration, ledger, candidacy.active.digest)
    await pass_canary(candidacy.bundle)
    detail = proposal | {"proposal": proposal_id, "accepted_by": change.by, "accepted_why": change.why}
    return await _put_in_force(releases, detail, ledger)


async def _put_in_force(releases: Releases, detail: dict[str, Any], ledger: Ledger) -> Release:
    releases.announce(detail["after"])
    entry_id = await record_publication(ledger, PUBLISHED, detail)
    releases.publish(detail["after"], replaced=detail["before"], at_ms=clock_ms())
    return Release(entry_id)


async def roll_back(
    wanted: str, *, active: str, change: Change, configuration: Configuration, ledger: Ledger
) -> str | None:
    """Let the archived bundle of that digest decide again, which must have been in force, be what it was then, and pass
    the canary; `active` is the digest of the one that the home names now. Gives the id of the ledger entry; None
    where it decides already. Raises BundleNotFound, BundleRejected, LedgerUnavailable."""
    releases = releases_of(backends_of(configuration).policy)
    known = await was_in_force(configuration, ledger, wanted)
    bundle = await asyncio.to_thread(_filed, releases, wanted)
    await asyncio.to_thread(require_signature, backends_of(configuration).policy, releases.archive.path(wanted))
    await pass_canary(bundle)
    if known is None:
        raise BundleUnpublished(f"{wanted} was never in force here: publish it, so that its gates are tried")
    found = await asyncio.to_thread(folder_digest, releases.archive.path(wanted))
    if known and known != found:
        raise BundleUnpublished(f"the files of {wanted} are not those that were in force here")
    latest = await latest_publication(configuration, ledger)
    if wanted == active and (latest is None or (latest.after, latest.folder_digest) == (wanted, found)):
        return None
    releases.announce(wanted)
    detail = {
        "before": active if latest is None else latest.after,
        "after": wanted,
        "folder_digest": found,
        "module_sha256": bundle.wasm_sha256,
        "by": change.by,
        "why": change.why,
    }
    entry_id = await record_publication(ledger, ROLLED_BACK, detail)
    releases.roll_back(wanted, replaced=active, at_ms=clock_ms())
    return entry_id


def _filed(releases: Releases, digest: str) -> Bundle:
    """The archived bundle of that digest; the shipped one is filed on the way, if it is that."""
    if digest not in releases.archive and load_bundle().digest == digest:
        releases.archive.put(SHIPPED)
    return releases.archive.load(digest)


def _opa_for(candidacy: Candidacy, tell: Callable[[str], None]) -> Opa | None:
    """The `opa` program; without it None, where the rules are known. Raises OpaMissing."""
    from policy.authoring.gates import same_rules  # noqa: PLC0415
    from policy.authoring.opa import OpaMissing, find_opa  # noqa: PLC0415

    try:
        return find_opa()
    except OpaMissing as exc:
        if not any(same_rules(candidacy.bundle, known) for known in (candidacy.active, load_bundle())):
            raise
        tell(f"only the data are new, so the gates that need `opa` are left out: {exc}")
        return None
