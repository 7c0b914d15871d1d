"""The reader as the extractive model holds it: loaded when prose is first read, in a worker thread, or not at all."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Protocol

from ai.errors import ReaderUnavailable

if TYPE_CHECKING:
    from ai.models.reader.reader import Reader
    from ai.models.reader.told import BorneOut, Reading, Told

CONFIRMED_AT_PERCENT = 170
"""Where words alone answer, the chance that confirms them is that of so much of the stated rate: what they find is an
answer more often than what they do not find (ADR 0116)."""


FALSE_CLAIMS_MILLI = 30
"""As many false claims in a thousand may pass for borne out (ADR 0102)."""


class SentenceReader(Protocol):
    """Reads passages for a question.

    `digest` pins the weights and the calibration. `read` is a function of its arguments and of what `digest` pins, and
    raises `ReaderUnavailable` where it cannot be run; then `lack` says why, until the process ends. `least_milli` is
    the chance from which a bundle is answered; `by_words` where words alone answer, which less confirms.
    """

    @property
    def digest(self) -> str: ...

    @property
    def lack(self) -> str: ...

    async def least_milli(self, *, by_words: bool) -> int: ...

    async def read(self, question: str, passages: Sequence[Told]) -> Reading: ...


class ClaimReader(Protocol):
    """Says how likely passages bear claims out. `bears_out` is a function of its arguments and of what `digest` pins,
    and raises `ReaderUnavailable` where it cannot be run; `least_claim_milli` is the chance from which a claim is borne
    out."""

    @property
    def digest(self) -> str: ...

    async def least_claim_milli(self) -> int: ...

    async def bears_out(self, claims: Sequence[tuple[str, Told]]) -> list[BorneOut]: ...


class LazyReader:
    """A `SentenceReader` and a `ClaimReader` over the shipped files, for stated rates in thousandths: of false answers,
    and of false claims."""

    def __init__(
        self,
        rate_milli: int,
        load: Callable[[], Reader] | None = None,
        *,
        false_claims_milli: int = FALSE_CLAIMS_MILLI,
    ) -> None:
        self._rate_milli, self._load = rate_milli, load or _shipped
        self._false_claims_milli = false_claims_milli
        self._reader: Reader | None = None
        self._lack = ""
        self._once = threading.Lock()

    @property
    def digest(self) -> str:
        """Of the shipped files and the rate; nothing is loaded for it."""
        from ai.models.reader.files import DIGESTS  # noqa: PLC0415  (only who drafts asks)

        named = " ".join((*sorted(DIGESTS.values()), str(self._rate_milli)))
        return "sha256:" + hashlib.sha256(named.encode()).hexdigest()

    @property
    def lack(self) -> str:
        """Why it cannot be run; empty where it can, or was not tried."""
        return self._lack

    async def least_milli(self, *, by_words: bool) -> int:
        """See `SentenceReader`."""
        reader = await asyncio.to_thread(self._opened)
        return reader.calibration.least(self._rate_milli * (CONFIRMED_AT_PERCENT if by_words else 100) // 100)

    async def read(self, question: str, passages: Sequence[Told]) -> Reading:
        """See `SentenceReader`."""
        return await asyncio.to_thread(lambda: self._opened().read(question, passages))

    async def least_claim_milli(self) -> int:
        """See `ClaimReader`."""
        reader = await asyncio.to_thread(self._opened)
        return reader.calibration.claim_least(self._false_claims_milli)

    async def bears_out(self, claims: Sequence[tuple[str, Told]]) -> list[BorneOut]:
        """See `ClaimReader`."""
        return await asyncio.to_thread(lambda: [self._opened().bears_out(claim, told) for claim, told in claims])

    async def closeness(self, question: str, texts: Sequence[str]) -> list[int]:
        """How close each text is to the question in meaning, in thousandths. Raises `ReaderUnavailable`."""
        return await asyncio.to_thread(lambda: self._opened().closeness(question, texts))

    def _opened(self) -> Reader:
        with self._once:
            if self._lack:
                raise ReaderUnavailable(self._lack)
            if self._reader is None:
                try:
                    self._reader = self._load()
                except ReaderUnavailable as exc:
                    self._lack = str(exc)
                    raise
            return self._reader


@cache
def _shipped() -> Reader:
    """One for the process: whatever number of homes are open in it, the files are the same."""
    from ai.models.reader.reader import Reader  # noqa: PLC0415  (heavy: only who reads prose loads it)

    return Reader.load()
