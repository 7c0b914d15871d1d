"""The page that verifies an exported log in a browser, from `file://`, without a network. It holds nothing of any log,
so it is the same file for all of a release, and who verifies can take it from elsewhere than the log."""

from __future__ import annotations

from api.page import page
from ledger.model import PART_NAMES

FORMS = {str(kind): list(names) for kind, names in PART_NAMES.items()}
"""The parts of a leaf by its kind, as the scripts read them."""


def log_page() -> str:
    """The page; the same text at every call."""
    return page("log.html.j2", scripts=("verify.js", "leaf.js", "log.js"), forms=FORMS)
