"""The `opa` program, where a command can do without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from api.cli.console import note

if TYPE_CHECKING:
    from policy.authoring.opa import Opa


def opa_if_there() -> Opa | None:
    """The `opa` program; without it a hint on stderr and None."""
    from policy.authoring.opa import OpaMissing, find_opa

    try:
        return find_opa()
    except OpaMissing as exc:
        note(str(exc))
        return None
