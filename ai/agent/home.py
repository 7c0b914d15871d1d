"""The services that the agent works with when it is used on its own.

`ai` knows no store: a home is passed in, or else it is the one that the installed distribution registers as an entry
point.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from importlib.metadata import entry_points
from typing import cast

from ai.case.case import Services
from ai.errors import AgentHomeMissing
from policy.model import Subject

AgentHome = AbstractAsyncContextManager[tuple[Services, Subject]]
GROUP = "exhibit.agent_home"


def registered_home() -> AgentHome:
    """The registered home. Raises `AgentHomeMissing` where none is, and what opening raises, once entered."""
    for registered in entry_points(group=GROUP):
        return cast("AgentHome", registered.load()())
    raise AgentHomeMissing(f"no distribution registers {GROUP}; install exhibit, or pass a home to build_graph()")
