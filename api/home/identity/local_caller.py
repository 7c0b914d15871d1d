"""The subject of the local command line. Whoever holds the folder is trusted to say; the ledger records it as local."""

from __future__ import annotations

from api.home.identity.principal import LOCAL_ID
from policy.data import PolicyData
from policy.model import Subject


def local_subject(data: PolicyData, *, role: str, groups: str | None, tenant: str) -> Subject:
    """The subject that options name; `role` and `groups` are comma-separated."""
    return Subject.of(
        id=LOCAL_ID,
        tenant=tenant,
        roles=_words(role),
        data=data,
        groups=_words(groups or ""),
    )


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())
