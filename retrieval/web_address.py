"""Addresses that may be shown as links."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

_PRINTED = re.compile(r"[\x21-\x7e]{1,2000}")


def web_address(text: str | None) -> str | None:
    """The text where it is an http or https address of a named host, in ASCII without blanks; else None."""
    if text is None or not _PRINTED.fullmatch(text):
        return None
    try:
        parts = urlsplit(text)
        named = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return None
    return text if named else None
