"""How the time of a stage grows with its input: the same input at one, two, four and eight times its length."""

from __future__ import annotations

import gc
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType

STEPS = (1, 2, 4, 8)
FLOOR_S = 0.003  # less than this at the greatest length is too little to tell its growth
LINEAR = 2.5  # times as much for each character at eight times the length; a square takes eight times
STILL = 1.3  # the same over the last doubling alone, where a square takes two: a step up and no more is no growth
TRIES = (1, 3, 9)  # the least of so many runs counts; a find is looked at again, with more runs, before it is told
CERTAIN = 5.0  # but not where time per character grew so much in a run that can be measured well
CERTAIN_S = 0.05
GIVE_UP_S = 5.0


class TooLong(Exception):
    """One run did not come back within the limit."""


@dataclass(frozen=True, slots=True)
class Growth:
    """Seconds at each of the lengths, least of several runs; `hung` where a run was given up."""

    lengths: tuple[int, ...]
    seconds: tuple[float, ...]
    hung: bool = False

    @property
    def factor(self) -> float:
        """Time per character at the greatest length over that at the smallest."""
        if self.hung:
            return float("inf")
        return self._per_char[-1] / self._per_char[0]

    @property
    def _per_char(self) -> list[float]:
        return [took / length for took, length in zip(self.seconds, self.lengths, strict=True)]

    @property
    def is_linear(self) -> bool:
        """Whether time per character stays what it is; what is too short to be measured is not told to grow."""
        if self.hung or self.seconds[-1] < FLOOR_S:
            return not self.hung
        return self.factor <= LINEAR or self._per_char[-1] <= STILL * self._per_char[-2]


def growth(run: Callable[[str], object], make: Callable[[int], str], chars: int) -> Growth:
    """The growth of `run` over `make(length)`; a suspect is measured again with more runs."""
    found = Growth((), (), hung=True)
    for tries in TRIES:
        found = _growth(run, make, chars, tries=tries)
        certain = tries > 1 and found.factor >= CERTAIN and found.seconds[-1] >= CERTAIN_S
        if found.is_linear or found.hung or certain:
            break
    return found


def _growth(run: Callable[[str], object], make: Callable[[int], str], chars: int, tries: int) -> Growth:
    texts = [make(chars * step) for step in STEPS]
    try:
        seconds = tuple(min(_seconds(run, text) for _ in range(tries)) for text in texts)
    except TooLong:
        return Growth(tuple(map(len, texts)), (), hung=True)
    return Growth(tuple(max(1, len(text)) for text in texts), seconds)


def _seconds(run: Callable[[str], object], text: str) -> float:
    """CPU time of one run, without the collection of garbage that other runs left; refusing the text is as good an end
    as any."""

    def give_up(_: int, __: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, GIVE_UP_S)
    gc.disable()
    began = time.process_time()
    try:
        run(text)
    except TooLong:
        raise
    except Exception:
        pass
    finally:
        took = time.process_time() - began
        gc.enable()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return max(took, 1e-9)
