"""Label: access facts to a visibility class. A label is stated by the manifest, by the caller or by a default per
collection; it is never assumed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from retrieval.errors import LabelMissing, ManifestError
from retrieval.ingest.records.searchable import Suspicion, nothing_suspect
from retrieval.ingest.values import SourceSpec
from retrieval.scope import VisibilityClass

DEFAULT_COLLECTION = "default"
"""Where nothing names another."""
_COLLECTION = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class AccessTerms:
    """The labels and handling tags that the policy knows, and each collection's label where nothing else names one.
    `suspect` says of a text that it reads like an instruction, so that it is never searched for."""

    labels: tuple[str, ...]
    handling: tuple[str, ...] = ()
    default_labels: Mapping[str, str] = field(default_factory=dict)
    suspect: Suspicion = nothing_suspect


def visibility_of(
    source: SourceSpec,
    *,
    tenant: str,
    collection: str | None,
    label: str | None,
    terms: AccessTerms,
) -> VisibilityClass:
    """The class of a source. The manifest's own words win over the caller's, the caller's over the collection's
    default. Raises `LabelMissing`, or `ManifestError` for a label or handling tag that policy does not know (it would
    be refused for ever)."""
    named = source.collection or collection
    if named is None:
        named = DEFAULT_COLLECTION
    if not _COLLECTION.fullmatch(named):
        raise ManifestError(f"source {source.source_id}: {named!r} is not a valid collection name")
    stated = source.access.label or label or terms.default_labels.get(named)
    if stated is None:
        labels = ", ".join(terms.labels)
        raise LabelMissing(
            f"nothing says who may read it; give a label ({labels}) with --label, in the manifest, or as the"
            " collection's default"
        )
    if stated not in terms.labels:
        raise ManifestError(f"source {source.source_id}: {stated!r} is not a label ({', '.join(terms.labels)})")
    for tag in sorted(set(source.access.handling) - set(terms.handling)):
        raise ManifestError(f"source {source.source_id}: {tag!r} is not a handling tag ({', '.join(terms.handling)})")
    return VisibilityClass(
        tenant=tenant,
        collection=named,
        label=stated,
        handling=source.access.handling,
        groups=source.access.groups,
        owner_group=source.access.owner_group,
        allow_list=source.access.allow_list,
        valid_from_ms=source.valid_from_ms,
        valid_until_ms=source.valid_until_ms,
    )
