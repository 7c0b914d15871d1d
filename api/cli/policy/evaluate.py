"""`exhibit policy eval`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.console import bold, emit
from api.cli.options import AsJson, Home
from api.cli.policy.candidate import Candidate, chosen_bundle
from api.problems import EXIT_REFUSED

if TYPE_CHECKING:
    from policy.bundles.bundle import Bundle


def evaluate(
    *,
    point: Annotated[str, typer.Argument(help="query, evidence or answer.")],
    input_file: Annotated[Path, typer.Argument(metavar="INPUT", help="File with the input; - is standard input.")],
    policy: Candidate = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Put one input to one point and show the checked decision. Exit code 6: denied. Nothing is recorded."""
    from api.errors import RequestRejected

    bundle, _ = chosen_bundle(policy, home)
    try:
        text = sys.stdin.buffer.read() if str(input_file) == "-" else input_file.read_bytes()
    except OSError as exc:
        raise RequestRejected(f"{input_file} cannot be read: {exc.strerror}") from None
    document = asyncio.run(_run(bundle, point, text))
    emit(document, as_json=as_json, render=lambda: _text(document))
    if document["effect"] == "deny":
        raise typer.Exit(EXIT_REFUSED)


async def _run(bundle: Bundle, point: str, text: bytes) -> dict[str, Any]:
    from api.audit.policy.trial import point_named, tried
    from api.wiring import open_embedded
    from policy.canonical import parse_plain
    from policy.errors import InputRejected

    try:
        asked = parse_plain(text)
    except ValueError as exc:
        raise InputRejected(f"the input is not plain JSON: {exc}") from None
    engine = await open_embedded(bundle)
    try:
        return await tried(engine, point_named(point), asked, rules=bundle.rules)
    finally:
        await engine.aclose()


def _text(document: dict[str, Any]) -> str:
    lines = [bold(document["effect"])]
    for each in sorted(document["reasons"], key=lambda each: str(each["rule"])):
        lines.append(f"  {each['rule']} {each['code']} {_about(each)}  {each['text']}")
    for each in document["obligations"]:
        lines.append(f"  {each['rule']} {each['op']} {_about(each)} {each['params'] or ''}".rstrip())
    if document["admit"]:
        lines.append(f"  admitted: {', '.join(document['admit'])}")
    return "\n".join(lines)


def _about(each: dict[str, Any]) -> str:
    return f"{each['target']['kind']} {each['target']['ref']}".strip()
