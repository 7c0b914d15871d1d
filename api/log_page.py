"""The page that verifies an exported log in a browser, from `file://`, without a network. It holds nothing of any log,
so it is the same file for all of a release, and who verifies can take it from elsewhere than the log."""

from __future__ import annotations

from api.page import page
from ledger.model import PART_NAMES


def log_page() -> str:
    """The page; the same text at every call."""
    forms = {str(kind): list(names) for kind, names in PART_NAMES.items()}
    return page("log.html.j2", scripts=("verify.js", "log.js"), forms=forms)
