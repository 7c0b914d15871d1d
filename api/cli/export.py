"""`exhibit export`: what is held, as files for other programs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.console import configuration, emit
from api.cli.options import AsJson, Groups, Home, Role, Tenant
from api.home.identity.local_caller import local_subject

if TYPE_CHECKING:
    from api.http.map.archive import TileArchive

app = typer.Typer(help="Write what is held as files for other programs.", add_completion=False, rich_markup_mode=None)


@app.callback()
def export() -> None:
    """Write what is held as files for other programs."""


@app.command("tiles")
def tiles(
    layer: Annotated[str, typer.Argument(help="Id of the layer, as GET /api/v1/layers names it.")],
    file: Annotated[Path, typer.Argument(help="The file to write (PMTiles); it must not exist.")],
    *,
    max_zoom: Annotated[int, typer.Option("--max-zoom", min=0, max=14, help="The deepest level.")] = 10,
    role: Role = "public_viewer",
    groups: Groups = None,
    tenant: Tenant = "default",
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Write the vector tiles of a layer as that role may see them. Every tile is decided over and recorded as one that
    is read over HTTP; the file does not follow later changes of corpus or policy."""
    from api.cli.ledger.common import write_file
    from api.errors import HomeInUse

    if file.exists():
        raise HomeInUse(f"{file} is there already; name another file, or remove it first.")
    made = asyncio.run(_made(layer, max_zoom, home=home, role=role, groups=groups, tenant=tenant))
    write_file(file, made.data)
    document = {"file": str(file), "bytes": len(made.data), "tiles": made.tiles, "thinned": made.thinned}
    emit(document, as_json=as_json, render=lambda: _told(file, made, max_zoom))


async def _made(
    layer: str, deepest: int, *, home: Path | None, role: str, groups: str | None, tenant: str
) -> TileArchive:
    from api.http.map.archive import export_tiles
    from api.http.map.layers import MapView, map_of
    from api.http.map.shapes import MapIndex
    from api.wiring import new_id, open_system

    async with open_system(configuration(home)) as system:
        subject = system.tenants.standing(local_subject(system.data, role=role, groups=groups, tenant=tenant))
        index = MapIndex()

        async def view() -> MapView:
            return await map_of(subject, request_id=new_id(), index=index, services=system.services)

        return await export_tiles(layer, deepest=deepest, view=view)


def _told(file: Path, made: TileArchive, deepest: int) -> str:
    line = f"{file}: {made.tiles:,} tiles of levels 0 to {deepest}, {len(made.data):,} bytes"
    if not made.thinned:
        return line
    return f"{line}\n{made.thinned:,} tiles of level {deepest} leave features out; a higher --max-zoom has them"
