"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Home = Annotated[
    Path | None, typer.Option("--home", help="Folder that holds everything (EXHIBIT_HOME; default ./exhibit-home).")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Tenant = Annotated[str, typer.Option("--tenant", help="Tenant.")]
Role = Annotated[str, typer.Option("--role", help="Role, or several with commas.")]
Groups = Annotated[str | None, typer.Option("--groups", help="Groups, with commas.")]
