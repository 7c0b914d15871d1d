"""Inputs that grow: words run together, repeated with a separator, nested, encoded, and what ends or begins them."""

from __future__ import annotations

import base64
import codecs
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from tests.slowest.stages import MARKS, Stage

SEPARATORS = ("", "", " ", "  ", ". ", ", ", "\n", '"', "-", "\t", "; ", "|")
PIECES = (
    "a",
    "A",
    "1",
    "0",
    " ",
    "\n",
    "\t",
    "é",
    "ж",
    "漢",
    "\u200b",
    "'",
    "&",
    "\\",
    "{",
    "}",
    "<",
    ">",
    "=",
    "/",
    ".",
    *MARKS,
)
DISGUISES: dict[str, Callable[[str], str]] = {
    "": str,
    "base64": lambda text: base64.b64encode(text.encode("utf-8", "replace")).decode(),
    "hexadecimal": lambda text: text.encode("utf-8", "replace").hex(),
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "backwards": lambda text: text[::-1],
    "spaced": " ".join,
    "upper": str.upper,
}


@dataclass(frozen=True, slots=True)
class Growing:
    """`before`, then `unit` as often as it fits, then `closing` as often, then `after`, in a disguise."""

    before: str
    unit: str
    closing: str
    after: str
    disguise: str

    def __call__(self, chars: int) -> str:
        room = max(1, (chars - len(self.before) - len(self.after)) // max(1, len(self.unit) + len(self.closing)))
        text = self.before + self.unit * room + self.closing * room + self.after
        return DISGUISES[self.disguise](text)


def growing(stage: Stage, random: Random) -> Growing:
    """One input for a stage, drawn at random."""

    def some(most: int) -> str:
        words = [
            random.choice(stage.words if random.random() < 0.7 else PIECES) for _ in range(random.randint(1, most))
        ]
        return random.choice(SEPARATORS).join(words)

    unit = some(random.choice((1, 1, 2, 3, 6))) + random.choice(SEPARATORS)
    return Growing(
        before=some(2) if random.random() < 0.4 else "",
        unit=unit or "a",
        closing=random.choice((")", "]", "}", "</div>", '"', some(1))) if random.random() < 0.25 else "",
        after=some(2) if random.random() < 0.5 else "",
        disguise=random.choice(tuple(DISGUISES)) if random.random() < 0.3 else "",
    )
