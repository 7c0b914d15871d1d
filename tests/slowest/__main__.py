"""The search for slow inputs: `python -m tests.slowest [--seconds N] [--seed N] [--only STAGE]`.

Every regular expression of the product is pumped once, then every stage is given random growing inputs in turn until
the time is over. Ends with exit code 1 and the inputs whose time per character grows with their length.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from random import Random

from tests.slowest.growth import STEPS, Growth, growth
from tests.slowest.inputs import growing
from tests.slowest.patterns import Found, expressions, pumps
from tests.slowest.stages import STAGES

PATTERN_CHARS = 250
PATTERN_S = 2.0  # for the pumps of one pattern
MADE_WHILE_RUNNING = {
    "ai.answer.claims.facts": "names of places in the sources, without repeats",
    "ai.gate.normalise": "a class of single characters",
    "ai.text.question_kind": "forms with how a name begins; the first 500 characters of a question are read",
    "ai.text.question_type": "the topic of a question, each word once, without nested repeats",
    "ledger.entry.leaf_form": "one leaf of a fixed form, without nested repeats over the same characters",
    "retrieval.fulltext.opensearch_schema": "names of indexes that we made",
    "retrieval.ingest.manifest": "an operator's manifest, which is no input of others",
    "retrieval.ingest.records.rows": "an operator's manifest, which is no input of others",
    "retrieval.ingest.parsing.structure": "an operator's manifest, which is no input of others",
    "retrieval.ingest.parsing.table_rows": "one class of characters",
    "retrieval.ingest.records.totals": "words for kinds of places, without nested repeats; a longer label than 80 characters is none",
}
"""Modules that put patterns together while they run, and why these are not pumped."""


def main() -> int:
    """Search, tell, and judge."""
    options = _options()
    ends = time.monotonic() + options.seconds
    finds = [] if options.only else list(_patterns())
    tried = 0
    stages = [stage for stage in STAGES if options.only in (None, stage.name)]
    random = Random(options.seed)
    told = set()
    while time.monotonic() < ends and stages:
        for stage in stages:
            made = growing(stage, random)
            found = growth(stage.run, made, stage.chars // STEPS[-1])
            tried += 1
            if not found.is_linear and stage.name not in told:
                told.add(stage.name)
                finds.append(_told(f"stage {stage.name}", made, found))
                print(finds[-1], flush=True)
    print(f"{tried} inputs for {len(stages)} stages, seed {options.seed}: {len(finds)} finds")
    for find in finds:
        print(find)
    return 1 if finds else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.slowest", description=__doc__)
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("EXHIBIT_SLOWEST_S", "60")))
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--only", choices=[stage.name for stage in STAGES])
    return parser.parse_args()


def _patterns() -> Iterator[str]:
    """Finds among the regular expressions; one that cannot be pumped and is not accounted for is a find."""
    number = 0
    seen: set[tuple[str, int, tuple[str, ...]]] = set()
    for expression in expressions():
        number += 1
        if expression.pattern is None:
            if expression.module not in MADE_WHILE_RUNNING:
                yield f"{expression.module}:{expression.line} puts a pattern together: {expression.source}"
            continue
        key = (str(expression.pattern.pattern), expression.pattern.flags, expression.uses)
        if key not in seen:
            seen.add(key)
            yield from _pumped(expression)
    print(f"{number} regular expressions, {len(seen)} of them pumped")


def _pumped(expression: Found) -> Iterator[str]:
    pattern = expression.pattern
    assert pattern is not None
    ends = time.monotonic() + PATTERN_S
    for pump in pumps(pattern):
        for use in expression.uses:

            def run(text: str, use: str = use) -> object:
                if use == "finditer":
                    return sum(1 for _ in pattern.finditer(text))
                return getattr(pattern, use)(text)

            found = growth(run, pump, PATTERN_CHARS)
            if not found.is_linear:
                yield _told(f"{expression.module}:{expression.line} {use} {expression.source!r}", pump, found)
                return
        if time.monotonic() > ends:
            return


def _told(where: str, made: object, found: Growth) -> str:
    took = "given up" if found.hung else ", ".join(f"{1000 * each:.1f}" for each in found.seconds) + " ms"
    return f"SLOW {where}\n     {made}\n     at {found.lengths} characters: {took}"


if __name__ == "__main__":
    sys.exit(main())
