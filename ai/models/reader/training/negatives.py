"""Questions that a passage seems to answer and does not: other passages close to the question, and questions in which
a name or a number is another."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ai.models.reader.training.examples import Example

_NAME = re.compile(r"(?<=[a-z,] )(?:[A-Z][\w'-]+(?: [A-Z][\w'-]+)*)|\b\d{4}\b")
_CLOSE = 6


def close_passages(
    examples: Sequence[Example],
    vectors: Callable[[Sequence[str]], NDArray[np.float32]],
    generator: random.Random,
    *,
    elsewhere: float,
) -> list[Example]:
    """For each question that is answered, a passage without its answer, out of those that are closest to it in
    meaning; of its own document, or, for a share, of any."""
    asked = [e for e in examples if e.answers and e.source.startswith(("squad", "selqa"))]
    passages = sorted({(e.title, e.sentences) for e in asked})
    said = [" ".join(sentences) for _, sentences in passages]
    titles = np.array([title for title, _ in passages])
    close = vectors([e.question for e in asked]) @ vectors([text[:600] for text in said]).T
    found = []
    for row, each in zip(close, asked, strict=True):
        spans = [each.sentences[s][a:b] for s, a, b in each.spans]
        own = titles == each.title if generator.random() >= elsewhere else np.ones(len(passages), bool)
        ranked = np.argsort(np.where(own, -row, 9.0))[: int(own.sum())]
        fitting = [
            at for at in ranked[:20].tolist()
            if passages[at][1] != each.sentences and not any(span in said[at] for span in spans)
        ]  # fmt: skip
        if fitting:
            title, sentences = passages[fitting[min(len(fitting) - 1, int(generator.random() ** 2 * _CLOSE))]]
            found.append(Example(each.question, title, sentences, frozenset(), (), each.source + "-close"))
    return found


def other_names(examples: Sequence[Example], generator: random.Random, *, share: float) -> list[Example]:
    """Questions that are answered, with one name or year of another question in the place of theirs that the passage
    does not hold: not answered."""
    asked = [e for e in examples if e.answers and e.source.startswith("squad")]
    names: dict[bool, list[str]] = {True: [], False: []}
    for each in asked:
        for match in _NAME.finditer(each.question):
            names[match[0].isdigit()].append(match[0])
    found = []
    for each in asked:
        matches = list(_NAME.finditer(each.question))
        if not matches or generator.random() >= share:
            continue
        match = generator.choice(matches)
        other = generator.choice(names[match[0].isdigit()])
        if other.split()[0] not in " ".join((each.title, *each.sentences)):
            question = each.question[: match.start()] + other + each.question[match.end() :]
            found.append(
                replace(each, question=question, answers=frozenset(), spans=(), source=each.source + "-other-name")
            )
    return found
