"""The agent, loaded when an agentic profile first runs: its framework takes more than a second to import."""

from __future__ import annotations

from typing import Any

from ai.case.case import Case, Services


async def lazy_agent(case: Case, services: Services) -> tuple[Case, Any]:
    """`ai.agent.graph.run_agent`."""
    from ai.agent.graph import run_agent  # noqa: PLC0415

    return await run_agent(case, services)
