"""Bundles put in force as `exhibit policy publish` does it after the gates: for tests of what comes after."""

from __future__ import annotations

import shutil
from pathlib import Path

from api import wiring
from api.audit.policy.release import Candidacy, Change, publish
from api.home.backends import backends_of
from api.home.configuration import Configuration, load
from api.wiring.ledger.log import log_to_write
from ledger.ledger import Ledger
from policy.bundles.bundle import load_bundle


async def publish_to(configuration: Configuration, folder: Path, ledger: Ledger) -> str:
    """Let the bundle below `folder` decide in the home; its digest. The gates are not tried."""
    candidacy = Candidacy.of(load_bundle(folder), folder, backends_of(configuration).policy)
    await publish(
        candidacy,
        gates_passed=[],
        widened=[],
        change=Change("tester", "to see"),
        configuration=configuration,
        ledger=ledger,
    )
    return candidacy.bundle.digest


async def published(home: Path, folder: Path) -> str:
    """The same in a home that nobody has open."""
    configuration = load({}, home=home)
    async with log_to_write(configuration) as ledger:
        return await publish_to(configuration, folder, ledger)


async def published_live(system: wiring.System, folder: Path) -> str:
    """The same in a home that is open."""
    return await publish_to(system.configuration, folder, system.services.ledger)


def copied(home: Path, place: Path) -> Path:
    """A copy of a home, to change."""
    shutil.copytree(home, place)
    return place
