"""The page that verifies an exported log in a browser, from `file://`, without a network. It holds nothing of any log,
so it is the same file for all of a release, and who verifies can take it from elsewhere than the log."""

from __future__ import annotations

import ledger.model
from api.web.page import page

FORMS = {f"{version} {kind}": list(names) for (version, kind), names in ledger.model.FORMS.items()}
"""The parts of a leaf by its version and kind, as the scripts read them."""


def log_page() -> str:
    """The page; the same text at every call."""
    return page("log.html.j2", scripts=("verify.js", "leaf.js", "log.js"), forms=FORMS)
