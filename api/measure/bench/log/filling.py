"""The workload of the ledger's benchmark."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

from api.wiring import new_id
from ledger.ledger import Ledger
from ledger.model import PART_NAMES, Kind

CALLERS = 64
ORIGIN = "exhibit.bench/log"
# Bytes of the parts of an answered question of the sample corpus, as its demonstration records them.
PART_BYTES = {
    "candidates": 900, "bundle": 7_000, "calls": 3_500, "policy.evidence": 4_100, "policy.answer": 4_700,
    "answer": 15_000, "prov": 8_800, "replay": 6_700,
}  # fmt: skip
SOURCES, SOURCE_BYTES = 6, 800
_WORDS = [
    f"{stem}{ending}" for stem in ("county", "river", "survey", "treaty", "census") for ending in "abcdefghijklmnop"
]

Contents = tuple[dict[str, bytes], list[bytes]]


def contents_of(seed: int) -> Contents:
    """Parts and sources of an outcome: JSON-like words, as compressible as the real ones."""
    chance = random.Random(seed)  # noqa: S311 - a benchmark's filling

    def filled(size: int) -> bytes:
        words = chance.choices(_WORDS, k=size // 8)
        return ('{"' + '","'.join(words) + f'":{chance.random()}}}').encode()[:size]

    return {name: filled(size) for name, size in PART_BYTES.items()}, [filled(SOURCE_BYTES) for _ in range(SOURCES)]


async def by_callers(count: int, work: Callable[[int], Awaitable[None]]) -> None:
    """Carry out the work of each number, by as many callers at a time as a batch takes."""
    numbers = iter(range(count))

    async def caller() -> None:
        for number in numbers:
            await work(number)

    await asyncio.gather(*(caller() for _ in range(CALLERS)))


async def fill(ledger: Ledger, count: int) -> None:
    """So many small entries."""
    await by_callers(count, lambda _: small(ledger))


async def small(ledger: Ledger) -> None:
    """One entry with one part of two bytes."""
    detail = {PART_NAMES[Kind.CONFIG][0]: b"{}"}
    await ledger.record(Kind.CONFIG, tenant="bench", request_id=new_id(), parts=detail)
