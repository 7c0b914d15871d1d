"""The services that the agent works with when it is used on its own; the entry point `exhibit.agent_home`
(pyproject.toml)."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ai.case.case import Services
from api.home.configuration import load
from api.home.identity.principal import public_subject
from api.wiring.system import open_system
from policy.model import Subject


@asynccontextmanager
async def open_agent_home() -> AsyncIterator[tuple[Services, Subject]]:
    """The home that the environment names, as the public viewer. Raises IndexNotReady where it holds no corpus."""
    async with open_system(load(os.environ)) as system:
        yield system.services, public_subject(system.data)
