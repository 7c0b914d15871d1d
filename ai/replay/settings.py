"""The settings of the record in the place of today's, from the home's archive: replay means "as it was"."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import product

import cattrs

from ai.canonical import digest_of, from_json
from ai.case.case import Case, Services
from ai.case.profiles import Profile
from ai.gate.errors import RulesetInvalid
from ai.gate.rules import ruleset_of, shipped_rules
from ai.models.context import ContextBudgets
from ai.record.settings import (
    BUDGETS,
    FUSION,
    GATE,
    LIMITS,
    SEARCH,
    TEMPLATE,
    archived_digest,
    changed_settings,
    pinned,
    settings_of,
)
from ai.replay.recovery import recovered
from ai.text.question_kind import QuestionKind
from prompt_templates import PromptTemplate, released_templates
from retrieval.bundle import BundleLimits, BundleRules
from retrieval.model import ChannelName

Running = tuple[Services, Profile]
_MOST = {FUSION: 10_000, LIMITS: 200_000, BUDGETS: 200_000}
"""Up to which number a setting is looked for that no archive holds."""


@dataclass(frozen=True, slots=True)
class AsRecorded:
    """Services and profile as they were. `changed` are the settings that are others today, `missing` those of them that
    cannot be had any more: today's run in their place."""

    services: Services
    profile: Profile
    changed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    def case(self, case: Case) -> Case:
        """The case under the recorded profile."""
        return replace(case, profile=self.profile)


def as_recorded(
    recorded: Mapping[str, str], services: Services, profile: Profile, *, today: frozenset[str] = frozenset()
) -> AsRecorded:
    """The recorded settings in force; those named in `today` stay as they are now."""
    running, missing = (services, profile), list[str]()
    changed = changed_settings(recorded, pinned(services, profile))
    for name in changed:
        if name in today:
            continue
        put = _in_force(name, recorded[name], running)
        running = put or running
        missing += [] if put else [name]
    return AsRecorded(*running, changed, tuple(missing))


def _in_force(name: str, value: str, running: Running) -> Running | None:
    """The setting put in force; None where it cannot be had, or is of a kind that this software does not have."""
    put = _PUT.get(name)
    data = None if put is None else _found(name, archived_digest(value), running)
    if put is None or data is None:
        return None
    try:
        return put(data, running)
    except (ValueError, KeyError, TypeError, AttributeError, cattrs.BaseValidationError, RulesetInvalid):
        return None


def _found(name: str, digest: str, running: Running) -> bytes | None:
    """From the software or the archive; or, for records older than it, one number away from what is known."""
    services, profile = running
    shipped = _shipped(name, digest)
    kept = services.archive.load(digest) if shipped is None else shipped
    if kept is not None or name not in _MOST:
        return kept
    known = [settings_of(*each)[name] for each in product((services, _as_shipped(services)), _of_versions(profile))]
    found = (recovered(digest, each, most=_MOST[name]) for each in dict.fromkeys(known))
    return next((each for each in found if each is not None), None)


def _shipped(name: str, digest: str) -> bytes | None:
    """The template or gate rules of that digest, if they come with the software."""
    if name == TEMPLATE:
        released = _released(digest)
        return None if released is None else released.text.encode("utf-8")
    rules = shipped_rules().document if name == GATE else b""
    return rules if digest_of(rules) == digest else None


def _as_shipped(services: Services) -> Services:
    return replace(
        services,
        bundle_rules=BundleRules(fusion=replace(BundleRules().fusion, weights_milli=dict.fromkeys(ChannelName, 1000))),
        bundle_limits=BundleLimits(),
        budgets=ContextBudgets(),
    )


def _of_versions(profile: Profile) -> tuple[Profile, ...]:
    """The profile, and as it was before passages that share a name were raised."""
    if profile.rules is None:
        return (profile,)
    rerank = replace(profile.rules.rerank, shared=0)
    return profile, replace(profile, rules=replace(profile.rules, rerank=rerank))


def _gate(data: bytes, running: Running) -> Running:
    services, profile = running
    return replace(services, rules=ruleset_of(json.loads(data))), profile


def _template(data: bytes, running: Running) -> Running:
    services, profile = running
    template = PromptTemplate(services.template.name, data.decode("utf-8"), digest_of(data))
    return replace(services, template=_released(template.digest) or template), profile


def _released(digest: str) -> PromptTemplate | None:
    return next((each for each in released_templates() if each.digest == digest), None)


def _fusion(data: bytes, running: Running) -> Running:
    services, profile = running
    told = json.loads(data)
    if "routes" not in told:
        return services, replace(profile, rules=from_json(told, BundleRules), routed=False)
    routes = {
        QuestionKind(kind): {ChannelName(name): int(milli) for name, milli in each.items()}
        for kind, each in told["routes"].items()
    }
    return services, replace(profile, rules=from_json(told["rules"], BundleRules), routed=True, routes=routes)


def _limits(data: bytes, running: Running) -> Running:
    services, profile = running
    return services, replace(profile, limits=from_json(json.loads(data), BundleLimits))


def _budgets(data: bytes, running: Running) -> Running:
    services, profile = running
    return replace(services, budgets=from_json(json.loads(data), ContextBudgets)), profile


def _search(data: bytes, running: Running) -> Running:
    services, profile = running
    return services, replace(profile, channel_top_k=int(json.loads(data)["channel_top_k"]))


_PUT: Mapping[str, Callable[[bytes, Running], Running]] = {
    GATE: _gate,
    TEMPLATE: _template,
    FUSION: _fusion,
    LIMITS: _limits,
    BUDGETS: _budgets,
    SEARCH: _search,
}
