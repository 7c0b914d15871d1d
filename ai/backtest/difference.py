"""The changes that another bundle makes to one recorded request: denials and allowances, scope, evidence, sentences;
and the record cannot tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ai.backtest.chain import Chain
from ai.backtest.record import RecordedDecision, RecordedRequest
from ai.canonical import canonical
from ai.model import Outcome
from policy.model import Decision
from policy.obligations import FILTER


@dataclass(frozen=True, slots=True)
class Flip:
    """A point that denied and now allows (`to_allow`), or the other way round. `codes` are why it denied, or does."""

    point: str
    to_allow: bool
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MovedItem:
    """An item gained or lost. `rules` are the rules that kept it out; `obligations` what it is, or was, used under."""

    id: str
    rules: tuple[str, ...]
    obligations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LostSentence:
    """A sentence none of whose citations may be used any more. `text` is empty for one that was not released."""

    i: int
    text: str
    citations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """Everything that changes for one request. `opened` and `closed` are visibility classes, as label, collection and
    id; `fallen` are the sentences that left and no longer would, `risen` those that now would; `becomes` is the outcome
    now, empty where it stays or the record cannot tell; `answers` are the words of the answer where they become others;
    `unknown` are the codes of UNKNOWN that apply."""

    entry_id: str
    t_ms: int
    outcome: str
    flips: tuple[Flip, ...] = ()
    opened: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    gained: tuple[MovedItem, ...] = ()
    lost: tuple[MovedItem, ...] = ()
    reobliged: tuple[MovedItem, ...] = ()
    lost_sentences: tuple[LostSentence, ...] = ()
    fallen: tuple[int, ...] = ()
    risen: tuple[int, ...] = ()
    becomes: str = ""
    answers: str | None = None
    unknown: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        """True if anything does."""
        scope, evidence = (self.opened, self.closed), (self.gained, self.lost, self.reobliged)
        return any((self.flips, *scope, *evidence, self.fallen, self.risen, self.becomes, self.answers is not None))


STOPPED = " (stopped by the floor)"
"""Behind the name of a class that a rule opens and the floor in code keeps shut."""

UNKNOWN: Mapping[str, str] = {
    "NOTHING_SEARCHED": "the query was denied then, so nothing was searched: what it would have found is not on record",
    "SCOPE_WIDER": "the scope has more classes now, which were not searched then",
    "DRAFT_OLDER": "more evidence may be used now; a draft that could cite it is not on record",
    "TEXT_OTHER": "items or the answer would be shown in another form; what it would have said then is not on record",
}
"""Facts that a record cannot tell, by code."""


def difference(request: RecordedRequest, chain: Chain) -> Difference:
    """The difference between the record and the chain."""
    before, after = _used(request), _used_now(request, chain)
    gained, lost = sorted(after - before), sorted(before - after)
    old, new = _duties(request), _duties_now(chain)
    changed = sorted(id for id in before & after if old.get(id, ()) != new.get(id, ()))
    fallen, risen = _sentences(request, chain)
    opened, closed = _classes(request, chain)
    return Difference(
        entry_id=request.entry_id,
        t_ms=request.t_ms,
        outcome=request.outcome,
        flips=tuple(_flips(request, chain)),
        opened=opened,
        closed=closed,
        gained=tuple(MovedItem(id, _rules(request.evidence, id), new.get(id, ())) for id in gained),
        lost=tuple(MovedItem(id, _rules_now(chain, id), old.get(id, ())) for id in lost),
        reobliged=tuple(MovedItem(id, (), new.get(id, ())) for id in changed),
        lost_sentences=tuple(_lost_sentences(request, before, after)),
        fallen=fallen,
        risen=risen,
        becomes=_becomes(request, chain),
        unknown=tuple(_unknown(request, chain, gained=bool(gained), changed=bool(changed))),
    )


def _classes(request: RecordedRequest, chain: Chain) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The classes that the rules put into the scope and take out of it. One that a rule opens and the floor in code
    keeps shut is named all the same: the rule is wrong."""
    before, after = _scope(request), _filtered(chain.query.document)
    names = {
        each["id"]: f"{each['label']} {each['collection']} {each['id']}" for each in request.query.input["classes"]
    }
    stopped = after - set(chain.query.classes)
    opened = (names[id] + (STOPPED if id in stopped else "") for id in after - before)
    return tuple(sorted(opened)), tuple(sorted(names[id] for id in before - after))


def _used(request: RecordedRequest) -> frozenset[str]:
    """The facts that the last run of the evidence point admitted; by then, what could not be used had been left out."""
    if not request.evidence or not request.evidence[-1].allowed:
        return frozenset()
    return frozenset(request.evidence[-1].decision["admit"])


def _used_now(request: RecordedRequest, chain: Chain) -> frozenset[str]:
    """The facts that may be used now. One that was admitted then, and left out all the same, could not be used under
    its obligations; it stays out while these are the same."""
    old, new = _duties(request), _duties_now(chain)
    admitted_then = {id for run in request.evidence for id in run.decision["admit"]}
    unusable = {id for id in admitted_then - _used(request) if old.get(id, ()) == new.get(id, ())}
    return chain.admitted - unusable


def _duties(request: RecordedRequest) -> dict[str, tuple[str, ...]]:
    """The obligations of each fact, from the last run that was asked about it."""
    found: dict[str, tuple[str, ...]] = {}
    for run in request.evidence:
        found |= _by_target((each["op"], each["target"], each["params"]) for each in run.decision["obligations"])
    return found


def _duties_now(chain: Chain) -> dict[str, tuple[str, ...]]:
    duties = () if chain.evidence is None else chain.evidence.obligations
    return _by_target((each.op, {"ref": each.target.ref}, each.params) for each in duties)


def _by_target(
    obligations: Iterator[tuple[str, Mapping[str, str], Mapping[str, object]]],
) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for op, target, params in obligations:
        found.setdefault(target["ref"], []).append(f"{op} {canonical(params).decode()}" if params else op)
    return {id: tuple(sorted(ops)) for id, ops in found.items()}


def _flips(request: RecordedRequest, chain: Chain) -> Iterator[Flip]:
    answer = request.answer[-1:] if request.answer else ()
    pairs: list[tuple[Sequence[RecordedDecision], Decision | None]] = [
        ((request.query,), chain.query),
        (request.evidence[:1], chain.evidence),
        (answer, chain.answers[-1] if chain.answers else None),
    ]
    for recorded, now in pairs:
        if recorded and now is not None and recorded[0].allowed is not now.allowed:
            codes = tuple(sorted({each.code for each in now.reasons})) if recorded[0].allowed else recorded[0].codes
            yield Flip(str(now.point), now.allowed, codes)


def _rules(runs: Sequence[RecordedDecision], id: str) -> tuple[str, ...]:
    reasons = [each for run in runs for each in run.decision["reasons"]]
    return tuple(sorted({f"{each['rule']} {each['code']}" for each in reasons if each["target"]["ref"] in (id, "")}))


def _rules_now(chain: Chain, id: str) -> tuple[str, ...]:
    reasons = [each for decision in chain.decisions[:2] for each in decision.reasons]
    found = {f"{each.rule} {each.code}" for each in reasons if each.target.ref in (id, "")}
    return tuple(sorted(found)) or ("not in scope",)


def _lost_sentences(request: RecordedRequest, before: frozenset[str], after: frozenset[str]) -> Iterator[LostSentence]:
    for each in request.answer[0].input["answer"]["sentences"] if request.answer else ():
        cited = frozenset(each["citations"])
        if cited & before and not cited & after:
            yield LostSentence(int(each["i"]), request.released.get(int(each["i"]), ""), tuple(each["citations"]))


def _sentences(request: RecordedRequest, chain: Chain) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The numbers of the sentences that left and no longer would, and of those that now would."""
    if not request.answer:
        return (), ()
    then = frozenset(request.released) if request.outcome == Outcome.ANSWER else frozenset()
    now = chain.kept or frozenset()
    return tuple(sorted(then - now)), tuple(sorted(now - then))


def _becomes(request: RecordedRequest, chain: Chain) -> str:
    """The outcome that the record lets one tell."""
    if not chain.query.allowed:
        now = Outcome.DENY
    elif request.query.allowed and request.answer:
        now = Outcome.ANSWER if chain.kept else Outcome.ABSTAIN
    else:
        return ""
    return "" if now == request.outcome or not request.outcome else str(now)


def _unknown(request: RecordedRequest, chain: Chain, *, gained: bool, changed: bool) -> Iterator[str]:
    if chain.query.allowed and not request.query.allowed:
        yield "NOTHING_SEARCHED"
    elif set(chain.query.classes) - _scope(request):
        yield "SCOPE_WIDER"
    if gained:
        yield "DRAFT_OLDER"
    if request.answer and (changed or _said_otherwise(request, chain)):
        yield "TEXT_OTHER"


def _said_otherwise(request: RecordedRequest, chain: Chain) -> bool:
    """True if the answer point has other duties now: a notice behind the answer, or words of it blacked out."""
    then = {(each["op"], canonical(each["params"])) for run in request.answer for each in run.decision["obligations"]}
    now = {(each.op, canonical(each.params)) for run in chain.answers for each in run.obligations}
    return bool(chain.answers) and then != now


def _scope(request: RecordedRequest) -> set[str]:
    """The classes that the rules admitted then."""
    return _filtered(request.query.decision)


def _filtered(decision: Mapping[str, Any]) -> set[str]:
    duties = [each["params"] for each in decision["obligations"] if each["op"] == FILTER]
    return {id for params in duties for id in params["classes"]}
