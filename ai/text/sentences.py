"""Sentences with exact offsets. Rules only: no model, no state, linear in the text, the same cut every time.

A sentence ends at `.`, `!`, `?` or an ellipsis with what closes it (quotes, brackets, citation markers on the same
line), or at a blank line, a list item or a heading; `lined`: also before and after a line that stands alone
(`ai.text.lines`), and, `finer`, behind an amount, a time of day, and a letter that is no initial (`£1.50. Dogs`,
`7 p.m. Staff`, `vitamin C. It`). A stop after an abbreviation, an initial or before a lower-case word ends nothing.
A block of code is a sentence, but for one that ends the sentence before it.
Where the rules cannot know, they do not cut: a sentence that is too long is cited as a whole, one cut too early would
lose its citation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ai.text.lines import lines_of
from ai.text.markdown import code_blocks
from retrieval.english.lists import ABBREVIATED, DATES, word_list

MARKER_PATTERN = (
    r"(?:\[\^?\s*+(?:(?:sources?|refs?|citations?)\s*+)?(?:[#:.]\s*+)?\d{1,9}"
    r"(?:\s*(?:,|;|&|and|[-–—]|to)\s*+(?:sources?\s*+)?\d{1,9})*\s*+(?:†[^\]]{0,200}+\s*+)?\]"
    r"|［\s*+\d{1,9}\s*+］"
    r"|【\s*+(?:sources?\s*+)?\d{1,9}(?:\s*(?:,|;|[-–—])\s*+\d{1,9})*\s*+(?:†[^】]{0,200}+\s*+)?】)"
)

_STOP = re.compile(
    r"(?<![.!?…])(?P<stop>[.!?…]++)(?P<close>(?:[\"'”’»)\]*_]|\[\^[^\]\s]{1,40}\])*+)(?P<marks>(?:[ \t]*"
    + MARKER_PATTERN
    + r")*)(?P<gap>\s++)(?=(?P<next>\S))",
    re.IGNORECASE,
)
MARKER = re.compile(MARKER_PATTERN, re.IGNORECASE)
_IN_CODE = re.compile(r"``(?:(?!``|'')[^\n])++``|`(?:(?!'')[^`\n])++`")
"""Code in its line; two apostrophes are the end of an old quotation (``so'')."""
_CITED_LINE = re.compile(r"[\]】］][ \t]{0,8}\n(?=[^\sa-z])")
_CITED = re.compile(MARKER_PATTERN + r"\Z", re.IGNORECASE)
_LONGEST_MARKER = 80
_BREAK = re.compile(
    r"\n[ \t]*\n\s*|\n(?=[ \t]*(?:[-*+•|>]\s|#{1,6}\s|\d{1,3}[.)]\s|[\[【]\s*(?:source\s*)?\d))|(?<=\n)\n",
    re.IGNORECASE,
)
_DASHED = re.compile(r"\n(?=[ \t]*–[ \t])")
"""Lines that begin with a dash: several are items of a list, one may go on with the line before."""
_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t][^\n]*\n", re.MULTILINE)
_ITEM = re.compile(r"[-*+•–][ \t]+")
_ITEM_MARKS = ("-", "*", "+", "•", "–")
_LAST_WORD = re.compile(r"(?<![\w.&'’-])[\w.&'’-]++$")
_PARAGRAPH = re.compile(
    r"(?:(?<=\n\n)|\A\s*+)(?P<first>[^\W_][^\n.!?:;]{2,79})\n"
    r"(?=(?P<rest>[A-Z0-9\"'“‘(][^\n]*+(?:\n[^\n]++)*+))"
)
"""A line without a stop that opens a paragraph, and the lines after it."""
_UNIT = re.compile(r"(?:° ?[A-Z]|\d ?[mglh])\Z")
"""A letter that is a unit, and no initial: `at 4 °C.`, `in 3 h.`"""
_WORD = re.compile(r"[^\W_]+")
_OPENED_WORD = re.compile(r"[\"'“‘(]*+(\w+)")


_OPENED_WORDS = word_list("the a an my our your his her their its this these such")
_ASKING = word_list("how what when where who why which")
_READS_ON = word_list(
    "as in on at to of by for from with before after since during under until against among but and or if that while "
    "although because had have has he she it they we i you there no one so than into upon can could will would shall "
    "should may might must"
)
"""Words that open a clause, or end one that goes on in the next line: `As Chief Executive`, `Our boat arrived at`."""
_MOST_TITLED = 3
"""Words of a title that begins with an article."""
_MOST_STEM = 40
_RAGGED = 8
"""Characters by which a line of wrapped text may fall short of the longest."""
_MAY_END = word_list("no co inc ltd jr sr etc al a.m p.m u.s u.s.a d.c b.c a.d esq ave blvd rd")
_STARTERS = word_list(
    "the a an in on at it he she they we i you this that these those there his her its their our but and so then when "
    "while after before as if for from by with no yes to of all many most some one two what who where why how however "
    "although since during under"
)

_AMOUNT = re.compile(r"(?<![^\s(\[])[^\w\s]?\d{1,12}(?:[.,]\d{1,12}){1,4}[^\w\s]?\Z")
_ZONE = re.compile(r"(?:[A-Z]{2,5}\b|(?:Eastern|Central|Mountain|Pacific|Greenwich|Standard|Daylight|Summer)\b)")
_CLOCK = word_list("a.m p.m")
_ALWAYS_OPENS = word_list(
    "the it they we she this that these those there in on at his her their our but and when while after before if from "
    "with since during under although however then its what where why"
)
"""Words that open a sentence and are no name behind an initial (`Lisa J. He`)."""
_NAMED = re.compile(r"(?<![^\W\d_])(?P<word>[^\W\d_]++)[ \t]\w\Z")


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` of a text, end exclusive."""

    start: int
    end: int


def split_sentences(text: str, *, lined: bool = False, finer: bool = True) -> tuple[Span, ...]:
    """The sentences of `text` as adjoining spans: their slices, joined, are `text`. Space after a sentence belongs to
    it; text of space alone, or none, has no sentence. Never raises."""
    if not text.strip():
        return ()
    cuts = {*_hard_cuts(text), *_soft_cuts(text, finer=lined and finer), *(_line_cuts(text) if lined else ())}
    cuts = _beside_code(text, cuts) if "`" in text or "\n    " in text or "\n\t" in text or "~~~" in text else cuts
    spans: list[Span] = []
    start = 0
    for cut in (*sorted(cuts), len(text)):
        if cut > start and text[start:cut].strip():
            spans.append(Span(start, cut))
            start = cut
    if start < len(text):
        spans[-1] = Span(spans[-1].start, len(text))
    return tuple(spans)


def trimmed(text: str, span: Span) -> Span:
    """The span without the space at its ends."""
    piece = text[span.start : span.end]
    start = span.start + len(piece) - len(piece.lstrip())
    return Span(start, max(start, span.start + len(piece.rstrip())))


@lru_cache(maxsize=256)
def bare_sentences(text: str, *, lined: bool = False) -> tuple[Span, ...]:
    """The sentences without the space around them and without the mark of an item of a list."""
    spans = (trimmed(text, span) for span in split_sentences(text, lined=lined))
    return tuple(
        Span(found.end() if (found := _ITEM.match(text, span.start)) else span.start, span.end) for span in spans
    )


def stems(text: str, spans: Sequence[Span]) -> list[str]:
    """Of each bare sentence the words before a colon that it goes on with, as an item of a list does that begins in the
    small: `Do not take it if you:` of `- are allergic to nuts`; empty for any other."""
    found: list[str] = []
    stem = ""
    for span in spans:
        item, said = is_item(text, span.start), " ".join(text[span.start : span.end].split())
        if not item:
            stem = said if said.rstrip("*_ ").endswith(":") and said.count(" ") < _MOST_STEM else ""
        found.append(stem if item and said[:1].islower() else "")
    return found


def is_item(text: str, start: int) -> bool:
    """True if the mark of an item of a list stands before `start`."""
    return text[start - 1 : start].isspace() and text[:start].rstrip(" \t").endswith(_ITEM_MARKS)


def _beside_code(text: str, cuts: set[int]) -> set[int]:
    """The cuts, but for those within code; with one behind each block, and one before it unless a colon, or a sentence
    that does not end there, says what it is for."""
    within = [(found.start() + 1, found.end()) for found in _IN_CODE.finditer(text)]
    ends = set[int]()
    for block in code_blocks(text):
        before = text[: block.start].rstrip()
        within.append((len(before), block.end))
        ends |= {block.start, block.end} if before.endswith((".", "!", "?")) else {block.end}
    for start, end in within:
        cuts = {cut for cut in cuts if not start <= cut < end}
    return cuts | ends


def _hard_cuts(text: str) -> list[int]:
    cuts = [m.end() for m in _BREAK.finditer(text)]
    dashes = [m.end() for m in _DASHED.finditer(text)] if "–" in text else []
    cuts += dashes if len(dashes) > 1 else []
    cuts += [m.end() for m in _HEADING.finditer(text)] if "#" in text else []
    for line in _CITED_LINE.finditer(text):  # a line of a draft ends with what is cited for it
        closed = line.start() + 1
        cuts += [line.end()] if _CITED.search(text, max(0, closed - _LONGEST_MARKER), closed) else []
    for found in _PARAGRAPH.finditer(text):
        opened = text[: found.start("first")].strip() or found.start("first") > found.start()
        if _had_room(found["first"], found["rest"]) and (opened or not _reads_on(found["first"], found["rest"])):
            cuts.append(found.start("rest"))
    return cuts


def _line_cuts(text: str) -> list[int]:
    """Before and after each line that stands alone."""
    found = lines_of(text)
    return [*(each.start for each in found), *(min(each.end + 1, len(text)) for each in found)]


def _had_room(first: str, rest: str) -> bool:
    """True if the line could have held the next word: it was ended on purpose, and is a title."""
    lines = rest.splitlines()
    return len(first) + 1 + len(lines[0].split(maxsplit=1)[0]) < max(map(len, lines)) - _RAGGED


def _reads_on(first: str, rest: str) -> bool:
    """True if a text that may have been cut out of the middle of a line opens with the end of that line, and not with a
    title."""
    words = [word.casefold() for word in _WORD.findall(first)]
    if first.rstrip("\"”’' ").endswith(",") or words[-1] in _READS_ON or words[-1] in _OPENED_WORDS:
        return True
    if words[0] in _OPENED_WORDS or words[0] in _ASKING:
        return len(words) > _MOST_TITLED and _next_word(rest, 0) not in _STARTERS
    return words[0] in _READS_ON and (_next_word(rest, 0) not in _STARTERS or _next_word(rest, 0) == "i")


def _soft_cuts(text: str, *, finer: bool) -> list[int]:
    return [
        m.start("next")
        for m in _STOP.finditer(text)
        if _ends_sentence(text, m) or (finer and m["stop"] == "." and not m["close"] and _ends_finer(text, m))
    ]


def _ends_finer(text: str, match: re.Match[str]) -> bool:
    """True if an amount, a time of day or a letter that is no initial ends a sentence."""
    opens = text[match.start("next") : match.start("next") + 40]
    stop = match.start("stop")
    start = max(text.rfind("\n", 0, stop) + 1, stop - 40)
    before, word = text[start:stop], _next_word(text, match.start("next"))
    if not opens.lstrip("\"'“‘(")[:1].isupper():
        return False
    if _AMOUNT.search(before):
        return bool(_AMOUNT.sub("", before).strip())  # `4.2. Fees` is the number of a section
    last = _LAST_WORD.search(before)
    said = last[0].lower() if last else ""
    if said in _CLOCK:
        return word not in DATES and not _ZONE.match(opens)
    if len(said) != 1 or not said.isalpha() or text[match.start("next") + len(word) :][:1] == ".":
        return False
    named = _NAMED.search(before)
    return word in _ALWAYS_OPENS or (named is not None and named["word"].islower() and word in _STARTERS)


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    following = match["next"]
    if match["stop"] != "." or match["marks"]:
        return not following.islower()
    if following.islower():
        return False
    if match["close"]:
        return True
    found = _LAST_WORD.search(text[max(0, match.start() - 40) : match.start("stop")])
    word = found[0].lower().strip("'’-") if found else ""
    if word in _MAY_END or (len(word) > 2 and "." in word):
        return _next_word(text, match.start("next")) in _STARTERS
    initial = len(word) == 1 and word.isalpha() and (word != "i" or text[match.start() - 1] == "I")
    if initial and _UNIT.search(text, max(0, match.start("stop") - 8), match.start("stop")):
        return True
    return word not in ABBREVIATED and not initial


def _next_word(text: str, start: int) -> str:
    found = _OPENED_WORD.match(text, start)
    return found[1].lower() if found else ""
