"""The bundle that a command is about: one that is being worked on, else the one in force."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.console import configuration

if TYPE_CHECKING:
    from policy.bundle import Bundle

Candidate = Annotated[Path | None, typer.Option("--policy", help="Folder of a bundle; default: the bundle in force.")]


def chosen_bundle(policy: Path | None, home: Path | None) -> tuple[Bundle, Path]:
    """The bundle and its folder. A module that does not fit its sources is built, which needs `opa`. A folder that
    holds no bundle is a wrong use."""
    from policy.authoring.candidate import open_candidate

    folder = chosen_folder(policy, home)
    return open_candidate(folder), folder


def chosen_folder(policy: Path | None, home: Path | None) -> Path:
    """The folder alone: whether its parts fit together is for the caller to find out. One that holds no bundle is a
    wrong use."""
    from api.backends import backends_of
    from api.wiring import bundle_folder

    if policy is None:
        return bundle_folder(backends_of(configuration(home)).policy)
    if not (policy / "rego").is_dir():
        raise typer.BadParameter(f"{policy} holds no policy bundle: there is no folder rego in it")
    return policy
