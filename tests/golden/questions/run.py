"""Runs the question bank, random questions or changed questions against the product as it is.

    python -m tests.golden.questions.run                            the bank over the sample corpus
    python -m tests.golden.questions.run --corpus skerrow           the bank over the corpus of another domain
    python -m tests.golden.questions.run --generate 2000 --seed 7   questions that cross the constructs at random
    python -m tests.golden.questions.run --changes                  every answered question with one word changed

Prints right, rightly abstained, wrongly abstained, partial and false by group, and lists the false ones.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from api import wiring
from tests.golden.questions.asking import Result, listed, results, table
from tests.golden.questions.bank import Corpus
from tests.golden.questions.generate import generated
from tests.golden.questions.judge import Verdict
from tests.golden.questions.metamorphic import changes, unmoved
from tests.harness import ingest, opened

CORPORA = ("kansas", "skerrow")


def main(arguments: Sequence[str] | None = None) -> int:
    """0 if no answer is false, else 1."""
    parser = argparse.ArgumentParser(
        prog="run.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", choices=CORPORA, default="kansas")
    parser.add_argument("--bank", action="store_true", help="the written questions (the default)")
    parser.add_argument("--group", help="only the file of that name")
    parser.add_argument("--generate", type=int, metavar="N", help="N random questions instead of the bank")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--changes", action="store_true", help="change the questions that are answered")
    parser.add_argument("--show", nargs="*", choices=list(Verdict), default=["false"], help="verdicts to list")
    parser.add_argument("--home", type=Path, help="a home to keep between runs; it is filled if it does not exist")
    return asyncio.run(_run(parser.parse_args(arguments)))


async def _run(chosen: argparse.Namespace) -> int:
    corpus = Corpus(chosen.corpus)
    if chosen.generate:
        questions = list(generated(corpus.name, corpus.world, chosen.seed, chosen.generate))
    else:
        questions = [q for q in corpus.questions if chosen.group in {None, q.group}]
    with tempfile.TemporaryDirectory() as scratch:
        home = chosen.home or Path(scratch) / "home"
        if not home.exists():
            await ingest(home, manifest=corpus.manifest)
        async with opened(home) as system:
            found = await results(system, questions, corpus.world)
            same = await _changed(system, found, corpus) if chosen.changes else 0
    print(table(found))
    print(listed(found, *chosen.show))
    return int(same > 0 or any(r.judgement.verdict is Verdict.FALSE for r in found))


async def _changed(system: wiring.System, found: Sequence[Result], corpus: Corpus) -> int:
    """Asks every right answer's question again with one change, and prints where the answer stayed."""
    right = [r for r in found if r.judgement.verdict is Verdict.RIGHT and r.body["outcome"] == "ANSWER"]
    faults = [fault for r in right for fault in await unmoved(system, r, corpus.world)]
    by_change = Counter(fault.changed.how for fault in faults)
    tried = Counter(c.how for r in right for c in changes(r, corpus.world))
    for how, number in tried.items():
        print(f"{how:15} asked {number:4}  unchanged {by_change[how]:4}")
    print(*faults, sep="\n")
    return len(faults)


if __name__ == "__main__":
    sys.exit(main())
