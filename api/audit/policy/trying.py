"""A whole publication: the candidate is read, tried on every gate, compared with the bundle in force, and put into
force where everything that it newly permits is accepted by name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from api.audit.policy.release import (
    Candidacy,
    Change,
    Engines,
    Release,
    gates,
    may_publish,
    publish,
    trial_engines,
    widenings_of,
)
from api.errors import RequestRejected
from api.home.backends import backends_of
from api.home.configuration import Configuration
from api.wiring import open_bundle
from api.wiring.ledger.log import log_to_write
from policy.bundles.bundle import Bundle, load_bundle

if TYPE_CHECKING:
    from policy.authoring.checking import CheckResult
    from policy.authoring.widening import Widening


@dataclass(frozen=True, slots=True)
class Trial:
    """The gates that were tried, and everything that the candidate permits beyond the bundle in force."""

    gates: tuple[CheckResult, ...]
    widenings: tuple[Widening, ...] = ()

    @property
    def passed(self) -> bool:
        """True if no gate is closed."""
        return all(each.passed for each in self.gates)


@dataclass(frozen=True, slots=True)
class Publication:
    """The outcome of a publication. `bundle` is None where its files do not fit together; `release` is None where a
    gate is closed, and where nothing was to be changed."""

    bundle: Bundle | None
    active: Bundle
    trial: Trial
    release: Release | None = None


async def try_and_publish(
    folder: Path,
    *,
    accepted: Collection[str],
    change: Change,
    configuration: Configuration,
    inputs: int,
    tell: Callable[[str], None],
    dry_run: bool = False,
    beside: Engines | None = None,
) -> Publication:
    """Publish the bundle below `folder`, or tell why not; with `dry_run` change nothing. `inputs` are compared between
    engines; `beside` are engines that are open already. Raises RequestRejected for an accepted name that nothing
    widens by, and what Candidacy.of, gates and publish raise."""
    from policy.authoring.checking import check_module  # noqa: PLC0415

    backend = backends_of(configuration).policy
    may_publish(backend)
    active, whole = open_bundle(backend), check_module(folder)
    if not whole.passed:
        return Publication(None, active, Trial((whole,)))
    candidacy = Candidacy.of(load_bundle(folder), folder, backend)
    async with trial_engines(beside) as opened:
        trial = await try_candidate(candidacy, opened, accepted=accepted, inputs=inputs, tell=tell)
    if dry_run or not trial.passed:
        return Publication(candidacy.bundle, active, trial)
    async with log_to_write(configuration) as ledger:
        release = await publish(
            candidacy,
            gates_passed=[each.name for each in trial.gates],
            widened=[each.name for each in trial.widenings],
            change=change,
            configuration=configuration,
            ledger=ledger,
        )
    return Publication(candidacy.bundle, active, trial, release)


async def try_candidate(
    candidacy: Candidacy, opened: Engines, *, accepted: Collection[str], inputs: int, tell: Callable[[str], None]
) -> Trial:
    """Every gate; where all are open, the comparison with the bundle in force, as the last gate."""
    passed = []
    async for each in gates(candidacy, opened, inputs=inputs, tell=tell):
        tell(_line(each))
        passed.append(each)
    if not all(each.passed for each in passed):
        return Trial(tuple(passed))
    found = await widenings_of(candidacy, opened)
    if unknown := sorted(set(accepted) - {each.name for each in found}):
        raise RequestRejected(f"there is no widening named {unknown[0]!r}")
    last = accepting(found, accepted)
    tell(_line(last))
    return Trial((*passed, last), found)


def accepting(found: Sequence[Widening], accepted: Collection[str]) -> CheckResult:
    """The gate that is open only if each widening is accepted by its name."""
    from policy.authoring.checking import CheckResult  # noqa: PLC0415

    lines = tuple(f'--accept "{each.name}": {each.detail}' for each in found if each.name not in accepted)
    return CheckResult(f"{len(found)} widenings, each accepted by name", lines)


def _line(result: CheckResult) -> str:
    return f"{'ok    ' if result.passed else 'CLOSED'}  {result.name}"
