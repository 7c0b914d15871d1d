"""`exhibit policy shadow`: a candidate decides beside the active bundle, to no effect."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.console import bold, configuration, emit, table
from api.cli.options import AsJson, Home
from api.cli.policy.candidate import chosen_folder, wrong_use

if TYPE_CHECKING:
    from api.home.backends import PolicyBackend


def shadow(
    *,
    candidate: Annotated[
        str | None, typer.Argument(help="Folder of a bundle, or the digest of an archived one; none: show the report.")
    ] = None,
    stop: Annotated[bool, typer.Option("--stop", help="End the shadow.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=0, max=10_000, help="Differences shown.")] = 20,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Put every decision to a second bundle as well, and record where it decides otherwise. Nothing of it is enforced.
    Without an argument: what has been found so far."""
    from api.errors import RequestRejected
    from api.home.backends import backends_of
    from api.wiring import clock_ms, releases_of

    backend = backends_of(configuration(home)).policy
    releases = releases_of(backend)
    if stop:
        if candidate is not None:
            raise RequestRejected("--stop takes no bundle")
        running = str(releases.state().shadow)
        releases.unshadow(at_ms=clock_ms())
    elif candidate is None:
        running = releases.state().shadow or ""
    else:
        running = _filed(backend, candidate)
        releases.shadow(running, at_ms=clock_ms())
    document = report(backend, running, limit=limit) | {"running": bool(running) and not stop}
    emit(document, as_json=as_json, render=lambda: _text(document))


def report(backend: PolicyBackend, digest: str, *, limit: int) -> dict[str, Any]:
    """Counts by entry point, and the latest differences."""
    from api.wiring import shadow_log

    return {"shadow": digest or None} | shadow_log(backend).report(digest, limit=limit)


def _filed(backend: PolicyBackend, candidate: str) -> str:
    """The digest of a candidate that is archived, and can run: a shadow must not stop the home from opening."""
    from api.wiring import open_embedded, releases_of

    archive = releases_of(backend).archive
    folder = Path(candidate)
    with wrong_use():
        digest = archive.put(chosen_folder(folder, None)).digest if folder.is_dir() else archive.resolve(candidate)

        async def try_it() -> None:
            engine = await open_embedded(archive.load(digest))
            await engine.aclose()

        asyncio.run(try_it())
    return digest


def _text(document: dict[str, Any]) -> str:
    if document["shadow"] is None:
        return "no bundle runs in the shadow"
    lines = [
        f"{bold(document['shadow'])} {'decides in the shadow' if document['running'] else 'decided in the shadow'}"
    ]
    counts = document["counts"]
    if counts:
        rows = ([name, c["compared"], c["differing"], c["skipped"]] for name, c in sorted(counts.items()))
        lines += ["", table(["entry point", "compared", "differing", "skipped"], rows)]
    for each in document["differences"]:
        effect = each["effect"]
        lines.append(f"\n{each['entrypoint']}  {effect['active']} -> {effect['shadow']}  {each['input']}")
        for side, sign in (("only_active", "-"), ("only_shadow", "+")):
            lines += [f"  {sign} {kind} {word}" for kind, words in each[side].items() for word in words]
    return "\n".join(lines)
