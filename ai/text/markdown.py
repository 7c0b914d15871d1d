"""Text without the signs of Markdown."""

from __future__ import annotations

import re

_SIGNS = r"\[\^[^\]\s]{1,40}\]:?|\*{1,3}(?=\S)|(?<=\S)\*{1,3}|^#{1,6}[ \t]+"
_MARKDOWN = re.compile(_SIGNS, re.MULTILINE)
_OUTSIDE_CODE = re.compile(rf"(?P<code>`[^`\n]+`)|{_SIGNS}", re.MULTILINE)


def plain(text: str, *, coded: bool = True) -> str:
    """`text` without the signs of Markdown that say nothing: emphasis, heading marks, footnote references. `coded`: in
    code they are what it says (`*.log`)."""
    if not ("*" in text or "#" in text or "[^" in text):
        return text
    return _OUTSIDE_CODE.sub(lambda found: found["code"] or "", text) if coded else _MARKDOWN.sub("", text)
