"""`exhibit asset`: the asset registry on the command line, asked as over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.console import configuration, emit, table
from api.cli.options import AsJson, Groups, Home, Role, Tenant

if TYPE_CHECKING:
    from api.audit.reauthorise import Reading

app = typer.Typer(
    help="List assets, the entities that they name, the relationships that they state and where these lead.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
Many = list[str] | None
Limit = Annotated[int, typer.Option("--limit", min=1, max=200, help="Most results.")]
Cursor = Annotated[str | None, typer.Option("--cursor", help="`next_cursor` of the page before.")]
Descending = Annotated[bool, typer.Option("--desc", help="Reverse the order.")]


@app.command("list")
def list_assets(
    *,
    text: Annotated[str | None, typer.Option("--text", help="Words that they contain.")] = None,
    kind: Annotated[Many, typer.Option("--type", help="document, table or features.")] = None,
    label: Annotated[Many, typer.Option("--label", help="Label.")] = None,
    collection: Annotated[Many, typer.Option("--collection", help="Collection.")] = None,
    owner: Annotated[Many, typer.Option("--owner", help="Owner.")] = None,
    topic: Annotated[Many, typer.Option("--topic", help="Topic.")] = None,
    review: Annotated[Many, typer.Option("--review", help="State of review.")] = None,
    entity: Annotated[Many, typer.Option("--entity", help="Id of an entity that they name.")] = None,
    sort: Annotated[str | None, typer.Option("--sort", help="asset_id, title, created_at, updated_at ...")] = None,
    desc: Descending = False,
    limit: Limit = 50,
    cursor: Cursor = None,
    role: Role = "public_viewer",
    groups: Groups = None,
    tenant: Tenant = "default",
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Assets that match every option given; an option may be repeated, and one of its values must match."""
    from api.audit.registry.assets import query_assets
    from api.schemas.registry.requests import AssetQueryRequest

    given = {
        "text": text, "asset_types": kind, "sensitivities": label, "collections": collection, "owners": owner,
        "topics": topic, "review_states": review, "entities": entity, "sort_by": sort,
        "sort_order": "desc" if desc else None, "limit": limit, "cursor": cursor,
    }  # fmt: skip
    wanted = _read(AssetQueryRequest, given).query()
    who = (role, groups, tenant)
    body = asyncio.run(_asked(home, who, lambda reading: query_assets(wanted, reading=reading)))
    rows = [[a["asset_id"], a["asset_type"], a["classification"]["sensitivity"], a["title"]] for a in body["results"]]
    emit(body, as_json=as_json, render=lambda: _page(body, ["asset", "type", "label", "title"], rows))


@app.command()
def show(
    asset_id: Annotated[str, typer.Argument(metavar="ASSET", help="Id of the asset.")],
    *,
    role: Role = "public_viewer",
    groups: Groups = None,
    tenant: Tenant = "default",
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """One asset. Exit code 3: no such asset that the caller may see."""
    from api.audit.registry.assets import read_asset

    body = asyncio.run(_asked(home, (role, groups, tenant), lambda reading: read_asset(asset_id, reading=reading)))
    emit(body, as_json=as_json, render=lambda: _asset(body))


@app.command()
def entities(
    *,
    name: Annotated[str | None, typer.Option("--name", help="Part of a name.")] = None,
    kind: Annotated[Many, typer.Option("--type", help="Type of entity.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    role: Role = "public_viewer",
    groups: Groups = None,
    tenant: Tenant = "default",
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Entities that assets name."""
    from api.audit.registry.entities import query_entities
    from api.schemas.registry.requests import ContextEntityQueryRequest

    given = {"name": name, "types": kind, "limit": limit, "cursor": cursor}
    wanted = _read(ContextEntityQueryRequest, given).query()
    who = (role, groups, tenant)
    body = asyncio.run(_asked(home, who, lambda reading: query_entities(wanted, reading=reading)))
    rows = [[e["entity_id"], e["type"], e["name"], e["evidence_count"]] for e in body["results"]]
    emit(body, as_json=as_json, render=lambda: _page(body, ["entity", "type", "name", "documents"], rows))


@app.command()
def relationships(
    *,
    entity: Annotated[str | None, typer.Option("--entity", help="Id of an entity at either end.")] = None,
    predicate: Annotated[Many, typer.Option("--predicate", help="Predicate.")] = None,
    asset: Annotated[Many, typer.Option("--asset", help="Id of an asset that states them.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    role: Role = "public_viewer",
    groups: Groups = None,
    tenant: Tenant = "default",
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Relationships that assets state."""
    from api.audit.registry.relationships import query_relationships
    from api.schemas.registry.requests import RelationshipQueryRequest

    given = {"entity": entity, "predicates": predicate, "assets": asset, "limit": limit, "cursor": cursor}
    wanted = _read(RelationshipQueryRequest, given).query()
    who = (role, groups, tenant)
    body = asyncio.run(_asked(home, who, lambda reading: query_relationships(wanted, reading=reading)))
    rows = [
        [r["source"]["name"], r["predicate"], r["target"]["name"], r["provenance"]["asset_id"]] for r in body["results"]
    ]
    emit(body, as_json=as_json, render=lambda: _page(body, ["source", "predicate", "target", "asset"], rows))


@app.command()
def paths(
    entities: Annotated[list[str], typer.Argument(metavar="ENTITY", help="Ids of the entities to start from.")],
    *,
    hops: Annotated[int, typer.Option("--hops", help="Most relationships on the way.", min=1, max=4)] = 2,
    direction: Annotated[str, typer.Option("--direction", help="outgoing, incoming or both.")] = "both",
    predicate: Annotated[Many, typer.Option("--predicate", help="Predicate to follow.")] = None,
    kind: Annotated[Many, typer.Option("--type", help="Type of entity wanted.")] = None,
    target: Annotated[Many, typer.Option("--to", help="Id of an entity wanted.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    role: Role = "public_viewer",
    groups: Groups = None,
    tenant: Tenant = "default",
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Entities that relationships lead to over several hops, best first, each with the path to it."""
    from api.audit.registry.paths import query_paths
    from api.schemas.registry.requests import PathQueryRequest

    given = {"entities": entities, "hops": hops, "direction": direction, "predicates": predicate, "types": kind}
    wanted = _read(PathQueryRequest, given | {"targets": target, "limit": limit, "cursor": cursor}).query()
    who = (role, groups, tenant)
    body = asyncio.run(_asked(home, who, lambda reading: query_paths(wanted, reading=reading)))
    rows = [[r["entity"]["name"], r["entity"]["type"], r["score"], _way(r["path"])] for r in body["results"]]
    emit(body, as_json=as_json, render=lambda: _page(body, ["entity", "type", "score", "path"], rows))


def _way(path: Sequence[Mapping[str, Any]]) -> str:
    """`Fir -located_in-> Fairland <-located_in- Elm`."""
    told = ""
    for step in path:
        forward = step["direction"] == "outgoing"
        start, end = (step["source"], step["target"]) if forward else (step["target"], step["source"])
        told = told or start["name"]
        told += f" -{step['predicate']}-> " if forward else f" <-{step['predicate']}- "
        told += end["name"]
    return told


def _read(model: Any, given: Mapping[str, Any]) -> Any:
    """The request that the options make, checked as one over HTTP. Raises BadParameter."""
    from pydantic import ValidationError

    try:
        return model.model_validate({name: value for name, value in given.items() if value is not None})
    except ValidationError as exc:
        first = exc.errors(include_input=False, include_url=False)[0]
        raise typer.BadParameter(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None


async def _asked(
    home: Path | None,
    who: tuple[str, str | None, str],
    query: Callable[[Reading], Awaitable[dict[str, Any]]],
) -> dict[str, Any]:
    from api.audit.reauthorise import reading_of
    from api.home.identity.local_caller import local_subject
    from api.wiring import new_id, open_system

    role, groups, tenant = who
    async with open_system(configuration(home)) as system:
        subject = system.tenants.standing(local_subject(system.data, role=role, groups=groups, tenant=tenant))
        return await query(await reading_of(subject, request_id=new_id(), services=system.services, recorded=True))


def _page(body: Mapping[str, Any], columns: list[str], rows: list[list[Any]]) -> str:
    told = [table(columns, rows), "", f"{body['returned_count']} of {body['total_count']}"]
    told += [f"next: --cursor {body['next_cursor']}"] if body["next_cursor"] else []
    return "\n".join([*told, *(f"note: {each['message']}" for each in body["diagnostics"])])


def _asset(body: Mapping[str, Any]) -> str:
    filed, source = body["classification"], body["source_references"][0]
    facts = {
        "title": body["title"], "type": body["asset_type"], "label": filed["sensitivity"],
        "collection": filed["collection"], "owner": filed["owner"], "review": filed["review_state"],
        "file": source["name"], "licence": source["license"], "attribution": source["attribution"],
        "version": body["representations"][0]["representation_id"], "entities": len(body["entities"]),
        "relationships": len(body["relationships"]),
    }  # fmt: skip
    return table(["", body["asset_id"]], [[name, value] for name, value in facts.items() if value is not None])
