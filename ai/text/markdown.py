"""Text without the signs of Markdown."""

from __future__ import annotations

import re

_MARKDOWN = re.compile(r"\[\^[^\]\s]{1,40}\]:?|\*{1,3}(?=\S)|(?<=\S)\*{1,3}|^#{1,6}[ \t]+", re.MULTILINE)


def plain(text: str) -> str:
    """`text` without the signs of Markdown that say nothing: emphasis, heading marks, footnote references."""
    return _MARKDOWN.sub("", text) if "*" in text or "#" in text or "[^" in text else text
