"""`exhibit policy backtest`."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.console import bold, configuration, emit, note
from api.cli.options import AsJson, Home
from api.cli.policy.candidate import chosen_bundle
from api.problems import EXIT_FAILED, EXIT_VERIFICATION

if TYPE_CHECKING:
    from ai.backtest.difference import Difference, MovedItem
    from ai.backtest.report import Backtest

_SPAN = re.compile(r"(\d{1,5})([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_SHOWN = 10


def backtest(
    *,
    policy: Annotated[Path, typer.Option("--policy", help="Folder of the bundle to try.")],
    since: Annotated[
        str | None, typer.Option("--since", help="Only requests since then: a date, a time, or 12h, 7d.")
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=1_000_000, help="Maximum number of requests, newest first.")
    ] = 10_000,
    check: Annotated[bool, typer.Option("--check", help="Exit code 1 where anything changes.")] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Decide the recorded requests again with another bundle. Exit code 7: the recorded decisions are not
    reproduced by the bundles that made them, so that nothing can be said."""
    from api.audit.policy.backtesting import backtest_document, run_backtest

    started = time.perf_counter()
    tried, _ = chosen_bundle(policy, home)
    found = asyncio.run(
        run_backtest(configuration(home), tried, since_ms=_since_ms(since, datetime.now(UTC)), limit=limit)
    )
    note(f"{found.requests:,} requests in {time.perf_counter() - started:.1f} s")
    emit(backtest_document(found, tried.digest), as_json=as_json, render=lambda: "\n".join(_lines(found)))
    if found.refused:
        raise typer.Exit(EXIT_VERIFICATION)
    if check and found.differences:
        raise typer.Exit(EXIT_FAILED)


def _since_ms(text: str | None, now: datetime) -> int:
    if text is None:
        return 0
    if span := _SPAN.fullmatch(text):
        return int((now.timestamp() - int(span[1]) * _SECONDS[span[2]]) * 1_000)
    try:
        given = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter("--since is a date or time such as 2026-11-01, or a span such as 12h or 7d") from None
    return int((given if given.tzinfo else given.replace(tzinfo=UTC)).timestamp() * 1_000)


def _lines(found: Backtest) -> Iterator[str]:
    from ai.backtest.difference import UNKNOWN
    from ai.backtest.report import SKIPPED
    from ai.replay.asked_again import NOT_KNOWN

    if found.refused:
        yield bold(f"REFUSED: {len(found.unreproduced)} recorded decisions are not reproduced by their own bundle")
        yield from (f"  {u.entry_id} {u.point}, bundle {u.bundle[:19]}: {u.why}" for u in found.unreproduced[:_SHOWN])
        return
    yield f"{found.reproduced:,} recorded decisions of {found.requests:,} requests reproduced"
    for each in found.differences:
        yield from _entry(each)
    if not found.differences:
        yield "nothing changes"
    if found.silent_rules:
        yield f"rules never hit: {', '.join(found.silent_rules)}"
    why = {**SKIPPED, **UNKNOWN, **NOT_KNOWN}
    for code, entries in {**found.skipped, **found.unknown}.items():
        yield f"not replayable, {len(entries)} requests: {why[code]}: {_some(entries)}"


def _entry(each: Difference) -> Iterator[str]:
    becomes = f", {each.outcome} becomes {each.becomes}" if each.becomes else ""
    yield bold(f"{each.entry_id} {_time(each.t_ms)}{becomes}")
    for flip in each.flips:
        yield f"  {'DENY to ALLOW' if flip.to_allow else 'ALLOW to DENY'} at {flip.point}: {', '.join(flip.codes)}"
    for word, classes in (("opened", each.opened), ("closed", each.closed)):
        yield from (f"  class {word}: {name}" for name in classes)
    for word, moved in (("gained", each.gained), ("lost", each.lost), ("in another form", each.reobliged)):
        yield from (f"  {word} {_moved(item)}" for item in moved)
    if each.answers is not None:
        yield f"  the answer is then: {each.answers or '(none)'}"
    for lost in each.lost_sentences:
        said = lost.text or "not released"
        yield f"  sentence {lost.i} loses its last citation ({', '.join(lost.citations)}): {said}"
    for word, numbers in (("no longer released", each.fallen), ("released now", each.risen)):
        if numbers:
            yield f"  sentences {word}: {', '.join(map(str, numbers))}"


def _moved(item: MovedItem) -> str:
    return " ".join([item.id, *(f"[{rule}]" for rule in item.rules), *(f"under {duty}" for duty in item.obligations)])


def _some(entries: tuple[str, ...]) -> str:
    more = f" and {len(entries) - _SHOWN} more" if len(entries) > _SHOWN else ""
    return ", ".join(entries[:_SHOWN]) + more


def _time(t_ms: int) -> str:
    return datetime.fromtimestamp(t_ms / 1_000, UTC).isoformat(timespec="seconds")
