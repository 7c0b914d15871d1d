"""The engines that a bundle is tried on: the module in process, and an OPA server where the program is installed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from api.cli.console import note

if TYPE_CHECKING:
    from policy.authoring.opa import Opa
    from policy.authoring.vectors import Evaluator
    from policy.bundle import Bundle


def opa_if_there() -> Opa | None:
    """The `opa` program; without it a hint on stderr and None."""
    from policy.authoring.opa import OpaMissing, find_opa

    try:
        return find_opa()
    except OpaMissing as exc:
        note(str(exc))
        return None


@asynccontextmanager
async def evaluators(bundle: Bundle, folder: Path, opa: Opa | None) -> AsyncIterator[list[Evaluator]]:
    """The embedded engine first; then, with `opa`, a server of our own over the bundle below `folder`."""
    from api.wiring import open_embedded, open_server
    from policy.authoring.evaluators import engine_evaluator
    from policy.authoring.server import own_server

    async with AsyncExitStack() as stack:
        embedded = await open_embedded(bundle)
        stack.push_async_callback(embedded.aclose)
        opened = [engine_evaluator(embedded.name, embedded)]
        if opa is not None:
            server = open_server(await stack.enter_async_context(own_server(opa, folder)), bundle)
            stack.push_async_callback(server.aclose)
            opened.append(engine_evaluator("opa server", server))
        yield opened
