"""The trials asked: each question through the whole product, with a model that writes the draft on trial."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from ai.focus_pipeline import answer
from ai.model import Ask, Completion, ModelIdentity, Options
from ai.models.chat_model import ChatRequest
from api.errors import NoSuchThing
from api.home.configuration import Configuration, load
from api.home.identity.principal import public_subject
from api.measure.eval.asking import PATIENT, Text, make_home
from api.measure.eval.drafting import figures, prose
from api.measure.eval.drafting.corpus import figures_of, records_of, sentences_of, squad_of
from api.measure.eval.drafting.made_corpus import write_corpus
from api.measure.eval.drafting.model import Result, Told, Trial
from api.measure.eval.tables import Part, goal
from api.wiring import System, new_id, open_indexes, open_ingest, open_system

RELEASED_FALSE_GOAL = 0.01
_Z = 1.959964
KEPT_GOALS = {"verbatim": 0.95, "rounded": 0.95, "paraphrase": 0.85}


class Scripted:
    """A `ChatModel` that writes the draft of a trial, or abstains where the sources do not hold what it needs."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self.draft = ""
        self.on_trial: tuple[str, ...] = ()

    async def identity(self) -> ModelIdentity:
        """See `ChatModel`."""
        return ModelIdentity("drafting", "sha256:" + "0" * 64)

    async def complete(self, request: ChatRequest) -> Completion:
        """See `ChatModel`."""
        written = self._trial.write(request.prompt.sources)
        if written is not None:
            self.draft, self.on_trial = written
        text = self.draft or "The sources do not answer this question."
        return Completion(text, await self.identity(), request.prompt.tokens, len(text.split()))

    async def aclose(self) -> None:
        """See `ChatModel`."""


async def tried(system: System, trials: Iterable[Trial], tell: Callable[[str], None]) -> list[Result]:
    """Every trial whose draft could be written. As behind every model that is not the default, the default stands
    behind the scripted one; a sentence on trial that it says itself is kept as the product would keep it."""
    found: list[Result] = []
    for trial in trials:
        model = Scripted(trial)
        services = replace(system.services, model=model, fallback=system.services.fallback or system.services.model)
        ask = Ask(new_id(), trial.question, public_subject(system.data), options=Options(top_k=12))
        done = await answer(ask, services=services, profile=system.profile("focus"))
        if not model.draft:
            continue
        left = released(done.body, trial, model.on_trial)
        whole = bool(left) and (len(left) == len(model.on_trial) or not trial.right)
        if whole and trial.right and trial.said:
            whole = _cites(done.body, trial, model.on_trial)
        found.append(Result(trial, model.draft, whole, str(done.outcome), str(done.body["answer"])))
        if len(found) % 200 == 0:
            tell(f"{len(found)} drafts ...")
    return found


_ENDS = ' .-"”’)'


def released(body: Any, trial: Trial, on_trial: Sequence[str]) -> list[str]:
    """The sentences on trial that left with a citation."""
    said = [_plain(each["text"]) if each["citations"] else "" for each in body["sentences"]]
    wanted = [_plain(each) for each in on_trial]
    if not trial.adjoining:
        return [text for text in wanted if _is_said(text, said)]
    runs = (said[at : at + len(wanted)] for at in range(len(said)))
    return wanted if any(_is_run(run, wanted) for run in runs) else []


def _is_said(wanted: str, said: Sequence[str]) -> bool:
    """True if a sentence that was released is the one that is wanted, or two in a row are: the product may cut a text
    where the generator does not."""
    return wanted in said or any(
        a and b and wanted.startswith(a) and wanted.endswith(b) and not wanted[len(a) : -len(b)].strip(_ENDS)
        for a, b in pairwise(said)
    )


def _is_run(run: Sequence[str], wanted: Sequence[str]) -> bool:
    """True if the sentences are those wanted; where one begins, who splits a text may differ in."""
    return len(run) == len(wanted) and all(
        a and (a.endswith(b) or b.endswith(a)) for a, b in zip(run, wanted, strict=True)
    )


def _cites(body: Any, trial: Trial, on_trial: Sequence[str]) -> bool:
    """True if what the right sentences cite holds what they were made from."""
    wanted = {_plain(each) for each in on_trial}
    shown = {str(each["index"]): each["snippet"] for each in body["evidence"]}
    texts = [
        " ".join(shown[str(c["n"])] for c in each["citations"])
        for each in body["sentences"]
        if any(_plain(each["text"]) in text for text in wanted)
    ]
    return bool(texts) and all(any(_plain(said) in _plain(text) for text in texts) for said in trial.said)


def _plain(text: str) -> str:
    return " ".join(text.split()).strip(_ENDS).casefold()


async def measure(
    corpus: Configuration | None,
    work: Path,
    *,
    squad: Path | None,
    per_kind: int,
    seed: int,
    tell: Callable[[str], None],
) -> Part:
    """The report over a home; without one, over the texts of a SQuAD file, else over made tables. Where the corpus of a
    home holds neither figures nor prose, raises NoSuchThing."""
    told: Sequence[Told] = ()
    name = "drafting"
    if corpus is None and squad is not None:
        texts, told = squad_of(squad, most=40 * per_kind)
        home = await make_home(work, [Text(*each) for each in texts])
        corpus, name = load(PATIENT, home=home), "drafting, SQuAD"
    elif corpus is None:
        corpus, name = load(PATIENT, home=work / "home"), "drafting, made tables"
        async with open_ingest(corpus) as ingest:
            await ingest.run([], tenant="default", manifest=write_corpus(work / "sources"))
    async with open_system(corpus) as system, open_indexes(corpus) as (store, _, _):
        records = [] if told else await records_of(store, "default")
        told = told or sentences_of(records, most=40 * per_kind)
        facts = figures_of(records)
        made = [*(figures.trials(facts, per_kind=per_kind, seed=seed) if facts else ())]
        made += [*(prose.trials(told, per_kind=per_kind, seed=seed) if told else ())]
        if not made:
            raise NoSuchThing("the corpus holds neither figures nor prose that everybody may read")
        return part_of(name, await tried(system, made, tell))


def rate(cases: Sequence[bool]) -> dict[str, float]:
    """How many of the cases hold, with the score interval of 95 % (Wilson 1927), which is of use where none or all do.
    Raises ValueError without a case."""
    if not cases:
        raise ValueError("no cases")
    n, mean = len(cases), sum(cases) / len(cases)
    middle, spread = mean + _Z**2 / (2 * n), _Z * math.sqrt(mean * (1 - mean) / n + _Z**2 / (4 * n**2))
    low, high = ((middle + sign * spread) / (1 + _Z**2 / n) for sign in (-1, 1))
    return {"mean": round(mean, 4), "low": round(max(low, 0.0), 4), "high": round(min(high, 1.0), 4)}


def part_of(name: str, results: Sequence[Result]) -> Part:
    """Rates per kind with their intervals, and the goals."""
    ways: dict[str, Any] = {}
    for family in ("figure", "prose"):
        kinds = dict.fromkeys(r.trial.kind for r in results if r.trial.family == family)
        for kind in kinds:
            chosen = [r for r in results if r.trial.family == family and r.trial.kind == kind]
            measure = "right_kept" if chosen[0].trial.right else "released_false"
            ways[f"{family}: {kind}"] = {"drafts": len(chosen), measure: rate([r.released for r in chosen])}
    wrong = [r.released for r in results if not r.trial.right]
    numbers = [r.released for r in results if not r.trial.right and r.trial.family == "figure"]
    goals = {}
    if wrong:
        ways["all wrong drafts"] = {"drafts": len(wrong), "released_false": rate(wrong)}
        goals["not released, of all wrong drafts"] = goal(1 - RELEASED_FALSE_GOAL, 1 - sum(wrong) / len(wrong))
    if numbers:
        ways["all wrong figures"] = {"drafts": len(numbers), "released_false": rate(numbers)}
        goals["not released, of wrong figures"] = goal(1.0, 1 - sum(numbers) / len(numbers))
    for kind, least in KEPT_GOALS.items():
        kept = [r.released for r in results if r.trial.kind == kind]
        if kept:
            goals[f"kept, {kind}"] = goal(least, sum(kept) / len(kept))
    return {"name": name, "questions": len(results), "ways": ways, "goals": goals}
