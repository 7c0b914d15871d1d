"""Every word that a page says is in the one catalogue: templates and scripts hold no prose of their own, name nothing that is
not in it, and it holds nothing that nobody says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markupsafe import escape
from pygments.lexers.javascript import JavascriptLexer
from pygments.token import String

from api.web.page import page, strings

ROOT = Path(__file__).parents[2]
WEB = ROOT / "api" / "web"
WORDS: Mapping[str, Mapping[str, str]] = json.loads((WEB / "static" / "strings.json").read_text("utf-8"))
TEMPLATES, SCRIPTS = sorted(WEB.glob("*.j2")), sorted([*WEB.glob("*.js"), *(WEB / "static").glob("*.js")])
ROUTES = [
    ROOT / "api" / "http" / name
    for name in ("routes/pages.py", "routes/evidence.py", "routes/computations.py", "docs_page.py")
]
VALUES = [ROOT / "api" / "schemas" / "computation.py"]  # what the API names and a template says
READERS = [*TEMPLATES, *SCRIPTS, *sorted(WEB.glob("*.py")), *ROUTES, *VALUES]
PHRASE = re.compile(r"[A-Za-z’']{2,}[,;:.!?]? [A-Za-z]{2,}")
SAID = ("aria-label", "title", "placeholder", "alt", "summary")
"""Attributes that are read out or shown."""
FORMAL = {"use strict", "plain promise", "taken up", "(prefers-color-scheme: dark)", "(prefers-reduced-motion: reduce)"}
"""Two words that are no prose: a directive, a list of classes, a value of the API, media queries."""
NAMES = {
    "AbortError",
    "Bearer ……",
    "Ed25519",
    "Enter",
    "Escape",
    "Event",
    "Feature",
    "FeatureCollection",
    "Map.Title",
    "Point",
    "Polygon",
}
"""Names of protocols and formats that begin with a capital letter."""

REPORT = {
    "month": "",
    "tenant": None,
    "since": "",
    "until": "",
    "outcomes": {},
    "log": {"origin": ""},
    "entries": {"count": 0, "leaves_root": "", "kinds": {}},
    "checkpoint": {"size": 0, "root": "", "note": ""},
    **{name: [] for name in ("denials", "publications", "overrides", "sources_changed", "erasures", "incidents")},
    "verification": {"verdict": "", "entries": 0, "parts_verified": False, "witnessed": False, "problems": []},
    "checkpoints": {"count": 0, "cosigned": 0, "witnesses": []},
}


class Spoken(HTMLParser):
    """What a template says by itself, its expressions left out."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [
            f"{name}={value}" for name, value in attrs if name in SAID and re.search(r"[A-Za-z]", value or "")
        ]
        if tag in {"code", "script", "style"}:
            self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        text = data.strip()
        if not self.inside and re.search(r"[A-Za-z]", text) and not text.startswith("/"):  # an address says itself
            self.found.append(text)


def said_by_template(text: str) -> list[str]:
    spoken = Spoken()
    plain = re.sub(r"<\{\{ tag \}\}[^>]*\}\}\">", "", text)  # a tag whose name is an expression
    spoken.feed(re.sub(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", "", plain, flags=re.DOTALL))
    quoted = [
        each for code in re.findall(r"\{[{%](.*?)[%}]\}", text, re.DOTALL) for each in re.findall(r'"([^"]*)"', code)
    ]
    return spoken.found + [each for each in quoted if PHRASE.search(each)]


def said_by_script(text: str) -> list[str]:
    return [
        each
        for each in literals(text)
        if each not in FORMAL | NAMES and (PHRASE.search(each) or re.match("[A-Z][a-z]", each))
    ]


def literals(text: str) -> Iterator[str]:
    """The strings of a script, with … for what a template string puts in."""
    held = ""
    for kind, value in [*JavascriptLexer().get_tokens(text), (None, "")]:
        if kind in String.Backtick and value != "`":
            held += value
        elif kind in String.Interpol:
            held += "…"
        elif kind in String.Backtick or kind is None:
            yield from [held] if held else []
            held = ""
        elif kind in (String.Double, String.Single):
            yield value[1:-1]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda each: each.name)
def test_a_template_says_nothing_by_itself(template: Path) -> None:
    assert said_by_template(template.read_text("utf-8")) == []


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda each: each.name)
def test_a_script_says_nothing_by_itself(script: Path) -> None:
    assert said_by_script(script.read_text("utf-8")) == []


@pytest.mark.parametrize(
    "text",
    [
        "<p>Nothing here</p>",
        "<p>{{ t.ask.title }} of</p>",
        '<button aria-label="Close"></button>',
        '<img alt="a map">',
        '{{ "Nothing here" }}',
        '{% set heading = "What was done" %}',
        "<details><summary>More</summary></details>",
    ],
)
def test_prose_in_a_template_is_found(text: str) -> None:
    assert said_by_template(text)


@pytest.mark.parametrize(
    "text",
    [
        'h("p", {}, "Nothing here")',
        "byId('status').textContent = 'not found';",
        "`${count} entries were read`",
        'button.textContent = "Close";',
        'check(found, "key", "the key is wrong")',
        "`${a} and ${b} of it`",
        'say("It isn’t so")',
    ],
)
def test_prose_in_a_script_is_found(text: str) -> None:
    assert said_by_script(text)


@pytest.mark.parametrize(
    "text", ["<p>{{ t.ask.title }}</p>", "<code>tile/</code>", '<a href="/docs">/docs</a>', "{{ rows | tojson }}"]
)
def test_what_is_no_prose_is_left_alone(text: str) -> None:
    assert said_by_template(text) == []


def test_templates_and_scripts_name_what_is_in_the_catalogue() -> None:
    assert {*vars(strings())} == {*WORDS}
    for template in TEMPLATES:
        for part, name in re.findall(r"\bt\.(\w+)\.(\w+)", template.read_text("utf-8")):
            assert name in WORDS[part], (template.name, part, name)
    for script in SCRIPTS:
        text = script.read_text("utf-8")
        for part, name in re.findall(r"\bwords\.(\w+)\.(\w+)", text):
            assert name in WORDS[part], (script.name, part, name)
        bound = re.search(r"\bw = words\.(\w+)", text)
        for name in re.findall(r"\bw\.(\w+)", text) if bound else ():
            assert bound and name in WORDS[bound[1]], (script.name, name)
        for name in re.findall(r'\b(?:check|Failed)\(.*"[a-z-]+", "(\w+)"', text):
            assert name in WORDS["proof"], (script.name, name)


def test_nothing_in_the_catalogue_is_said_nowhere() -> None:
    """A name is written out, or made from a prefix and a value of the API."""
    text = "\n".join(path.read_text("utf-8") for path in READERS)
    named = {*re.findall(r"""[."'](\w+)""", text)}
    made = tuple({one or other for one, other in re.findall(r"\[`(\w+_)\$\{|attr\(\"(\w+_)\"", text)})
    differences = {*WORDS["compare"]}  # named by the rows of `GET /api/v1/ledger/difference`
    unsaid = [
        (part, name)
        for part, names in WORDS.items()
        for name in names
        if name not in named and not name.startswith(made) and not (part == "compare" and name in differences)
    ]
    assert unsaid == []


@pytest.mark.parametrize("name", ["<b>x</b>", "{log}", "{0.__class__}", "&amp;"])
def test_what_is_filled_into_a_phrase_stays_text(name: str) -> None:
    html = page("report.html.j2", style="report.css", report=REPORT | {"month": name})
    assert f"<h1>{strings().report.title.format(month=escape(name))}</h1>" in html
