"""What the agent works with when it is used on its own.

The composition root is found by name and not imported: `ai` knows no store, and runs without `api` wherever a home is
given.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import cast

from ai.case import Services
from policy.model import Subject

AgentHome = AbstractAsyncContextManager[tuple[Services, Subject]]
ROOT, OPEN = "api.wiring.agent_home", "open_agent_home"


def default_home() -> AgentHome:
    """The default home folder, opened as the public viewer. Raises what opening raises, once entered."""
    return cast("AgentHome", getattr(import_module(ROOT), OPEN)())
