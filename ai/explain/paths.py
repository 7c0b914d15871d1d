"""The way of each candidate of each channel through a recorded request: where it stood, what became of it, by which
rule and fact. Read from the record alone; who may see which of it is not decided here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from ai.backtest.record import RecordedDecision, RecordedRequest
from policy.obligations import DROP, KEEPS_WORDS
from policy.rules import OF_AN_OBLIGATION, RuleInfo
from retrieval.model import Run


class Verdict(StrEnum):
    """The fate of a candidate."""

    KEPT = "kept"
    REDACTED = "redacted"
    DROPPED = "dropped"


class Stage(StrEnum):
    """The last stage that had a say: the bundle (fusion, duplicates, limits), the evidence point, its obligations, the
    answer."""

    BUNDLE = "bundle"
    EVIDENCE = "evidence"
    OBLIGATIONS = "obligations"
    ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a channel found it: rank from 1, the channel's own score. `run` numbers the runs of a request, of which a
    channel may have several."""

    channel: str
    store: str
    rank: int
    score: float
    run: int = 0


@dataclass(frozen=True, slots=True)
class RuleReason:
    """A rule that spoke about it, and the facts that the rule is about, as they stand on record."""

    rule: str
    code: str
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Path:
    """One candidate. `rank_after` is its place in the bundle that the evidence point was asked about, None for one that
    did not come so far; `folded_into` the candidate that stands for it. `number` is its citation number, `sentences`
    those that cite it. `facts` are the ids of the policy facts that stand for it."""

    record_id: str
    found: tuple[Place, ...]
    stage: Stage
    verdict: Verdict
    because: tuple[RuleReason, ...] = ()
    obligations: tuple[str, ...] = ()
    rank_after: int | None = None
    folded_into: str | None = None
    number: int | None = None
    sentences: tuple[int, ...] = ()
    facts: tuple[str, ...] = ()


_LAST = 2**31  # behind every place


def candidate_paths(
    request: RecordedRequest,
    runs: Sequence[Run],
    shown: Sequence[Mapping[str, Any]],
    cited: Mapping[int, Sequence[int]],
    rules: Iterable[RuleInfo],
) -> tuple[Path, ...]:
    """Every candidate once, best place first. `shown` are the admitted items as the record shows them, `cited` the
    citation numbers of each released sentence, `rules` those of the bundle that decided."""
    found: dict[str, list[Place]] = {}
    for number, run in enumerate(runs):
        for hit in run.hits:
            place = Place(str(run.channel), run.store, hit.rank, hit.score, number)
            found.setdefault(hit.record_id, []).append(place)
    numbers = {str(each["chunk_id"]): int(each["index"]) for each in shown}
    read = {rule.id: rule.facts for rule in rules}
    record = _Record(request, _last_asked(request), numbers, cited, read)
    paths = [record.path(id, tuple(places)) for id, places in found.items()]
    return tuple(sorted(paths, key=lambda path: (path.rank_after or _LAST, min(p.rank for p in path.found))))


def _last_asked(request: RecordedRequest) -> Mapping[str, tuple[int, RecordedDecision]]:
    """For each fact the run of the evidence point that was asked about it last, and the item's place there."""
    found: dict[str, tuple[int, RecordedDecision]] = {}
    for run in request.evidence:
        items = [str(each["id"]) for each in run.input["evidence"]]
        own = [id for id in items if "#" not in _suffix(id, items) and "~" not in _suffix(id, items)]
        for id in items:
            found[id] = (own.index(_own(id, own)) + 1, run)
    return found


def _suffix(id: str, items: Sequence[str]) -> str:
    """The suffix of an id beyond that of the item that it belongs to; an item's id may itself hold a mark."""
    longest = max(
        (each for each in items if each != id and id.startswith((f"{each}#", f"{each}~"))), key=len, default=""
    )
    return id[len(longest) :] if longest else ""


def _own(id: str, own: Sequence[str]) -> str:
    return id if id in own else max((each for each in own if id.startswith((f"{each}#", f"{each}~"))), key=len)


@dataclass(frozen=True, slots=True)
class _Record:
    """The source of the paths. `last` holds for each fact the run that was asked about it last, and its place;
    `read` for each rule the facts that it is about."""

    request: RecordedRequest
    last: Mapping[str, tuple[int, RecordedDecision]]
    numbers: Mapping[str, int]
    cited: Mapping[int, Sequence[int]]
    read: Mapping[str, tuple[str, ...]]

    def path(self, id: str, found: tuple[Place, ...]) -> Path:
        """The way of one candidate."""
        if id not in self.last:
            folded = next((each.rpartition("~")[0] for each in self.last if each.endswith(f"~{id}")), None)
            return Path(id, found, Stage.BUNDLE, Verdict.DROPPED, folded_into=folded)
        rank, run = self.last[id]
        facts = tuple(e for e in self.last if e == id or (e.startswith(f"{id}#") and self.last[e][1] is run))
        duties = {str(each["op"]) for each in run.decision["obligations"] if each["target"]["ref"] in facts}
        path = Path(
            id,
            found,
            Stage.OBLIGATIONS,
            Verdict.DROPPED,
            because=self._because(run, facts),
            obligations=tuple(sorted(duties)),
            rank_after=rank,
            facts=facts,
        )
        if not set(facts) <= set(run.decision["admit"]) or DROP in duties:
            return replace(path, stage=Stage.EVIDENCE)
        return path if id not in self.numbers else self._used(path)

    def _used(self, path: Path) -> Path:
        number = self.numbers[path.record_id]
        return replace(
            path,
            stage=Stage.ANSWER if self.request.answer else Stage.EVIDENCE,
            verdict=Verdict.REDACTED if set(path.obligations) - KEEPS_WORDS else Verdict.KEPT,
            number=number,
            sentences=tuple(i for i, marks in self.cited.items() if number in marks),
        )

    def _because(self, run: RecordedDecision, facts: Sequence[str]) -> tuple[RuleReason, ...]:
        items = {str(each["id"]): each for each in run.input["evidence"]}
        asker = {f"subject.{key}": value for key, value in self.request.query.input["subject"].items()}
        found: dict[tuple[str, str], RuleReason] = {}
        for each in (*run.decision["reasons"], *run.decision["obligations"]):
            ref, rule = str(each["target"]["ref"]), str(each["rule"])
            if ref in facts:
                known = asker | {key: value for key, value in items[ref].items() if value not in (None, [], {})}
                about = {key: known[key] for key in self.read.get(rule, OF_AN_OBLIGATION) if key in known}
                code = str(each.get("code", each.get("op")))
                found[rule, code] = RuleReason(rule, code, about)
        return tuple(found.values())


def seen_by(paths: Sequence[Path], visible: Collection[str]) -> tuple[Path, ...]:
    """The paths of the visible candidates, without a trace of the others: ranks and the numbers of the runs close up,
    and citation numbers, which would tell of what stands between, are left out unless all candidates are visible."""
    kept = [path for path in paths if path.record_id in visible]
    whole = len(kept) == len(paths)
    places = {id(place): place for path in kept for place in path.found}
    closed_up: dict[int, Place] = {}
    for number, run in enumerate(sorted({place.run for place in places.values()})):
        ordered = sorted((place for place in places.values() if place.run == run), key=lambda place: place.rank)
        closed_up |= {id(each): replace(each, rank=n, run=number) for n, each in enumerate(ordered, start=1)}
    after = {path.record_id: n for n, path in enumerate((p for p in kept if p.rank_after is not None), start=1)}
    return tuple(
        replace(
            path,
            found=tuple(closed_up[id(place)] for place in path.found),
            rank_after=after.get(path.record_id),
            folded_into=path.folded_into if path.folded_into in visible else None,
            number=path.number if whole else None,
            sentences=path.sentences if whole else (),
        )
        for path in kept
    )
