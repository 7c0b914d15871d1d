"""A lint for what the compiler accepts and a policy must not do: fail open, or mean different things to two engines.

One rule, one module: a function from `Sources` to findings, with the reason and the advice beside it. A rule of the
bundle may be excused from one lint rule in its METADATA, with the reason: `custom: {lint: {fraction: "..."}}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from policy.authoring.lint.findings import Finding
from policy.authoring.lint.rule import LintRule
from policy.authoring.lint.rules import (
    absent_grants,
    closed_sets,
    denial_without_helper,
    fraction,
    negated_argument,
    open_default,
    portable_builtins,
    regex_classes,
    rule_conflict,
    unbound_message,
    unknown_data,
    unknown_field,
    whole_metadata,
)
from policy.authoring.lint.sources import Sources, read_sources_of
from policy.authoring.opa import Opa

LINT_RULES: Sequence[LintRule] = (
    negated_argument.RULE,
    absent_grants.RULE,
    unbound_message.RULE,
    denial_without_helper.RULE,
    open_default.RULE,
    rule_conflict.RULE,
    portable_builtins.RULE,
    regex_classes.RULE,
    fraction.RULE,
    closed_sets.RULE,
    unknown_data.RULE,
    unknown_field.RULE,
    whole_metadata.RULE,
)
UNKNOWN_EXCUSE = "unknown-excuse"


def lint(opa: Opa, root: Path) -> tuple[Finding, ...]:
    """Everything that is wrong with the sources below `root`, by place. Raises OpaFailed for what cannot be parsed."""
    return lint_sources(read_sources_of(opa, root))


def lint_sources(sources: Sources) -> tuple[Finding, ...]:
    """The same for sources that are parsed already."""
    found = [each for rule in LINT_RULES for each in rule.find(sources) if not sources.excused(each)]
    return tuple(sorted({*found, *_wrong_excuses(sources)}))


def _wrong_excuses(sources: Sources) -> Iterator[Finding]:
    known = {rule.id for rule in LINT_RULES}
    for module in sources.modules:
        for rule in module.rules:
            for name, reason in rule.excuses.items():
                if name not in known or not str(reason).strip():
                    place = module.finding(
                        UNKNOWN_EXCUSE, rule.node, f"the excuse {name!r} names no lint rule, or has no reason"
                    )
                    yield place
