"""`exhibit policy publish`, `rollback`: let a bundle decide in this home, after it has passed every gate."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.console import bold, configuration, emit, kept_home, note
from api.cli.options import AsJson, Home
from api.cli.policy.candidate import chosen_folder
from api.problems import EXIT_FAILED

if TYPE_CHECKING:
    from api.audit.policy.release import Change
    from api.home.configuration import Configuration
    from policy.bundles.archive import BundleArchive
    from policy.bundles.bundle import Bundle

INPUTS = 600
PUBLISH = "policy.publish"
KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key-file", help="File with the API key of the person who publishes, where a second person is needed."
    ),
]
Why = Annotated[str, typer.Option("--why", help="Why, in words; kept on the ledger.")]


def publish(
    *,
    folder: Annotated[Path, typer.Argument(help="Folder of the bundle: rego, wasm, vectors.")],
    inputs: Annotated[
        int, typer.Option("--inputs", min=3, max=100_000, help="Inputs compared between engines.")
    ] = INPUTS,
    accept: Annotated[
        list[str] | None,
        typer.Option("--accept", help="Name of a widening that is wanted, as a first try lists it; may be repeated."),
    ] = None,
    why: Why = "",
    key_file: KeyFile = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Pass the gates and change nothing.")] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Try the bundle on every gate; if it passes all, archive it by its digest and let it decide. Whatever it permits
    beyond the bundle in force must be accepted by name. The change is put on the ledger first; a running server takes
    it up within a second. Exit code 1: a gate is closed, and nothing has changed. What the data in force ask a second
    person for is only proposed: somebody else with `policy.publish` lets it decide by `exhibit policy accept`."""
    from api.audit.policy.release import Change, may_publish
    from api.audit.policy.trying import try_and_publish
    from api.home.backends import backends_of
    from api.wiring import open_bundle

    configured = configuration(home)
    backend = backends_of(configured).policy
    may_publish(backend)
    chosen_folder(folder, home)
    accepted = frozenset(accept or ())
    by = _who(configured, key_file, open_bundle(backend))
    tried = asyncio.run(
        try_and_publish(
            folder,
            accepted=accepted,
            change=Change(by, why),
            configuration=configured,
            inputs=inputs,
            tell=note,
            dry_run=dry_run,
        )
    )
    trial, proposed = tried.trial, tried.release is not None and tried.release.proposed
    document = {
        "bundle_digest": None if tried.bundle is None else tried.bundle.digest,
        "replaced": tried.active.digest,
        "published": tried.release is not None and not proposed,
        "proposed": proposed,
        "widenings": [asdict(each) | {"accepted": each.name in accepted} for each in trial.widenings],
        "gates": [{"name": each.name, "passed": each.passed, "problems": list(each.problems)} for each in trial.gates],
    }
    emit(document, as_json=as_json, render=lambda: _text(document))
    if not trial.passed:
        raise typer.Exit(EXIT_FAILED)


def accept(
    *,
    digest: Annotated[str, typer.Argument(help="Digest of the proposed bundle, or its beginning.")],
    key_file: Annotated[Path, typer.Option("--key-file", help="File with the API key of the second person.")],
    accept: Annotated[
        list[str] | None, typer.Option("--accept", help="Name of a widening that needs a second person; each must be.")
    ] = None,
    why: Why = "",
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Let a bundle decide that somebody else has proposed by `exhibit policy publish`, because it opens what the data
    in force ask a second person for. Who proposed it may not accept it."""
    from api.audit.policy.release import Change, may_publish
    from api.home.backends import backends_of
    from api.wiring import open_bundle, releases_of

    configured = kept_home(home)
    backend = backends_of(configured).policy
    may_publish(backend)
    active = open_bundle(backend)
    wanted = releases_of(backend).archive.resolve(digest)
    change = Change(_who(configured, key_file, active), why)
    asyncio.run(_accept(configured, wanted, accept or (), change))
    document = {"bundle_digest": wanted, "replaced": active.digest}
    emit(document, as_json=as_json, render=lambda: f"{bold(wanted)} decides, in place of {active.digest}")


def rollback(
    *,
    digest: Annotated[
        str | None, typer.Argument(help="Digest of an archived bundle, or its beginning; default: the one before.")
    ] = None,
    why: Why = "",
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Let the bundle decide again that was in force before. It must still be whole and pass the canary; a running
    server takes it up within a second."""
    from api.audit.policy.release import may_publish
    from api.home.backends import backends_of
    from api.wiring import active_digest, releases_of

    configured = configuration(home)
    backend = backends_of(configured).policy
    may_publish(backend)
    releases, active = releases_of(backend), active_digest(backend)
    wanted = releases.before() if digest is None else _archived(releases.archive, digest)
    asyncio.run(_roll_back(kept_home(home), wanted, active, why))
    document = {"bundle_digest": wanted, "replaced": active}
    emit(document, as_json=as_json, render=lambda: f"{bold(wanted)} decides, in place of {active}")


def _archived(archive: BundleArchive, prefix: str) -> str:
    """The digest of an archived bundle, or of the shipped one, that begins so. Raises BundleNotFound."""
    from policy.bundles.bundle import load_bundle

    shipped = load_bundle().digest
    return shipped if shipped == prefix else archive.resolve(prefix)


async def _roll_back(configured: Configuration, wanted: str, active: str, why: str) -> None:
    from api.audit.policy.release import NOBODY_NAMED, Change, roll_back
    from api.wiring.ledger.log import log_to_write

    async with log_to_write(configured) as ledger:
        change = Change(NOBODY_NAMED, why)
        await roll_back(wanted, active=active, change=change, configuration=configured, ledger=ledger)


async def _accept(configured: Configuration, wanted: str, accepted: Sequence[str], change: Change) -> None:
    from api.audit.policy.release import accept as accept_proposal
    from api.wiring.ledger.log import log_to_write

    async with log_to_write(configured) as ledger:
        await accept_proposal(wanted, accepted=accepted, change=change, configuration=configured, ledger=ledger)


def _who(configured: Configuration, key_file: Path | None, active: Bundle) -> str:
    """The subject whose key is in a file, which must have `policy.publish`; without one, the command line."""
    from api.audit.policy.release import NOBODY_NAMED
    from api.errors import ActionForbidden
    from api.home.identity.principal import subject_of_key
    from api.wiring import key_store

    if key_file is None:
        return NOBODY_NAMED
    try:
        token = key_file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise typer.BadParameter(f"{key_file} cannot be read", param_hint="--key-file") from exc
    subject = subject_of_key(key_store(configured).authenticate(token), active.data)
    if PUBLISH not in subject.capabilities:
        raise ActionForbidden(f"This needs the capability {PUBLISH}.")
    return subject.id


def _text(document: dict[str, Any]) -> str:
    closed = [each for each in document["gates"] if not each["passed"]]
    lines = [f"CLOSED  {each['name']}\n" + "\n".join(f"        {p}" for p in each["problems"]) for each in closed]
    if closed:
        return "\n".join([*lines, f"not published: {document['replaced']} goes on deciding"])
    if document["proposed"]:
        return (
            f"{bold(str(document['bundle_digest']))} is proposed; a second person lets it decide: exhibit policy accept"
        )
    done = "decides" if document["published"] else "would be published"
    return f"{bold(str(document['bundle_digest']))} {done}, in place of {document['replaced']}"
