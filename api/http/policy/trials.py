"""Trials of candidates: every gate, what is newly permitted, and what recorded requests would have come to. They take
longer than a request may, so they run beside the requests, one at a time, and are asked about."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import structlog

from api.audit.policy.backtesting import backtest_document, run_backtest
from api.audit.policy.release import INPUTS, Candidacy, gates, narrowings_of, trial_engines, widenings_of
from api.errors import Overloaded
from api.home.configuration import Configuration
from api.problems import code_of

BACKTESTED = 1_000
"""The newest requests that a candidate is tried on."""
_log = structlog.get_logger("exhibit.policy")


@dataclass
class PolicyTrial:
    """One trial, as far as it has come."""

    name: str
    candidacy: Candidacy
    state: Literal["running", "passed", "closed", "failed"] = "running"
    gates: list[dict[str, Any]] = field(default_factory=list)
    widenings: list[dict[str, str]] = field(default_factory=list)
    narrowings: list[dict[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    backtest: dict[str, Any] | None = None
    fault: str | None = None

    @property
    def document(self) -> dict[str, Any]:
        """The trial as JSON values."""
        return {
            "candidate": self.name,
            "bundle_digest": self.candidacy.bundle.digest,
            "active_digest": self.candidacy.active.digest,
            "state": self.state,
            "gates": self.gates,
            "widenings": self.widenings,
            "narrowings": self.narrowings,
            "notes": self.notes,
            "backtest": self.backtest,
            "fault": self.fault,
        }


class PolicyTrials:
    """The last trial of each candidate, kept while the process runs. One event loop."""

    def __init__(self) -> None:
        self._known: dict[str, PolicyTrial] = {}
        self._task: asyncio.Task[None] | None = None

    def of(self, name: str) -> PolicyTrial | None:
        """The last trial of the candidate of that name."""
        return self._known.get(name)

    def start(self, name: str, candidacy: Candidacy, configuration: Configuration) -> PolicyTrial:
        """Begin a trial. Raises Overloaded while another one runs."""
        if self._task is not None and not self._task.done():
            raise Overloaded("Another candidate is being tried; ask again when that has ended.")
        trial = self._known[name] = PolicyTrial(name, candidacy)
        self._task = asyncio.create_task(_run(trial, configuration))
        return trial

    async def aclose(self) -> None:
        """Stop the trial that runs."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)


async def _run(trial: PolicyTrial, configuration: Configuration) -> None:
    try:
        await _try(trial, configuration)
    except asyncio.CancelledError:
        trial.state = "failed"
        raise
    except Exception as exc:
        trial.state, trial.fault = "failed", code_of(exc)
        if trial.fault != "INTERNAL":
            trial.fault += f": {exc}"
        _log.warning("policy trial failed", problem=type(exc).__name__)


async def _try(trial: PolicyTrial, configuration: Configuration) -> None:
    candidacy = trial.candidacy
    async with trial_engines() as opened:
        async for each in gates(candidacy, opened, inputs=INPUTS, tell=trial.notes.append):
            trial.gates.append({"name": each.name, "passed": each.passed, "problems": list(each.problems)})
        passed = all(each["passed"] for each in trial.gates)
        if passed:
            trial.widenings = [asdict(each) for each in await widenings_of(candidacy, opened)]
            trial.narrowings = [asdict(each) for each in await narrowings_of(candidacy, opened)]
    found = await run_backtest(configuration, candidacy.bundle, since_ms=0, limit=BACKTESTED)
    trial.backtest = backtest_document(found, candidacy.bundle.digest)
    trial.state = "passed" if passed else "closed"
