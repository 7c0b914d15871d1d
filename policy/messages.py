"""Reader texts for the codes of reasons. Decisions carry codes and integers only; the words are in the METADATA of the
rules."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from policy.bundles.bundle import load_bundle
from policy.checks import INVALID
from policy.model import Reason


@cache
def messages() -> Mapping[str, str]:
    """The texts by code: those that the shipped rules state in their METADATA, and one for what code refuses."""
    stated = {rule.code: rule.reader for rule in load_bundle().rules}
    return stated | {INVALID: "The policy gave a decision that cannot be trusted."}


def message(reason: Reason) -> str:
    """The reader's text for a reason; for an unknown code a general one, never an error."""
    return text_of(reason.code)


def text_of(code: str) -> str:
    """The reader's text for a code; `POLICY_DECISION_INVALID.*` share one."""
    return messages().get(code.partition(".")[0], "The policy refused.")
