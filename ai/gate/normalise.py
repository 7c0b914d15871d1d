"""Folding of text for detection only: what a reader sees, not what bytes say. Stored text and offsets stay original.

NFKD with marks removed and case folded (so a pattern needs neither accents nor full-width forms), default-ignorable
characters dropped (UAX #44 Default_Ignorable_Code_Point), Unicode tag characters read as the ASCII that they hide, and
lookalikes of Latin letters (UTS #39) folded token by token, as a second view, so that honest Cyrillic or Greek stays
what it is.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

# Default-ignorables that are not in category Cf; all of Cf is dropped as well.
_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)

# Lookalikes of Latin lower-case letters after NFKD and case folding; each row: the letter, then what is read as it.
_LOOKALIKES = {
    "a": "аαɑᴀ⍺",
    "b": "вьβʙƄ",
    "c": "сϲᴄↄ",
    "d": "ԁᴅɗժ",
    "e": "еєεҽᴇɛ℮",
    "f": "ғꜰƒϝ",
    "g": "ɡɢցԍ",
    "h": "һнηհʜ",
    "i": "іιıɪӏ",
    "j": "јϳᴊյ",
    "k": "кκᴋ",
    "l": "ʟǀⅼլ",
    "m": "мᴍμ",
    "n": "пɴռո",
    "o": "оοσօᴏө",
    "p": "рρᴘ",
    "q": "ԛգǫ",
    "r": "гʀᴦ",
    "s": "ѕꜱʂ",
    "t": "тτᴛ",
    "u": "υᴜսџʋ",
    "v": "ѵνᴠ",
    "w": "ԝωᴡա",
    "x": "хχ",
    "y": "уγʏү",
    "z": "ᴢʐ",
}
_ASCII_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_LATIN = {ord(char): letter for letter, chars in _LOOKALIKES.items() for char in chars}
_LOOKING_LATIN = frozenset(map(chr, _LATIN))
_TOKEN = re.compile(r"[^\W\d_]+")
_LEET = str.maketrans("013457@$", "oieastas")
_LEET_L = str.maketrans("013457@$", "oleastas")
_ROT13 = str.maketrans("abcdefghijklmnopqrstuvwxyz", "nopqrstuvwxyzabcdefghijklm")
_SPACED = re.compile(r"(?<![^\W_])[^\W_](?:[\W_]{1,3}[^\W_](?![^\W_])){4,}")


@dataclass(frozen=True, slots=True)
class View:
    """A text to search in, and for each of its code points the original's; `origin` None means one to one."""

    text: str
    origin: tuple[int, ...] | None = None
    backwards: bool = False

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The original's half-open span of `[start, end)` in this view; an empty span stays empty."""
        if self.backwards:
            start, end = len(self.text) - end, len(self.text) - start
        if self.origin is None or start >= end:
            return start, max(start, end)
        return self.origin[start], self.origin[end - 1] + 1


def fold(text: str) -> View:
    """The text as a reader would say it aloud, lower case. One to one (no map) unless characters vanish or expand."""
    if text.isascii():
        return View(text.lower())
    folded = text
    uneven: dict[str, str] = {}
    for char in set(text):
        if not char.isascii():
            plain = _fold_char(char)
            if len(plain) != 1:
                uneven[char] = plain
            elif plain != char:
                folded = folded.replace(char, plain)
    return _fold_unevenly(folded, uneven) if uneven else View(_lower(folded))


def latin(view: View) -> View:
    """The view with lookalikes read as Latin in each token that can wholly be read so."""
    if _LOOKING_LATIN.isdisjoint(set(view.text)):
        return view

    def as_latin(match: re.Match[str]) -> str:
        token = match.group()
        read = token.translate(_LATIN)
        return read if read.isascii() else token

    return View(_TOKEN.sub(as_latin, view.text), view.origin)


def unleet(view: View) -> tuple[View, View]:
    """Digits and signs read as the letters that they stand for; `1` is read as i, then as l."""
    return View(view.text.translate(_LEET), view.origin), View(view.text.translate(_LEET_L), view.origin)


def unleet_word(word: str) -> tuple[str, str]:
    """One word in both readings of `unleet`."""
    return word.translate(_LEET), word.translate(_LEET_L)


def rot13(view: View) -> View:
    """The view under ROT13."""
    return View(view.text.translate(_ROT13), view.origin)


def rot13_word(word: str) -> str:
    """One word under ROT13."""
    return word.translate(_ROT13)


def reversed_view(view: View) -> View | None:
    """The view read backwards."""
    return View(view.text[::-1], None, backwards=True) if view.origin is None else None


def joined(view: View) -> View:
    """Only the runs of single letters ("i g n o r e"), each joined to a word, one run per line."""
    chars: list[str] = []
    origin: list[int] = []
    for match in _SPACED.finditer(view.text):
        for at in range(match.start(), match.end()):
            char = view.text[at]
            if char.isalnum():
                chars.append(char)
                origin.append(at)
        chars.append("\n")
        origin.append(match.end() - 1)
    if view.origin is not None:
        origin = [view.origin[at] for at in origin]
    return View("".join(chars), tuple(origin))


def hidden_text(text: str) -> View:
    """The text that Unicode tag characters (U+E0020..U+E007E) spell, with their places."""
    if max(text, default="") < "\U000e0020":
        return View("", ())
    places = [at for at, char in enumerate(text) if 0xE0020 <= ord(char) <= 0xE007E]
    return View("".join(chr(ord(text[at]) - 0xE0000) for at in places).lower(), tuple(places))


def _fold_unevenly(folded: str, uneven: dict[str, str]) -> View:
    """The rest of `fold`: each of the `uneven` characters becomes what it reads as, and the map keeps its place."""
    parts: list[str] = []
    origin: list[int] = []
    done = 0
    for match in re.finditer(f"[{''.join(map(re.escape, uneven))}]", folded):
        at = match.start()
        plain = uneven[match.group()]
        parts.extend((folded[done:at], plain))
        origin.extend(range(done, at))
        origin.extend([at] * len(plain))
        done = at + 1
    origin.extend(range(done, len(folded)))
    return View(_lower("".join((*parts, folded[done:]))), tuple(origin))


def _lower(folded: str) -> str:
    """ASCII letters in lower case; the rest is folded already, and `str.lower` could change its length."""
    return folded.lower() if folded.isascii() else folded.translate(_ASCII_LOWER)


@lru_cache(maxsize=4096)
def _fold_char(char: str) -> str:
    """The reading of one non-ASCII code point: nothing, a letter or a few, or an ASCII sign of its kind."""
    if _IGNORABLE.match(char) or unicodedata.category(char) == "Cf":
        return ""
    squared = ord(char) - 0x1F130  # squared, negative circled and regional letters that NFKD leaves alone
    if 0 <= squared <= 0xCF and char.isprintable() and "LETTER" in unicodedata.name(char, ""):
        return unicodedata.name(char)[-1].lower()
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", char).casefold())
    letters = "".join(part for part in decomposed if not unicodedata.combining(part))
    if len(letters) == 1 and letters.isalnum():
        return letters
    if any(part.isalpha() for part in letters):
        return letters
    return letters if len(letters) == 1 and letters.isascii() else _sign(char)


_SIGNS = {
    "Pd": "-",
    "Pi": '"',
    "Pf": '"',
    "Po": ".",
    "Ps": "(",
    "Pe": ")",
    "Mn": "",
    "Me": "",
    "Zs": " ",
    "Zl": "\n",
    "Zp": "\n",
}


def _sign(char: str) -> str:
    """An ASCII sign of the same kind, so that patterns see word and sentence ends."""
    return "'" if char in "‘’‛‹›" else _SIGNS.get(unicodedata.category(char), ".")
