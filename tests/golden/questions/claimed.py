"""Checks claims about the documents that were written for the reader and that it was not trained on, each as the only
sentence of a draft that cites its document: `python -m tests.golden.questions.claimed [--rate MILLI ...] [NAME ...]`.

A claim is in the writer's own words; half of them are false in a detail. Those that hold could be released.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Sequence

from ai.answer.draft.generate import generate
from ai.answer.draft.paraphrases import Judge
from ai.model import AdmittedItem, MapContext, Options, RenderedPrompt
from ai.models.context import ContextBudgets, render_prompt, template_named
from ai.models.reader.lazy import FALSE_CLAIMS_MILLI, LazyReader
from ai.models.reader.training.examples import CLAIMS, UNREAD, Example, claims_of
from retrieval.model import Intent
from tests.fakes_ai import ScriptedModel, an_item

NAMES = sorted(each.stem for each in (UNREAD / CLAIMS).glob("*.toml"))
Counts = Counter[tuple[bool, bool]]
"""How many claims are (true, released)."""


async def counted(claims: Sequence[Example], rate_milli: int) -> Counts:
    """How the claims fare where so many false ones in a thousand may pass; with 0 words alone decide."""
    reader = LazyReader(100, false_claims_milli=rate_milli)
    judge = Judge(reader, frozenset({1})) if rate_milli else None
    return Counter([(bool(each.answers), await _is_released(each, judge)) for each in claims])


async def _is_released(claim: Example, judge: Judge | None) -> bool:
    item = an_item("\n".join(claim.sentences), title=claim.title)
    draft, _ = await generate(
        _prompt(item),
        question="",
        intent=Intent(),
        items=[item],
        options=Options(),
        deadline_s=60,
        model=ScriptedModel(f"{claim.question.removesuffix('.')} [1]."),
        canaries=(),
        clock_ms=lambda: 0,
        judge=judge,
    )
    [sentence] = draft.sentences
    return sentence.holds


def _prompt(item: AdmittedItem) -> RenderedPrompt:
    return render_prompt(
        "",
        [item],
        MapContext(),
        intent=Intent(),
        template=template_named("focus_mode/v2"),
        budgets=ContextBudgets(10_000, 20_000),
        canary=None,
    )


def main() -> int:
    """Parse the command line and count."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--rate", type=int, action="append", help="stated rates in thousandths; 0 for words alone")
    asked = parser.parse_args()
    claims = [each for name in asked.names or NAMES for each in claims_of(UNREAD, name)]
    for rate in asked.rate or (0, FALSE_CLAIMS_MILLI):
        found = asyncio.run(counted(claims, rate))
        for true in (True, False):
            total = found[true, True] + found[true, False]
            print(f"stated {rate / 1000:.3f}: of {total} {str(true).lower()} claims {found[true, True]} are released")
    return 0


if __name__ == "__main__":
    sys.exit(main())
