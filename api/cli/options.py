"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Home = Annotated[
    Path | None, typer.Option("--home", help="Folder that holds everything (EXHIBIT_HOME; default ./exhibit-home).")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def _tenant(name: str) -> str:
    """The name, where it can be one of a tenant."""
    from api.home.identity.tenants import NAME, NAMING

    if not NAME.fullmatch(name):
        raise typer.BadParameter(NAMING)
    return name


Tenant = Annotated[str, typer.Option("--tenant", help="Tenant.", callback=_tenant)]
Role = Annotated[str, typer.Option("--role", help="Role, or several with commas.")]
Groups = Annotated[str | None, typer.Option("--groups", help="Groups, with commas.")]
