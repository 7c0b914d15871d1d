"""`exhibit policy publish`, `rollback`: let a bundle decide in this home, after it has passed every gate."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.console import bold, configuration, emit, note
from api.cli.options import AsJson, Home
from api.cli.policy.candidate import chosen_folder
from api.problems import EXIT_FAILED

if TYPE_CHECKING:
    from api.audit.policy.release import Candidacy, Change, Release
    from api.home.configuration import Configuration
    from policy.authoring.checking import CheckResult
    from policy.authoring.widening import Widening
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
    from api.audit.policy.release import Candidacy, Change, may_publish
    from api.home.backends import backends_of
    from api.wiring import open_bundle
    from policy.authoring.checking import check_module
    from policy.bundles.bundle import load_bundle

    configured = configuration(home)
    backend = backends_of(configured).policy
    may_publish(backend)
    chosen_folder(folder, home)
    active, whole = open_bundle(backend), check_module(folder)
    bundle = load_bundle(folder) if whole.passed else None
    accepted = frozenset(accept or ())
    trial, candidacy, proposed = Trial([whole]), None, False
    by = _who(configured, key_file, active)
    if bundle is not None:
        candidacy = Candidacy.of(bundle, folder, backend)
        trial = asyncio.run(_try(candidacy, accepted, inputs))
    passed = trial.gates
    good = all(each.passed for each in passed)
    if candidacy is not None and good and not dry_run:
        proposed = asyncio.run(_publish(configured, candidacy, trial, Change(by, why))).proposed
    document = {
        "bundle_digest": None if bundle is None else bundle.digest,
        "replaced": active.digest,
        "published": good and not dry_run and not proposed,
        "proposed": proposed,
        "widenings": [asdict(each) | {"accepted": each.name in accepted} for each in trial.widenings],
        "gates": [{"name": each.name, "passed": each.passed, "problems": list(each.problems)} for each in passed],
    }
    emit(document, as_json=as_json, render=lambda: _text(document))
    if not good:
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

    configured = configuration(home)
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
    asyncio.run(_roll_back(configured, wanted, active, why))
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


async def _publish(configured: Configuration, candidacy: Candidacy, trial: Trial, change: Change) -> Release:
    from api.audit.policy.release import publish
    from api.wiring.ledger.log import log_to_write

    async with log_to_write(configured) as ledger:
        return await publish(
            candidacy,
            gates_passed=[each.name for each in trial.gates],
            widened=[each.name for each in trial.widenings],
            change=change,
            configuration=configured,
            ledger=ledger,
        )


@dataclass(frozen=True, slots=True)
class Trial:
    """The gates that were tried, and everything that the candidate permits beyond the bundle in force."""

    gates: list[CheckResult]
    widenings: tuple[Widening, ...] = ()


async def _try(candidacy: Candidacy, accepted: frozenset[str], inputs: int) -> Trial:
    from api.audit.policy.release import gates, trial_engines, widenings_of

    passed = []
    async with trial_engines() as opened:
        async for each in gates(candidacy, opened, inputs=inputs, tell=note):
            note(f"{'ok    ' if each.passed else 'CLOSED'}  {each.name}")
            passed.append(each)
        if not all(each.passed for each in passed):
            return Trial(passed)
        found = await widenings_of(candidacy, opened)
    unknown = accepted - {each.name for each in found}
    if unknown:
        raise typer.BadParameter(f"there is no widening named {sorted(unknown)[0]!r}", param_hint="--accept")
    return Trial([*passed, _gate_of(found, accepted)], found)


def _gate_of(found: Sequence[Widening], accepted: frozenset[str]) -> CheckResult:
    from policy.authoring.checking import CheckResult

    open_ones = [each for each in found if each.name not in accepted]
    lines = tuple(f'--accept "{each.name}": {each.detail}' for each in open_ones)
    result = CheckResult(f"{len(found)} widenings, each accepted by name", lines)
    note(f"{'ok    ' if result.passed else 'CLOSED'}  {result.name}")
    return result


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
