"""The stages that read what others wrote, each as one function of one text."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from ai.agent.decompose import parts_of
from ai.answer.draft.citations import parse_marked
from ai.canonical import canonical
from ai.gate import check_prompt, find_leaks, find_sensitive, scan_text, shipped_rules
from ai.intent import read_intent
from ai.model import MapContext
from ai.text.question_type import topic_of
from ai.text.sentences import split_sentences
from ledger.notes.note import parse_note
from ledger.proofs.receipt import parse_receipt
from policy.canonical import canonical as policy_canonical
from policy.canonical import parse_plain
from retrieval.filters import parse_filter
from retrieval.ingest.formats.html import read_html
from retrieval.ingest.parsing.structure import bare, blocks_of
from retrieval.ingest.records.link import names_in, times_in
from tests.unit.test_intent import LEXICON

RULES = shipped_rules()
PROMPT = "Answer from the sources alone. Cite every sentence. Say that you do not know where they do not say."
QUESTION_CHARS = 4_000
PASSAGE_CHARS = 8_000
DOCUMENT_CHARS = 32_000
MARKS = (
    "[1]",
    "[",
    "]",
    "[^1]",
    "【1†x】",
    "†",
    "(",
    ")",
    '"',
    "“",
    ". ",
    "...",
    "?",
    "! ",
    ", ",
    "; ",
    ": ",
    "-",
    "_",
    "*",
)
ASKED = (
    "who",
    "what",
    "between",
    "and",
    "or",
    "with",
    "the",
    "that",
    "in 1860",
    "from 1850 to 1860",
    "May 3, 1854",
    "km",
)
QUESTION = (
    *ASKED,
    "how many",
    "which counties",
    "population of",
    "Shawnee County",
    "Topeka",
    "Topkea",
    "not",
    "border",
    "within 50 km of",
    "more than 5,000",
    "largest",
    "treaties",
    "of",
)


@dataclass(frozen=True, slots=True)
class Stage:
    """What reads a text, the longest text that it is given here, and what it listens to."""

    name: str
    run: Callable[[str], object]
    chars: int
    words: tuple[str, ...]


def _gate(text: str) -> object:
    return check_prompt(text, [text[:200]], rules=RULES)


def _intent(text: str) -> object:
    return read_intent(text, MapContext(), lexicon=LEXICON)


def _leaks(text: str) -> object:
    return find_sensitive(text), find_leaks(text, canaries={"one": "kf7-canary-0001"}, system_prompt=PROMPT)


def _filter(text: str) -> object:
    return parse_filter(json.loads(text))


def _policy_input(text: str) -> object:
    return policy_canonical(parse_plain(text.encode()))


def _values(text: str) -> object:
    return canonical({"text": text, "parts": text.split(" ")}), policy_canonical({"text": text})


_RULE_WORDS = tuple(sorted({word for rule in RULES.rules for word in (*rule.words, *rule.company, *rule.substrings)}))
_JSON = ('{"a":', "[", "]", "}", '"a"', ",", "1", "-1e5", "null", '{"op":"and","filters":[', "\\u0041", '"')
_NOTE = (
    "\n",
    "\n\n",
    "— ",
    "example.org/log ",
    "AAAA",
    "=",
    "+",
    "/",
    "\u2014 a b\n",
    "c2sp.org/tlog-proof@v1\n",
    "index 1\n",
)
_HTML = (
    "<p>",
    "</p>",
    "<div>",
    "<table><tr><td>",
    "<ul><li>",
    "&amp;",
    "&",
    "<",
    "<!--",
    "<a href='x'>",
    "<h1>",
    "text ",
)
_MARKDOWN = (
    "# ",
    "\n",
    "\n\n",
    "- ",
    "> ",
    "* ",
    "**",
    "_",
    "`",
    "[",
    "](",
    ")",
    "![",
    "[a](b)",
    "|",
    "a|b\n-|-\n",
    "    ",
    "<b>",
)

STAGES = (
    Stage("gate", _gate, QUESTION_CHARS, _RULE_WORDS),
    Stage("scan of passages", lambda text: scan_text(text, rules=RULES), PASSAGE_CHARS, _RULE_WORDS),
    Stage("findings", _leaks, PASSAGE_CHARS, ("a@b.c", "4111 1111", "555-", "DE89", "+49 ", "1", "-", ".@", PROMPT)),
    Stage("reading", _intent, QUESTION_CHARS, QUESTION),
    Stage("topic", topic_of, QUESTION_CHARS, ASKED),
    Stage("parts of a question", parts_of, QUESTION_CHARS, ASKED),
    Stage("sentences", split_sentences, PASSAGE_CHARS, ("Mr.", "U.S.", "The town", "a", "1.")),
    Stage("citations", parse_marked, PASSAGE_CHARS, ("[1", "1]", "[[1]", "source 1", "to", "and", "The town")),
    Stage("Markdown", lambda text: blocks_of(text, "text/markdown"), PASSAGE_CHARS, _MARKDOWN),
    Stage(
        "plain text", lambda text: blocks_of(text, "text/plain"), DOCUMENT_CHARS, ("CHAPTER I", "A", "\n", " \n", "\t")
    ),
    Stage("bare words", bare, PASSAGE_CHARS, _MARKDOWN),
    Stage("HTML", lambda text: read_html("x", text), PASSAGE_CHARS, _HTML),
    Stage(
        "names and times", lambda text: (names_in(text), list(times_in(text))), PASSAGE_CHARS, (*ASKED, "John", "St. ")
    ),
    Stage("filters", _filter, PASSAGE_CHARS, _JSON),
    Stage("policy input", _policy_input, PASSAGE_CHARS, _JSON),
    Stage("canonical JSON", _values, DOCUMENT_CHARS, ("é", "\u2028", "\\", '"', "a", "\x00", "😀")),
    Stage("notes", parse_note, DOCUMENT_CHARS, _NOTE),
    Stage("receipts", parse_receipt, DOCUMENT_CHARS, _NOTE),
)
