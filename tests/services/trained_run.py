"""Asks questions whose answers are known of a trained model that picks, and of the default alone, side by side:
`python -m tests.services.trained_run --model smollm2 --questions figures`.

    --model smollm2|gemma3        which of the trained models
    --questions figures|sample|manual|clapnq
                                  `figures.toml`; the two groups of the prose bank; forty questions of CLAPNQ
    --data DIR                    the folder with `clapnq` (the data are not in the repository)
    --template focus_select       of the prompt; without a version the one for the family of the model
    --every N                     only every Nth question

Figures are judged as the bank judges them. Prose is right if the first sentence is the one that answers, partly right
if a later one is. Exit code 1 where a false figure is released, or an answer that the default has right is not.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api import wiring
from api.home.configuration import load
from api.measure.eval.asking import PATIENT, Text, make_home
from tests.golden.questions.asking import asked
from tests.golden.questions.bank import Corpus
from tests.golden.questions.judge import Verdict, judge
from tests.golden.questions.prose.run import ProseQuestion, groups, verdict
from tests.harness import KANSAS, ingest
from tests.services.trained_model import MODELS, serving

ANSWERABLE, UNANSWERABLE = 30, 10
"""Of CLAPNQ; with the bank's sixty and twenty they are 120 questions on prose."""


@dataclass(frozen=True)
class Asked:
    """A question, and how a body is judged."""

    text: str
    judged: Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True)
class Seen:
    """What came of a question: by the default alone, with the model, who wrote what was released, and how long the
    latter took, in seconds. `second`: the model was asked again."""

    text: str
    alone: str
    beside: str
    writer: str
    second: bool
    seconds: float
    said: str

    @property
    def lowered(self) -> bool:
        """True if the default is right and the answer with the model is not."""
        return self.alone == Verdict.RIGHT and self.beside != Verdict.RIGHT


async def figures(home: Path) -> list[Asked]:
    """Those of the bank over the sample corpus, which is taken into the home."""
    await ingest(home, manifest=KANSAS)
    corpus = Corpus("kansas")
    world = corpus.world

    def judged(question: Any) -> Callable[[Mapping[str, Any]], str]:
        free = question.may_abstain is not None
        return lambda body: str(
            judge(body, question.golds(world), world=world, question=question.text, may_abstain=free).verdict
        )

    return [Asked(q.text, judged(q)) for q in corpus.questions if q.group == "figures"]


async def prose(home: Path, name: str) -> list[Asked]:
    """A group of the prose bank, whose documents are taken into the home."""
    group = next(each for each in groups() if each.name == name)
    await ingest(home, paths=group.documents, label="public")
    return [Asked(q.text, _judged_prose((q,))) for q in group.questions]


async def clapnq(home: Path, folder: Path) -> list[Asked]:
    """Questions of CLAPNQ dev by the hash of their id, over their passages alone; right is any annotated sentence."""
    chosen = [
        *_lowest(folder / "clapnq_dev_answerable.jsonl", ANSWERABLE),
        *_lowest(folder / "clapnq_dev_unanswerable.jsonl", UNANSWERABLE),
    ]
    passages = {(p["title"], p["text"]) for each in chosen for p in each["passages"][:1]}
    texts = [Text(f"q{n:05d}", *each) for n, each in enumerate(sorted(passages))]
    made = await make_home(home.parent / "clapnq", texts)
    await asyncio.to_thread(made.rename, home)
    return [Asked(each["input"], _judged_prose(_annotated(each))) for each in chosen]


def _lowest(file: Path, count: int) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return sorted(lines, key=lambda each: hashlib.sha256(each["id"].encode()).hexdigest())[:count]


def _annotated(each: Mapping[str, Any]) -> tuple[ProseQuestion, ...]:
    told = [s for output in each["output"] for s in output.get("selected_sentences", ())]
    return tuple(ProseQuestion(each["input"], said) for said in told) or (ProseQuestion(each["input"], ""),)


def _judged_prose(questions: Sequence[ProseQuestion]) -> Callable[[Mapping[str, Any]], str]:
    """The best verdict over several right sentences."""
    order = ("right", "partly", "rightly none", "beside", "missed", "false")

    def judged(body: Mapping[str, Any]) -> str:
        said = [each["text"] for each in body["sentences"] if body["outcome"] == "ANSWER"]
        return min((verdict(question, said) for question in questions), key=order.index)

    return judged


async def compared(home: Path, questions: Sequence[Asked], url: str, model: str, template: str) -> list[Seen]:
    """Every question asked of the default alone and then with the model, on the same home."""
    served = {"FOCUS_MODE_MODEL": model, "OLLAMA_API_URL": url, "EXHIBIT_MODELS__DEADLINE_MS": "120000"}
    served |= {"EXHIBIT_PROMPT__TEMPLATE": template, "EXHIBIT_MODELS__THREADS": "1", **PATIENT}
    async with wiring.open_system(load(PATIENT, home=home)) as system:
        alone = [await asked(system, each.text, {}) for each in questions]
    found = []
    async with wiring.open_system(load(served, home=home)) as system:
        for each, default in zip(questions, alone, strict=True):
            began = time.perf_counter()
            body = await asked(system, each.text, {})
            seconds = time.perf_counter() - began
            calls = json.loads(await system.services.ledger.part(body["provenance"]["entry_id"], "calls") or b"[]")
            found.append(_seen(each, default, body, calls, seconds))
    return found


def _seen(each: Asked, default: Mapping[str, Any], body: Mapping[str, Any], calls: Any, seconds: float) -> Seen:
    said = [sentence["text"] for sentence in body["sentences"]]
    theirs = {sentence["text"] for sentence in default["sentences"]}
    filled = any("filled" in call for call in calls)
    ours = [text for text in said if text in theirs]
    writer = "nobody" if body["outcome"] != "ANSWER" else "the model"
    if filled and writer != "nobody":
        writer = "the default" if len(ours) == len(said) else "both"
    return Seen(
        each.text,
        each.judged(default),
        each.judged(body),
        writer,
        any("repair" in call for call in calls),
        seconds,
        " / ".join(said)[:300],
    )


def told(found: Sequence[Seen]) -> str:
    """The figures, and every question whose verdict the model changed."""
    taken = sorted(each.seconds for each in found)

    def share(values: Sequence[str]) -> str:
        return ", ".join(f"{count} {value}" for value, count in Counter(values).most_common())

    lines = [
        f"questions      {len(found)}",
        f"default alone  {share([each.alone for each in found])}",
        f"with the model {share([each.beside for each in found])}",
        f"written by     {share([each.writer for each in found])}; asked twice {sum(each.second for each in found)}",
        f"seconds        first {found[0].seconds:.1f}, p50 {taken[len(taken) // 2]:.1f}, most {taken[-1]:.1f}",
    ]
    changed = [each for each in found if each.alone != each.beside]
    return "\n".join([*lines, *(f"{each.alone} -> {each.beside}: {each.text} | {each.said}" for each in changed)])


def passed(found: Sequence[Seen], *, figures: bool) -> bool:
    """True unless the model has lowered an answer, or a figure is false."""
    false = figures and any(each.beside == Verdict.FALSE for each in found)
    return not false and not any(each.lowered for each in found)


async def _run(chosen: argparse.Namespace, url: str, model: str, scratch: Path) -> int:
    home = scratch / "home"
    if chosen.questions == "figures":
        questions = await figures(home)
    elif chosen.questions == "clapnq":
        questions = await clapnq(home, chosen.data / "clapnq")
    else:
        questions = await prose(home, chosen.questions)
    found = await compared(home, questions[:: chosen.every], url, model, chosen.template)
    print(f"{chosen.model}, {chosen.template}, {chosen.questions}\n{told(found)}", flush=True)
    return int(not passed(found, figures=chosen.questions == "figures"))


def main() -> int:
    """Parse the command line, serve the model, ask."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=sorted(MODELS), default="smollm2")
    parser.add_argument("--questions", choices=("figures", "sample", "manual", "clapnq"), default="figures")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--template", default="focus_select")
    parser.add_argument("--every", type=int, default=1)
    chosen = parser.parse_args()
    if chosen.questions == "clapnq" and chosen.data is None:
        parser.error("--questions clapnq needs --data")
    with (
        serving(MODELS[chosen.model]) as (url, name),
        tempfile.TemporaryDirectory(prefix="exhibit-trained-") as scratch,
    ):
        return asyncio.run(_run(chosen, url, name, Path(scratch)))


if __name__ == "__main__":
    sys.exit(main())
