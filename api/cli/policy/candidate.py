"""The bundle that a command is about: one that is being worked on, else the one in force."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.console import configuration

if TYPE_CHECKING:
    from policy.bundles.bundle import Bundle

Candidate = Annotated[Path | None, typer.Option("--policy", help="Folder of a bundle; default: the bundle in force.")]


def chosen_bundle(policy: Path | None, home: Path | None) -> tuple[Bundle, Path]:
    """The bundle and its folder. A module that does not fit its sources is built, which needs `opa`. A folder that
    holds no bundle, or a wrong one, is a wrong use."""
    from policy.authoring.candidate import open_candidate

    folder = chosen_folder(policy, home)
    if policy is None:
        return open_candidate(folder), folder
    with wrong_use():
        return open_candidate(folder), folder


def chosen_folder(policy: Path | None, home: Path | None) -> Path:
    """The folder alone: whether its parts fit together is for the caller to find out. One that holds no bundle is a
    wrong use."""
    from api.home.backends import backends_of
    from api.wiring import bundle_folder

    if policy is None:
        return bundle_folder(backends_of(configuration(home)).policy)
    if not (policy / "rego").is_dir():
        raise typer.BadParameter(f"{policy} holds no policy bundle: it has no rego folder")
    return policy


@contextmanager
def wrong_use() -> Iterator[None]:
    """Around work in a folder that was named: a fault of the bundle there, or of writing it, is reported as the
    caller's, not as one of the policy in force."""
    from api.errors import RequestRejected
    from policy.errors import BundleRejected

    try:
        yield
    except BundleRejected as exc:
        raise RequestRejected(str(exc)) from exc
    except OSError as exc:
        raise RequestRejected(f"{exc.filename or 'the folder'} cannot be used: {exc.strerror or exc}") from exc
