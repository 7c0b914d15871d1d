"""Text of e-mail (RFC 5322) and of mailboxes (RFC 4155): each message under its subject."""

from __future__ import annotations

import email.policy
import re
from collections.abc import Iterator
from dataclasses import replace
from email.message import EmailMessage
from email.parser import BytesParser
from email.utils import parsedate_to_datetime

from retrieval.errors import LoadError
from retrieval.ingest.formats.html import html_runs
from retrieval.ingest.parsing.runs import Run, text_of
from retrieval.ingest.values import About, Extracted

_FROM = re.compile(rb"^From [^\n]*\n", re.MULTILINE)
_BLANK = re.compile(rb"(?:\A|\n\r?\n)\Z")
_QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)
_MOST_PARTS = 1_000
_HEADERS = ("From", "To", "Cc", "Date")
_HEAD = re.compile(rb"[!-9;-~]{1,76}[ \t]*:")


def read_message(name: str, data: bytes) -> Extracted:
    """One message: its subject is the heading, then who, to whom and when, then its words. Files that it carries are
    left out and told. Raises `LoadError`."""
    if not _HEAD.match(data.lstrip()):
        raise LoadError(f"{name}: not a readable message (it has no header)")
    left_out: list[str] = []
    message = _parsed(name, data)
    return replace(text_of(_runs(name, message, left_out)), slips=tuple(left_out), about=_about(message))


def read_mailbox(name: str, data: bytes) -> Extracted:
    """The messages of a mailbox in its order. Raises `LoadError`."""
    starts = [match for match in _FROM.finditer(data) if _BLANK.search(data, max(0, match.start() - 4), match.start())]
    if not starts or data[: starts[0].start()].strip():
        raise LoadError(f"{name}: not a readable mailbox (it does not begin with a message)")
    ends = [*(match.start() for match in starts[1:]), len(data)]
    left_out: list[str] = []
    runs: list[Run] = []
    for number, (match, end) in enumerate(zip(starts, ends, strict=True), 1):
        told: list[str] = []
        message = _parsed(name, _QUOTED.sub(rb"\1", data[match.end() : end]))
        runs += _runs(name, message, told)
        left_out += [f"message {number}: {each}" for each in told]
    return replace(text_of(runs), slips=tuple(left_out))


def _parsed(name: str, data: bytes) -> EmailMessage:
    try:
        return BytesParser(EmailMessage, policy=email.policy.default).parsebytes(data)
    except MemoryError:
        raise
    except Exception as exc:  # the parser raises whatever it meets in a header that is not what it says
        raise LoadError(f"{name}: not a readable message ({type(exc).__name__})") from exc


def _about(message: EmailMessage) -> About:
    try:
        sent = parsedate_to_datetime(str(message["Date"])).date().isoformat() if message["Date"] else None
    except ValueError:
        sent = None
    return About(_header(message, "Subject"), _header(message, "From"), sent)


def _header(message: EmailMessage, name: str) -> str | None:
    """A header decoded; one that cannot be is as it stands."""
    try:
        value = message[name]
        return str(value).strip() or None if value is not None else None
    except Exception:  # the policy decodes a header when it is asked for
        return next((str(raw).strip() for key, raw in message.raw_items() if key.lower() == name.lower()), None)


def _runs(name: str, message: EmailMessage, left_out: list[str]) -> Iterator[Run]:
    yield Run(_header(message, "Subject") or "Without a subject", 1)
    yield Run("; ".join(f"{each}: {told}" for each in _HEADERS if (told := _header(message, each))))
    parts = _parts(name, message)
    plain = [part for part in parts if part.get_content_type() == "text/plain" and not _carried(part)]
    pages = [part for part in parts if part.get_content_type() == "text/html" and not _carried(part)]
    for part in plain or pages:
        words = _content(part)
        if part.get_content_type() == "text/html":
            yield from (Run(run.words, run.level + 1 if run.level else 0) for run in html_runs(name, words))
        else:
            yield from map(Run, re.split(r"\n[ \t]*\n", words.replace("\r\n", "\n")))
    for part in parts:
        if _carried(part) or part.get_content_maintype() != "text":
            left_out.append(f"attachment {(part.get_filename() or part.get_content_type())[:80]!r}")


def _parts(name: str, message: EmailMessage) -> list[EmailMessage]:
    """The parts that hold content, in order; those of a message that is carried are not looked into."""
    found: list[EmailMessage] = []
    stack = [message]
    while stack:
        part = stack.pop()
        if part.get_content_maintype() == "multipart" and part.is_multipart():
            stack += reversed([each for each in part.iter_parts() if isinstance(each, EmailMessage)])
        else:
            found.append(part)
        if len(found) + len(stack) > _MOST_PARTS:
            raise LoadError(f"{name}: a message of more than {_MOST_PARTS} parts")
    return found


def _carried(part: EmailMessage) -> bool:
    return part.get_content_disposition() == "attachment" or bool(part.get_filename())


def _content(part: EmailMessage) -> str:
    """The words of a text part; in an encoding that is not known, as Windows-1252."""
    try:
        return str(part.get_content())
    except (LookupError, UnicodeError, KeyError, ValueError):
        raw = part.get_payload(decode=True)
        return raw.decode("cp1252", "replace") if isinstance(raw, bytes) else ""
