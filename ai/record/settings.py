"""The settings that shape an answer: their bytes, which the home's archive keeps, and their digests, which the record
names.

Each setting that can change a body must be among them; what is read from a store, a channel or a model is recorded
as such and is none of them. A part of the pipeline that brings parameters of its own adds a name here and to
`ai.replay.settings`.
"""

from __future__ import annotations

from collections.abc import Mapping

from ai.canonical import canonical, digest_of, to_json
from ai.case.case import Services
from ai.case.profiles import Profile

GATE = "gate"
TEMPLATE = "template"
FUSION = "fusion"
LIMITS = "limits"
BUDGETS = "budgets"
SEARCH = "search"
OF_SEARCHES = (GATE, FUSION, LIMITS, SEARCH)
"""Those that shape a result list."""


def settings_of(services: Services, profile: Profile) -> dict[str, bytes]:
    """The bytes of each, by its name."""
    return {
        GATE: services.rules.document,
        TEMPLATE: services.template.text.encode("utf-8"),
        FUSION: canonical(to_json(profile.ordering(services.bundle_rules))),
        LIMITS: canonical(to_json(profile.limits or services.bundle_limits)),
        BUDGETS: canonical(to_json(services.budgets)),
        SEARCH: canonical({"channel_top_k": profile.channel_top_k}),
    }


def pinned(services: Services, profile: Profile) -> dict[str, str]:
    """Digests of everything configurable that shapes an answer; a gate's ruleset goes by its label."""
    known = {GATE: services.rules.label, TEMPLATE: services.template.digest}
    every = settings_of(services, profile).items()
    return known | {name: digest_of(data) for name, data in every if name not in known}


def search_pinned(profile: Profile, services: Services) -> dict[str, str]:
    """Digests of everything configurable that shapes a result list."""
    every = pinned(services, profile)
    return {name: every[name] for name in OF_SEARCHES}


async def keep_settings(services: Services, profile: Profile) -> None:
    """Make durable what `pinned` names, before an entry names it. Raises `ArchiveUnavailable`: then nothing is
    released."""
    await services.archive.keep(settings_of(services, profile).values())


def archived_digest(value: str) -> str:
    """The digest in a pinned value."""
    return value.rpartition(" ")[2]


def changed_settings(recorded: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """The names of those that differ."""
    return tuple(sorted(name for name, value in recorded.items() if now.get(name) != value))
