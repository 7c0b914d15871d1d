"""The labels and handling tags of the shipped policy, for an ingest that a test makes itself."""

from __future__ import annotations

from functools import cache

from policy.bundles.bundle import load_bundle
from retrieval.ingest.label import AccessTerms


@cache
def shipped_terms() -> AccessTerms:
    data = load_bundle().data
    return AccessTerms(data.ascending, tuple(data.handling))
