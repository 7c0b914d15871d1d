"""`exhibit ask`: a question on the command line, answered as over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import typer

from ai.text.markdown import unfenced
from api.cli.console import bold, configuration, dim, emit
from api.cli.options import AsJson, Groups, Home, Role, Tenant
from api.home.identity.local_caller import local_subject
from api.problems import EXIT_OK, EXIT_REFUSED

app = typer.Typer(help="Ask a question.", add_completion=False, rich_markup_mode=None)


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    *,
    place: Annotated[str | None, typer.Option("--place", help="Place that the map shows.")] = None,
    year: Annotated[int | None, typer.Option("--year", help="Year that the map shows.")] = None,
    bbox: Annotated[str | None, typer.Option("--bbox", help="west,south,east,north in degrees.")] = None,
    profile: Annotated[str, typer.Option("--profile", help="focus, agentic or basic.")] = "focus",
    collection: Annotated[
        list[str] | None, typer.Option("--collection", help="Only this collection; may be repeated.")
    ] = None,
    top_k: Annotated[int, typer.Option("--top-k", help="Maximum number of items of evidence.")] = 8,
    role: Role = "public_viewer",
    groups: Groups = None,
    tenant: Tenant = "default",
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Ask a question. Exit code 0: answered; 6: abstained or denied."""
    context = {"place": place, "year": year, "bbox": _bbox(bbox)}
    request = {
        "question": question,
        "context": {name: value for name, value in context.items() if value is not None},
        "options": {"profile": profile, "top_k": top_k, "collections": collection or []},
    }
    body = asyncio.run(_answer(request, home=home, role=role, groups=groups, tenant=tenant))
    emit(body, as_json=as_json, render=lambda: "\n".join(readable(body)))
    raise typer.Exit(EXIT_OK if body["outcome"] == "ANSWER" else EXIT_REFUSED)


async def _answer(
    request: Mapping[str, Any], *, home: Any, role: str, groups: str | None, tenant: str
) -> dict[str, Any]:
    from api.schemas.ask import ask_of, parse_query

    # Read before anything is opened: a question that cannot be asked costs nothing.
    asked = parse_query(request)
    from ai.focus_pipeline import answer
    from api.wiring import new_id, open_system

    async with open_system(configuration(home)) as system:
        subject = system.tenants.standing(local_subject(system.data, role=role, groups=groups, tenant=tenant))
        question = ask_of(asked, subject=subject, request_id=new_id())
        answered = await answer(question, services=system.services, profile=system.profile(asked.options.profile))
    return dict(answered.body)


def _bbox(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise typer.BadParameter("a bbox is four numbers: west,south,east,north") from None


def readable(body: Mapping[str, Any]) -> Iterator[str]:
    """A body for people: the answer, the words behind each citation, limits, and the receipt."""
    yield bold(body["answer"]) if body["answer"] else dim("(no text)")
    if body["outcome"] != "ANSWER":
        yield dim(f"{body['outcome']}: {', '.join(body['reason_codes'])}")
    for number, citation in body["citations"].items():
        yield ""
        yield f"[{number}] {citation['title']}  {dim(_origin(citation))}"
        yield from (f"    “{quote}”" for quote in _quotes(body["sentences"], int(number)))
        yield dim(f"    {citation['href']}")
    for each in body.get("related") or ():
        yield ""
        yield f"{dim('closest:')} {_short(each['text'])}"
        yield from (dim(f"    {cited['title']}  {cited['href']}") for cited in each["citations"])
    uncited = [item for item in body["evidence"] if not item["cited"]]
    if uncited and not body["citations"]:
        yield from _listed(uncited)
    if body["limitations"]:
        yield ""
        yield from (dim(f"note: {limitation['message']}") for limitation in body["limitations"])
    yield ""
    yield dim(f"receipt: exhibit ledger proof {body['provenance']['entry_id']}")


def _listed(items: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for item in items:
        yield ""
        yield f"[{item['index']}] {item['title']}  {dim(_origin(item))}"
        yield f"    {_short(item['snippet'])}"


def _origin(citation: Mapping[str, Any]) -> str:
    licence = "licence not stated" if citation["license"] == "unstated" else citation["license"]
    return f"({citation['kind']}, {citation['channel']}/{citation['store']}, {licence})"


def _quotes(sentences: Sequence[Mapping[str, Any]], number: int) -> list[str]:
    found = (quote["quote"] for sentence in sentences for quote in sentence["citations"] if quote["n"] == number)
    return list(dict.fromkeys(_short(quote) for quote in found))


def _short(text: str, limit: int = 320) -> str:
    line = " ".join(unfenced(text).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
