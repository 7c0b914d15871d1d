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
    """The bundle and its folder. A module that does not fit its sources is built, which needs `opa`."""
    from api.backends import backends_of
    from api.wiring import bundle_folder
    from policy.authoring.candidate import open_candidate

    folder = bundle_folder(backends_of(configuration(home)).policy) if policy is None else policy
    return open_candidate(folder), folder
