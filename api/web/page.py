"""HTML pages from templates. Those of receipts and logs are one file each that works from `file://`, script and style
inside and named by their digests; those of the server take both from `/assets`."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

_WEB = Path(__file__).parent


def page(template: str, *, scripts: tuple[str, ...] = (), style: str = "page.css", **values: Any) -> str:
    """The template with these values, the scripts one after the other as `script`, and the style as `style`."""
    text: str = (
        _templates()
        .get_template(template)
        .render(script=_texts(scripts), style=_texts((style,)), t=strings(), **values)
    )
    return text


def source_digest(text: str) -> str:
    """A script or style as a Content-Security-Policy names it (CSP 3, hash-source)."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def style_policy(style: str) -> str:
    """The policy of a page with that style inside and without a script."""
    digest = source_digest(str(_texts((style,))))
    return f"default-src 'none'; style-src {digest}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


@cache
def strings() -> Any:
    """The words of the server's pages, by page and name; their scripts read the same file."""
    text = (_WEB / "static" / "strings.json").read_text("utf-8")
    return json.loads(text, object_hook=lambda words: SimpleNamespace(**words))


@cache
def _templates() -> Any:
    from jinja2 import Environment, FileSystemLoader  # noqa: PLC0415

    environment = Environment(loader=FileSystemLoader(_WEB), autoescape=True)
    environment.filters["exact"] = _exact
    environment.filters["digest"] = _digest
    environment.filters["say"] = _say
    environment.filters["plain"] = vars
    return environment


def _exact(text: str) -> Any:
    """Text that a browser reads back letter for letter: its parser makes a bare carriage return a newline."""
    from markupsafe import Markup, escape  # noqa: PLC0415

    return Markup(str(escape(text)).replace("\r", "&#13;"))  # noqa: S704


def _say(phrase: str, **values: Any) -> Any:
    """A phrase with its {names} filled in, which are text unless a template made them."""
    from markupsafe import Markup  # noqa: PLC0415

    return Markup(phrase).format(**values)  # noqa: S704 - of our own catalogue


def _digest(text: str) -> Any:
    from markupsafe import Markup  # noqa: PLC0415

    return Markup(source_digest(str(text)))  # noqa: S704


@cache
def _texts(names: tuple[str, ...]) -> Any:
    """The files one after the other; our own text, so it is not escaped."""
    from markupsafe import Markup  # noqa: PLC0415

    return Markup("\n".join((_WEB / name).read_text("utf-8") for name in names))  # noqa: S704
