"""One recorded request put to the bundle that decided it, then to the one that is tried.

The first must give every recorded decision again, digest by digest. Where it does not, the difference between the two
bundles would be worth nothing, so whoever reports it must refuse.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial

from ai.backtest.chain import DEADLINE_S, asker_of, decide_again
from ai.backtest.difference import Difference, difference
from ai.backtest.record import RecordedDecision, RecordedRequest, parse_request
from ai.canonical import digest
from ai.errors import ReplayImpossible
from policy.bundles.bundle import Bundle
from policy.canonical import encode_plain
from policy.checks import UntrustedReply, decision_of
from policy.engine import PolicyEngine
from policy.errors import PolicyError
from policy.model import Subject


@dataclass(frozen=True, slots=True)
class Source:
    """An entry as read from the ledger. `why` says why it has no parts to judge, as a code."""

    entry_id: str
    t_ms: int
    parts: Mapping[str, bytes]
    why: str = ""


@dataclass(frozen=True, slots=True)
class UnreproducedDecision:
    """A recorded decision that its own bundle does not give again."""

    entry_id: str
    point: str
    bundle: str
    why: str


@dataclass(frozen=True, slots=True)
class JudgedRequest:
    """One request. `reproduced` counts decisions; `skipped` is a code where the request could not be judged at all;
    `spoke` are the rules that spoke under the bundle that is tried, `asker` who asked, as its data make him."""

    entry_id: str
    reproduced: int = 0
    unreproduced: tuple[UnreproducedDecision, ...] = ()
    difference: Difference | None = None
    spoke: frozenset[str] = frozenset()
    skipped: str = ""
    asker: Subject | None = None


@dataclass(frozen=True, slots=True)
class _Serving:
    bundle: Bundle
    engine: PolicyEngine


class Judge:
    """Judges requests against `candidate`. `load` gives the bundle of a digest, or raises PolicyError; engines are
    opened once for each bundle."""

    def __init__(
        self,
        *,
        candidate: Bundle,
        load: Callable[[str], Bundle],
        open_engine: Callable[[Bundle], Awaitable[PolicyEngine]],
    ) -> None:
        self._candidate = candidate
        self._load = load
        self._open = open_engine
        self._serving: dict[str, _Serving | str] = {}

    async def judge(self, source: Source) -> JudgedRequest:
        """One request; whatever cannot be read or decided is said, not raised."""
        if source.why:
            return JudgedRequest(source.entry_id, skipped=source.why)
        try:
            request = parse_request(source.entry_id, source.t_ms, source.parts)
        except ReplayImpossible:
            return JudgedRequest(source.entry_id, skipped="UNREADABLE")
        if any(each.by_adapter for each in request.decisions):
            return JudgedRequest(source.entry_id, skipped="INVALID_DECISION")
        missed = [each for each in [await self._again(request, run) for run in request.decisions] if each is not None]
        if missed:
            return JudgedRequest(source.entry_id, unreproduced=tuple(missed))
        return await self._tried(request)

    async def aclose(self) -> None:
        """Close the engines."""
        for each in self._serving.values():
            if isinstance(each, _Serving):
                await each.engine.aclose()

    async def _tried(self, request: RecordedRequest) -> JudgedRequest:
        before, tried = await self._of(request.query.bundle), await self._of("")
        if isinstance(before, str) or isinstance(tried, str):
            raise AssertionError("both bundles have just been opened")
        chain = await decide_again(request, engine=tried.engine, data=tried.bundle.data, before=before.bundle.data)
        documents = [run.document for run in chain.decisions]
        spoke = {str(each["rule"]) for found in documents for each in (*found["reasons"], *found["obligations"])}
        return JudgedRequest(
            request.entry_id,
            reproduced=len(request.decisions),
            difference=difference(request, chain),
            spoke=frozenset(spoke),
            asker=asker_of(request.query.input["subject"], data=tried.bundle.data, before=before.bundle.data),
        )

    async def _again(self, request: RecordedRequest, run: RecordedDecision) -> UnreproducedDecision | None:
        missed = partial(UnreproducedDecision, request.entry_id, str(run.point), run.bundle)
        serving = await self._of(run.bundle)
        if isinstance(serving, str):
            return missed(serving)
        try:
            asked = encode_plain(run.input)
            reply = await serving.engine.evaluate(f"kfm/ai/{run.point}", asked, deadline_s=DEADLINE_S)
            decided = decision_of(reply.results)
        except (PolicyError, UntrustedReply) as exc:
            return missed(f"{type(exc).__name__}: {exc}")
        if digest(decided) == run.digest:
            return None
        return missed(f"recorded {run.decision['effect']}, now {decided['effect']}, or other reasons or obligations")

    async def _of(self, bundle: str) -> _Serving | str:
        """The engine of a bundle, "" for the one that is tried; or why there is none."""
        found = self._serving.get(bundle)
        if found is None:
            try:
                opened = self._load(bundle) if bundle else self._candidate
                found = _Serving(opened, await self._open(opened))
            except PolicyError as exc:
                found = str(exc)
            self._serving[bundle] = found
        return found
