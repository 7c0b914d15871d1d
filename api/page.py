"""HTML pages: one file each that works from `file://`, script and style inside."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

_WEB = Path(__file__).parent / "web"


def page(template: str, *, scripts: tuple[str, ...] = (), **values: Any) -> str:
    """The template with these values, and the scripts one after the other as `script`."""
    text: str = _templates().get_template(template).render(script=_script(scripts), **values)
    return text


@cache
def _templates() -> Any:
    from jinja2 import Environment, FileSystemLoader  # noqa: PLC0415

    environment = Environment(loader=FileSystemLoader(_WEB), autoescape=True)
    environment.filters["exact"] = _exact
    return environment


def _exact(text: str) -> Any:
    """Text that a browser reads back letter for letter: its parser makes a bare carriage return a newline."""
    from markupsafe import Markup, escape  # noqa: PLC0415

    return Markup(str(escape(text)).replace("\r", "&#13;"))  # noqa: S704


@cache
def _script(names: tuple[str, ...]) -> Any:
    """The scripts as they stand in the repository; our own text, so it is not escaped."""
    from markupsafe import Markup  # noqa: PLC0415

    return Markup("\n".join((_WEB / name).read_text("utf-8") for name in names))  # noqa: S704
