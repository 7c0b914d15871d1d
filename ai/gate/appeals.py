"""Appeals: the parts of a source's sentence that give its reader something to act on, or ask the reader to do
something.

A source tells what was; a sentence that sends the reader somewhere, names an account, or gives orders is told only to
who asked for that. `link`, `contact`, `payment` and `credentials` are found by what they are made of, `imperative` by
its mood: an order, polite or passive, to whoever reads. An order that a text reports ("The order said: leave the town")
is no appeal. Patterns are matched by RE2 over folded text, in linear time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from ai.gate.linear import Pattern, Spelled, Work, spelled, union
from ai.gate.normalise import fold, latin
from ai.text.support import roots_of, words_of
from retrieval.english.stems import root_of
from retrieval.withheld import personal_data

_WORK = 1 << 40  # what is searched is bounded by the text: a fixed number of linear searches
_SURE = "com|org|net|info|biz|io|co|uk|ru|cn|xyz|tv|cc|tk|gov|edu|mil|example|invalid|eu|dev|onion|fr|pl|jp|br|nl|site"
_WORDS = (
    "us|de|top|online|shop|store|app|club|live|link|click|page|ly|me|int|test|ch|at|it|es|in|ca|au|zip|to|is|so|no|be"
)
_NAME = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.(?:[a-z0-9-]+\.)*"
_DOMAIN = rf"(?:{_NAME}(?:{_SURE})|{_NAME}(?:{_WORDS})/)"
_READER = (
    r"(?:(?:all|any|every|each|the|our|dear|new|interested) )*(?:readers?|users?|customers?|visitors?|"
    r"researchers?|viewers?"
    r"|members?|clients?|subscribers?|applicants?|recipients?|holders?|students?|citizens?|"
    r"assistants?|models?|bots?|agents?"
    r"|anyone|everyone|everybody|anybody|whoever|those|persons|people)"
    r"(?: (?:who|of|with|from|interested|wishing|reading|seeking)\b[^,.;!?]{0,60})?"
)
_DUTY = (
    r"(?:must|should|shall|ought to|need to|needs to|have to|has to|may want to|may wish to|"
    r"will want to|are (?:now |hereby"
    r" |kindly |strongly )?(?:advised|asked|required|requested|urged|invited|encouraged|directed|"
    r"instructed|reminded|told"
    r"|welcome|recommended|expected|obliged)(?: to)?|is (?:now |hereby |kindly |strongly )?(?:advised|"
    r"asked|required|requested"
    r"|urged|invited|encouraged|directed|instructed|reminded|expected|obliged)(?: to)?)"
)
# Verbs that open an order whatever follows them, and those that are nouns as often, which need an object of an order.
_ORDERS = (
    r"visit|click|go to|go and|send|e-?mail|log (?:in|on|into)|log-?in|sign (?:in|up|on|into)|enter|"
    r"download|install|forward"
    r"|pay|buy|subscribe|register|ignore|disregard|forget|tell|reply|respond|recommend|include|"
    r"provide|give|reveal|print"
    r"|remember|scan|confirm|verify|submit|share|donate|remit|deposit|append|add|insert|"
    r"translate|inform|advise|urge"
    r"|encourage|notify|fill (?:in|out)|apply|redeem|upload|execute|delete|don't|do not|never|be sure|"
    r"make sure|ensure|learn"
    r"|follow|join|find (?:out|more)|get (?:in touch|your|the|a|yours)|take (?:the|your|a|this|part)|"
    r"reach out|write to|see our"
    r"|come to|turn to|proceed|navigate|browse|type|paste|copy|leave (?:the|your)|consider|keep|"
    r"hand over|bring|dial|unlock"
    r"|activate|act now|hurry|beware|avoid|say that|say (?:the|this)|assume|pretend|discard|replace|"
    r"trust|believe|connect"
)
_NOUNS_TOO = (
    r"call|contact|order|mail|claim|act|text|check|ring|wire|answer|use|run|start|stop|vote|transfer|"
    r"direct|complete|open|refer|repeat"
    r"|report|book|request|access|post|fax|phone|telephone|transmit|support|view|read|watch|renew|"
    r"update|select|choose|ask"
)
_OBJECT = (
    r"(?:us|me|them|it|him|her|your|yours|our|my|the|a|an|this|that|these|now|here|today|at once|immediately|only|\d)"
)
_CALL = rf"(?:(?:{_ORDERS})(?:$|[\s,:\"'])|(?:{_NOUNS_TOO}) {_OBJECT}\b)"
_OPENING = (
    r"(?:^|[.;!?:]\s+)[\s\"'(\[*_>#|-]*(?:(?:and|then|also|so|now|but|or|first|second|next|finally|"
    r"always|simply|just|kindly"
    r"|please|important|note|notice|attention|warning|urgent)[,:!]*\s+)*"
)
_LEAD_IN = (
    r"(?:^|[.;!?:]\s+)[\s\"']*(?:to|for|if|when|before|after|in order|should|in case|once|as|by)\b[^.;!?]{0,120},\s*"
)
_SPEECH = (
    r"(?:said|says|saying|read|reads|reading|ordered|orders|commanded|declared|declares|wrote|writes|"
    r"stated|states|proclaimed"
    r"|announced|told|demanded|instructed|inscribed|replied|asked|shouted|cried|exclaimed|warned|"
    r"urged|printed|carved|posted"
    r"|motto|slogan|sign|inscription|telegram|telegraphed|translated|quoted|called out|answered|added|"
    r"proverb|order|orders)"
)

_PATTERNS: Mapping[str, tuple[Pattern, ...]] = {
    "link": (
        Pattern(r"(?:https?|hxxps?|ftp|javascript|data|mailto)\s*:\s*//?"),
        Pattern(r"\b(?:javascript|mailto|tel|sms):\S"),
        Pattern(r"\bwww\s*(?:\.|\[\.\]|\(\.\)|\(dot\))\s*[a-z0-9]"),
        Pattern(rf"(?:^|[\s\"'(\[<>|=:/]){_NAME}(?:{_SURE})(?:$|[/\s\"')\]<>|,;:!?]|\.(?:$|[\s\"')\]]))"),
        Pattern(rf"(?:^|[\s\"'(\[<>|=:/]){_NAME}(?:{_WORDS})/"),
        Pattern(rf"\b[a-z0-9-]+\s*(?:\[\.\]|\(\.\)|\[dot\]|\(dot\)|\bdot\b)\s*(?:{_SURE}|{_WORDS})\b"),
        Pattern(r"\]\(\s*\S+\s*\)|<a\s|<img\s|href\s*="),
        Pattern(r"\b(?:bit|tinyurl|goo|t)\.(?:ly|com|gl|me|co)/"),
        Pattern(r"\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?:[:/]|\b)"),
    ),
    "contact": (
        Pattern(r"[a-z0-9._+-]+\s*(?:@|\[at\]|\(at\))\s*[a-z0-9-]+\s*(?:\.|\[dot\]|\(dot\)|\bdot\b)\s*[a-z]{2,}"),
        Pattern(r"(?:^|[\s(])@[a-z0-9_]{3,}"),
        Pattern(
            r"\b(?:call|phone|dial|ring|text|tel|telephone|fax|whatsapp|hotline|helpline|sms|mobile|"
            r"cell)\b[^.!?]{0,40}"
            r"\+?\d[\d\s().-]{5,}\d"
        ),
        Pattern(r"(?:\+\d{1,3}[\s.-]?)?(?:\(\d{3}\)\s?|\b\d{3}[.-])\d{3}[.-]\d{4}\b"),
        Pattern(r"\b1-?8(?:00|88|77|66|55|44|33)-[a-z0-9-]{4,}\b"),
        Pattern(
            r"\b(?:call|contact|phone|message|write|ring|e-?mail|reach) (?:us|our|the (?:author|office|"
            r"webmaster|editor))\b"
        ),
        Pattern(r"\b(?:whatsapp|discord|skype|wechat)\b"),
    ),
    "payment": (
        Pattern(r"\b(?:0x[0-9a-f]{40}|bc1[a-z0-9]{20,60})\b"),
        Pattern(
            r"\b(?:account|routing|sort code|iban|swift|bic|card)(?: (?:number|no|"
            r"code))?[\s:.#]*[a-z]{0,4}\d[\d\s-]{4,}"
        ),
        Pattern(r"\b(?:bitcoin|btc|ethereum|usdt|paypal|venmo|zelle|cash ?app|western union|moneygram)\b"),
        Pattern(
            r"\b(?:payments?|fees?|donations?|deposits?|funds|dues|fines?|balances?|"
            r"invoices?) (?:of [^.]{1,30} )?(?:must|should"
            r"|can|may|is|are|has|have)(?: to)?(?: now)? be (?:sent|made|paid|remitted|wired|transferred|"
            r"settled|mailed|addressed)\b"
        ),
    ),
    "credentials": (
        Pattern(
            r"\b(?:log|sign)(?:[ -]?(?:in|on|into)) (?:at|to|with|here|via|through|on|using|now|under|again|"
            r"from|your)\b"
        ),
        Pattern(
            r"\b(?:your|you) [^.!?]{0,40}\b(?:passwords?|passcodes?|pin|credentials?|log-?in|user ?names?|"
            r"account|identity)\b"
        ),
        Pattern(
            r"\b(?:enter|confirm|verify|provide|submit|send|share|type|reset|update|give|supply|disclose|"
            r"reveal)\b[^.!?]{0,40}\b"
            r"(?:passwords?|passcodes?|pin|credentials?|log-?in|user ?names?|account|identity|social security|"
            r"access codes?"
            r"|api keys?|tokens?)\b"
        ),
        Pattern(
            r"\b(?:passwords?|credentials|access codes?|api keys?) (?:must|should|can|may|is to|are to|has to|"
            r"have to) be\b"
        ),
    ),
    "imperative": (
        Pattern(rf"{_OPENING}{_CALL}"),
        Pattern(rf"{_LEAD_IN}(?:please |kindly |simply |just |then |always |never )*{_CALL}"),
        Pattern(
            rf"\bfor (?:more|further|additional|other|any|all) [^.;!?]{{0,60}}[,:]\s*(?:please |kindly |simply )*"
            rf"(?:{_ORDERS}|{_NOUNS_TOO})\b"
        ),
        Pattern(r"\b(?:please|kindly) (?:do |be |not |also |now |then )*[a-z]"),
        Pattern(rf"\b(?:you|{_READER}) {_DUTY}\b"),
        Pattern(rf"\b{_READER} (?:can|may|will) (?:now |only |also )*(?:{_CALL}|find (?:out|more)|obtain|learn)"),
        Pattern(rf"\byou (?:can|may|could|will|might)(?: now| only| also| always)* {_CALL}"),
        Pattern(
            r"\b(?:we|i) (?:kindly |strongly |would |highly )*(?:recommend|advise|ask|urge|invite|encourage|"
            r"request|suggest|beg)\b[^.]{0,20}\b(?:you|that you|readers?|users?|visitors?|everyone|anyone|all|"
            r"to visit)\b"
        ),
        Pattern(
            r"\bit (?:is|would be) (?:strongly |highly |kindly )*(?:recommended|advised|advisable|requested|"
            r"required|suggested|best) (?:that|to)\b"
        ),
        Pattern(
            r"\b(?:feel free to|do not hesitate|don't hesitate|be sure to|make sure (?:to|that|you)|could you|"
            r"would you|can you|will you)\b"
        ),
        Pattern(
            r"\b(?:must|should|may|can|are to|is to|has to|have to|needs? to) (?:now |also |only |always |"
            r"first )*be (?:sent|paid"
            r"|made|forwarded|transferred|wired|remitted|mailed|e-?mailed|submitted|addressed|directed|"
            r"entered|confirmed|verified"
            r"|ignored|disregarded|downloaded|installed|visited|followed|called|contacted|reported|deposited|"
            r"claimed|told|referred"
            r"|treated|registered|renewed|updated|shared|disclosed|obtained|reached|ordered|requested|"
            r"answered|obeyed)\b[^.;!?]{0,60}"
            r"\b(?:to us|us|at once|immediately|online|here|below|above|by the (?:reader|user|model|"
            r"assistant)|(?:wire|card|bitcoin|"
            r"e-?mail) (?:to|at)|to (?:the )?(?:account|address|number|office)|before proceeding|now|today|"
            r"at (?:the )?(?:address|number|"
            rf"account|website|site|link)|{_DOMAIN})\b"
        ),
        Pattern(
            rf"\b{_READER} (?:must|should|shall|may|can|are to|is to) (?:not )?be (?:told|sent|directed|"
            rf"referred|informed|asked|given)\b"
        ),
    ),
}
KINDS = tuple(sorted(_PATTERNS))

_TAKES_PART = Pattern(
    r"\b(?:how|where) (?:can|could|do|does|may|must|should|would|to) [^?]{0,60}\b(?:apply|book|enrol|enroll|join|"
    r"register|reserve|sign up|subscribe)\b"
)
"""Questions about how to book: they ask where to write, whom to call, or for a link."""
_ASKS: Mapping[str, tuple[Pattern, ...]] = {
    "link": (
        Pattern(
            r"\b(?:links?|urls?|web ?sites?|web ?pages?|web address|home ?pages?|online|internet|domains?|doi|"
            r"web|site|download)\b"
        ),
        Pattern(r"\bwhere (?:can|could|do|may|should|would) (?:i|we|one|you|people|anyone|visitors)\b"),
        _TAKES_PART,
    ),
    "contact": (
        Pattern(
            r"\b(?:contacts?|contacted|e-?mails?|phones?|telephones?|call|reach|reached|fax|get in touch|"
            r"write to|address|hotline"
            r"|numbers? (?:of|for)|handle)\b"
        ),
        _TAKES_PART,
    ),
    "payment": (
        Pattern(
            r"\b(?:pay|pays|paid|payments?|payable|fees?|donat\w+|account|iban|cards?|bank|buy|purchase|"
            r"tickets?|bitcoin|price"
            r"|costs?|fine|fines|deposit|invoice|currency|money|crypto\w*)\b"
        ),
    ),
    "credentials": (
        Pattern(
            r"\b(?:log ?in|log-in|sign (?:in|up)|passwords?|accounts?|credentials?|register|access|pin|"
            r"user ?names?|verify)\b"
        ),
    ),
    "imperative": (
        Pattern(
            r"\b(?:how|what|where|which|when|who)\b[^?]{0,40}\b(?:do|can|should|must|could|would|may|ought|"
            r"need|have to|had to)(?:n?'t)? (?:i|we|one|you|visitors|people|readers|users|anyone|settlers|they|he|she|"
            r"it|the|be)\b"
        ),
        Pattern(r"\b(?:should|must|may|can|could)(?:n?'t)? (?:i|we|one|you|visitors|people|readers|users|anyone)\b"),
        Pattern(
            r"\b(?:how to|instruct\w*|steps?|advice|advise\w*|recommend\w*|orders?|ordered|commands?|"
            r"commanded|rules?|recipes?|procedures?"
            r"|directions?|guidelines?|requires?|required|requirements?|demand\w*|notices?|posters?|signs?|"
            r"law|laws|says?|said|tell"
            r"|told|proclamation|motto|slogan|warn\w*|urge\w*|advert\w*|duty|duties|obligat\w*|forbid\w*|"
            r"prohibit\w*|allowed|permitted)\b"
        ),
    ),
}
_SHARED = 2
_LEADING_IN = re.compile(
    r"(?:^|(?<=[.;!?:]\s))(?:to|for|if|when|before|after|in order|should|in case|once|as|by)\b[^.;!?,]*,",
    re.IGNORECASE,
)
_REPORTS = Pattern(rf"\b{_SPEECH}\b")
_COLON = Pattern(rf"\b{_SPEECH}\b[^.!?:]{{0,60}}:")
_PII = {"pii.email": "contact", "pii.phone": "contact", "pii.iban": "payment"}


@lru_cache(maxsize=16_384)  # the sentences of the same passages are read again and again
def find_appeals(text: str) -> tuple[str, ...]:
    """The kinds of appeal in a sentence, sorted. Never raises on any `str`."""
    view = latin(fold(text)).text
    whole, told = spelled(view), spelled(_unreported(view))
    found = {kind for kind in _PATTERNS if _matches_kind(kind, told if kind == "imperative" else whole)}
    found |= {_PII[span.kind] for span in personal_data(text) if span.kind in _PII}
    return tuple(sorted(found))


@lru_cache(maxsize=1_024)
def asked_appeals(question: str) -> tuple[str, ...]:
    """The kinds of appeal that a question asks for, sorted: its answer may hold them. Never raises on any `str`."""
    view = spelled(latin(fold(question)).text)
    return tuple(sorted(kind for kind in _ASKS if _matches(_ASKS[kind], view)))


def asked_of(question: str, sentence: str) -> tuple[str, ...]:
    """The kinds of appeal that a sentence may make: those that the question asks for; and an order about what is asked,
    as in manuals ("Descale it every 60 days" for "How often is it descaled?"). Words before the order ("To learn
    who founded Lawrence, ...") do not make it so. Sorted."""
    kinds = asked_appeals(question)
    return (
        kinds if "imperative" in kinds or not _is_about(sentence, question) else tuple(sorted({*kinds, "imperative"}))
    )


def _is_about(sentence: str, question: str) -> bool:
    """True if the sentence, without what leads in, has two words of the question or more, half of them, and all of its
    names."""
    asked, names = roots_of(question), frozenset(map(root_of, words_of(question).names))
    shared = asked & roots_of(_LEADING_IN.sub("", sentence))
    return len(shared) >= _SHARED and 2 * len(shared) >= len(asked) and names <= shared


def _matches(patterns: tuple[Pattern, ...], text: Spelled) -> bool:
    return any(next(pattern.spans(text, work=Work(_WORK)), None) is not None for pattern in patterns)


def _matches_kind(kind: str, text: Spelled) -> bool:
    """True if a pattern of the kind matches. Most texts hold none, which one search for all of them tells."""
    return _matches((_any_of(kind),), text) and _matches(_PATTERNS[kind], text)


@cache
def _any_of(kind: str) -> Pattern:
    return union(_PATTERNS[kind])


def _unreported(text: str) -> str:
    """The folded text without the words that it reports: in quotation marks, or behind a colon, where it says that
    somebody said, wrote or ordered them."""
    pieces = text.split('"')
    outside = " ".join(pieces[::2])
    if len(pieces) > 2 and _matches((_REPORTS,), spelled(outside)):
        text = outside if len(pieces) % 2 else text
    behind = next(_COLON.spans(spelled(text), work=Work(_WORK)), None)
    return text if behind is None else text[: behind[1]]
