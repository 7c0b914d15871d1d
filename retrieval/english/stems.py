"""Stems of English words (Snowball, by PyStemmer), and what irregular forms and doers of a deed share."""

from __future__ import annotations

from functools import lru_cache

import Stemmer

_SNOWBALL = Stemmer.Stemmer("english", 0)
_FAMILIES = (
    "be been | become became | begin began begun | bear bore born borne | bite bit bitten | blow blew blown | "
    "break broke broken | bring brought | build built | burn burnt | buy bought | catch caught | choose chose "
    "chosen | come came | deal dealt | die died dead death | dig dug | draw drew drawn | drink drank drunk | "
    "drive drove driven | eat ate eaten | fall fell fallen | feed fed | feel felt | fight fought | find found | "
    "flee fled | fly flew flown | freeze froze frozen | get got gotten | give gave given | go went gone | grow "
    "grew grown | hang hung | hear heard | hide hid hidden | hold held | keep kept | know knew known | lead led | "
    "leave left | lend lent | lie lay lain | lose lost | make made | mean meant | meet met | pay paid | ride rode "
    "ridden | ring rang rung | rise rose risen | run ran | say said | see saw seen | seek sought | sell sold | "
    "send sent | shake shook shaken | shoot shot | sing sang sung | sink sank sunk | sleep slept | speak spoke "
    "spoken | spend spent | stand stood | steal stole stolen | strike struck stricken | swear swore sworn | sweep "
    "swept | swim swam swum | take took taken | teach taught | tear tore torn | tell told | think thought | throw "
    "threw thrown | understand understood | wear wore worn | win won | write wrote written | child children | man "
    "men | woman women | foot feet | ox oxen | wife wives | life lives | rebuild rebuilt | rewrite rewrote rewritten | "
    "repay repaid | resell resold | retell retold | redo redid redone | remake remade | retake retook retaken | "
    "rethink rethought | rerun reran | undergo underwent undergone | undo undid undone | undertake undertook "
    "undertaken | overcome overcame | oversee oversaw overseen | overtake overtook overtaken | overthrow overthrew "
    "overthrown | outgrow outgrew outgrown | withdraw withdrew withdrawn | withhold withheld | withstand withstood | "
    "mislead misled | mistake mistook mistaken | foresee foresaw foreseen | forget forgot forgotten | forgive forgave "
    "forgiven | forbid forbade forbidden | uphold upheld | arise arose arisen | wake woke woken | awake awoke awoken | "
    "bend bent | bind bound | bleed bled | breed bred | cling clung | creep crept | dream dreamt | kneel knelt | leap "
    "leapt | learn learnt | light lit | shine shone | shrink shrank shrunk | slide slid | spill spilt | spin spun | "
    "spring sprang sprung | stick stuck | sting stung | strive strove striven | swell swollen | swing swung | tread "
    "trod trodden | weave wove woven | weep wept | sew sewn | sow sown | mow mown | prove proven | show shown | do did "
    "done | goose geese | mouse mice | tooth teeth"
)
IRREGULAR = {word: family.split()[0] for family in _FAMILIES.split("|") for word in family.split()}

_MANY = frozenset(("men", "women", "children", "people", "oxen", "geese", "mice", "cattle"))
_MAY_BE_MANY = _MANY | {"feet", "teeth", "sheep", "fish", "deer", "aircraft"}
"""With those that are counted, but seldom do anything, and those that may be one."""


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The English Snowball stem of a folded word."""
    return str(_SNOWBALL.stemWord(word))


@lru_cache(maxsize=65536)
def root_of(word: str) -> str:
    """The common part of the forms of a folded word: `ate` and `eats`, `farmer` and `farming`."""
    root = stem(IRREGULAR.get(word, word))
    return root[:-2] if root.endswith("er") and len(root) > 5 else root


def is_past(word: str) -> bool:
    """True for a folded verb in the past or its participle: `painted`, `sold`."""
    return word.endswith("ed") or (word in IRREGULAR and IRREGULAR[word] != word)


def is_many(word: str) -> bool:
    """True for a folded noun that means several: `whales`, `children`."""
    return (word.endswith("s") and not word.endswith(("ss", "us", "is"))) or word in _MANY or word == "police"


def may_be_many(word: str) -> bool:
    """True for a folded noun that may be a plural: `keys`, `sheep`; `bus` too."""
    return word in _MAY_BE_MANY or (word.endswith("s") and not word.endswith("ss"))
