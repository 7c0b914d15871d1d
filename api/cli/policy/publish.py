"""`exhibit policy publish`, `rollback`: let a bundle decide in this home, after it has passed every gate."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.console import bold, configuration, emit, note
from api.cli.options import AsJson, Home
from api.cli.policy.candidate import chosen_folder
from api.cli.policy.engines import evaluators
from api.problems import EXIT_FAILED

if TYPE_CHECKING:
    from api.backends import PolicyBackend
    from policy.authoring.checking import Checked
    from policy.authoring.opa import Opa
    from policy.bundle import Bundle

INPUTS = 600


def publish(
    *,
    folder: Annotated[Path, typer.Argument(help="Folder of the bundle: rego, wasm, vectors.")],
    inputs: Annotated[
        int, typer.Option("--inputs", min=3, max=100_000, help="Inputs compared between engines.")
    ] = INPUTS,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Pass the gates and change nothing.")] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Try the bundle on every gate; if it passes all, archive it by its digest and let it decide. A running server
    takes it up within a second. Exit code 1: a gate is closed, and nothing has changed."""
    from api.backends import backends_of
    from api.wiring import open_bundle
    from policy.authoring.checking import check_module
    from policy.bundle import load_bundle

    backend = backends_of(configuration(home)).policy
    may_publish(backend)
    chosen_folder(folder, home)
    active, whole = open_bundle(backend), check_module(folder)
    bundle = load_bundle(folder) if whole.passed else None
    passed = [whole] if bundle is None else asyncio.run(_pass(bundle, folder, active, inputs))
    good = all(each.passed for each in passed)
    if bundle is not None and good and not dry_run:
        _activate(backend, folder, bundle, active.digest)
    document = {
        "bundle_digest": None if bundle is None else bundle.digest,
        "replaced": active.digest,
        "published": good and not dry_run,
        "gates": [{"name": each.name, "passed": each.passed, "problems": list(each.problems)} for each in passed],
    }
    emit(document, as_json=as_json, render=lambda: _text(document))
    if not good:
        raise typer.Exit(EXIT_FAILED)


def rollback(
    *,
    digest: Annotated[
        str | None, typer.Argument(help="Digest of an archived bundle, or its beginning; default: the one before.")
    ] = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Let the bundle decide again that was in force before. It must still be whole and pass the canary; a running
    server takes it up within a second."""
    from api.backends import backends_of
    from api.wiring import clock_ms, open_bundle, pass_canary, releases_of

    backend = backends_of(configuration(home)).policy
    may_publish(backend)
    releases, active = releases_of(backend), open_bundle(backend)
    wanted = releases.before() if digest is None else releases.archive.resolve(digest)
    asyncio.run(pass_canary(releases.archive.load(wanted)))
    if wanted != active.digest:
        releases.roll_back(wanted, replaced=active.digest, at_ms=clock_ms())
    document = {"bundle_digest": wanted, "replaced": active.digest}
    emit(document, as_json=as_json, render=lambda: f"{bold(wanted)} decides, in place of {active.digest}")


def may_publish(backend: PolicyBackend) -> None:
    """Raise RequestRejected where the settings fix the bundle, so that publishing would change nothing."""
    from api.errors import RequestRejected

    if backend.folder is not None:
        raise RequestRejected(f"the setting policy.bundle fixes the bundle to {backend.folder}; unset it to publish")


def _activate(backend: PolicyBackend, folder: Path, bundle: Bundle, replaced: str) -> None:
    """File both bundles, so that the new one can be taken up and the old one rolled back to. What decides is what was
    tried, to the module."""
    from api.wiring import bundle_folder, clock_ms, releases_of
    from policy.errors import BundleRejected

    releases = releases_of(backend)
    releases.archive.put(bundle_folder(backend))
    if releases.archive.put(folder, renew=True) != bundle:
        raise BundleRejected(f"{folder} was changed while it was tried")
    if bundle.digest != replaced:
        releases.publish(bundle.digest, replaced=replaced, at_ms=clock_ms())


async def _pass(bundle: Bundle, folder: Path, active: Bundle, inputs: int) -> list[Checked]:
    passed = []
    async for each in gates(bundle, folder, opa=_opa_for(bundle, active), inputs=inputs):
        note(f"{'ok    ' if each.passed else 'CLOSED'}  {each.name}")
        passed.append(each)
    return passed


def _opa_for(bundle: Bundle, active: Bundle) -> Opa | None:
    """The `opa` program. Raises OpaMissing where rules or module are new and so must be checked by it."""
    from policy.authoring.gates import same_rules
    from policy.authoring.opa import OpaMissing, find_opa
    from policy.bundle import load_bundle

    try:
        return find_opa()
    except OpaMissing as exc:
        if not any(same_rules(bundle, known) for known in (active, load_bundle())):
            raise
        note(f"only the data are new, so the gates that need `opa` are left out: {exc}")
        return None


async def gates(bundle: Bundle, folder: Path, *, opa: Opa | None, inputs: int) -> AsyncIterator[Checked]:
    """Every gate in order, in three steps; after a step with a closed gate the next one is not tried."""
    from api.wiring import open_embedded
    from policy.authoring.gates import expected_gates, required_gates, static_gates

    closed = False
    for each in await asyncio.to_thread(static_gates, folder, opa):
        closed = closed or not each.passed
        yield each
    if closed:
        return
    async with AsyncExitStack() as stack:
        embedded = await open_embedded(bundle)
        stack.push_async_callback(embedded.aclose)
        engines = await stack.enter_async_context(evaluators(bundle, folder, opa))
        async for each in expected_gates(folder, opa=opa, engines=engines):
            closed = closed or not each.passed
            yield each
        if not closed:
            async for each in required_gates(
                bundle, folder, opa=opa, embedded=embedded, engines=engines, inputs=inputs
            ):
                yield each


def _text(document: dict[str, Any]) -> str:
    closed = [each for each in document["gates"] if not each["passed"]]
    lines = [f"CLOSED  {each['name']}\n" + "\n".join(f"        {p}" for p in each["problems"]) for each in closed]
    if closed:
        return "\n".join([*lines, f"not published: {document['replaced']} goes on deciding"])
    done = "decides" if document["published"] else "would be published"
    return f"{bold(str(document['bundle_digest']))} {done}, in place of {document['replaced']}"
