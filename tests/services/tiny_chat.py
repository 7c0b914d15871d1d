"""A chat model for a real Ollama: two layers of the llama architecture whose weights are set by hand, not learned.

Given a prompt of `focus_mode`, it answers with the first line of the first source, after that source's marker:
`[1] Shawnee County had 85,200 inhabitants in 1930.` Without a source it says nothing that makes sense. It is an
induction head (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits") with two additions:

- Layer 0 gives every position the codes of the six tokens before it (one head per distance: rotary phases single it
  out), the number of the source that it lies in (the latest `<source n="1"`), and whether it lies in a source's text
  rather than its title (the latest of `<source` and the tag's end).
- Layer 1 looks, inside the text of the source that is being quoted, for the place whose preceding tokens are most like
  the latest ones, the earliest of equals, and gives the token that stands there.
- After the prompt it looks instead for the earliest `<source` and gives its marker `[1] `, whose code is that of the
  tag's end, so that the next token is the text's first. A line's end counts as the end of the answer.

Tokens are those of a byte pair encoding of the template and the sample corpus. A code is a word of the Hamming code
[15, 11]: any two differ in at least three of fifteen signs. Scores are in nats.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from tests.services.tiny_gguf import CONTROL, NORMAL, USER_DEFINED, Tensor, single, write_gguf

ROOT = Path(__file__).parents[2]
WINDOW = 16_384
TEMPLATE = "{{ range .Messages }}<|{{ .Role }}|>\n{{ .Content }}<|end|>\n{{ end }}<|assistant|>"
_SOURCES, _LEARNED = 40, 1_900
_CODE, _NUMBER, _BACK, _HEADS, _HEAD, _WIDTH = 15, 6, 6, 8, 128, 192
_PHASES = 10
_BASE, _CONSTANT, _NORM = 10_000.0, 32.0, 1_152.0
_MATCH = (300.0, 200.0, 60.0, 50.0, 40.0, 40.0)  # what a whole equal code at each distance is worth
_SAME_SOURCE, _IN_TEXT, _START, _BOUND = 1_000.0, 2_000.0, 20_000.0, 8_000.0
_EARLIER, _EARLIEST, _LATEST = 0.02, 0.2, 0.3  # per position
_STRONG = 8.0  # a key of this size keeps the query inside a float16
Weights = NDArray[np.float64]


def write_chat(path: Path) -> None:
    """Writes the model. It is to be served with `TEMPLATE`."""
    merges, learned = _encoding()
    vocabulary = _Vocabulary(learned)
    write_gguf(path, "llama", {**_SHAPE, **vocabulary.values(merges)}, _Weights(vocabulary).tensors())


_SHAPE: dict[str, Any] = {
    "general.name": "tiny-chat",
    ".context_length": WINDOW,
    ".embedding_length": _WIDTH,
    ".block_count": 2,
    ".feed_forward_length": 32,
    ".attention.head_count": _HEADS,
    ".attention.head_count_kv": 1,
    ".attention.key_length": _HEAD,
    ".attention.value_length": _HEAD,
    ".attention.layer_norm_rms_epsilon": 1e-6,
    ".rope.dimension_count": _HEAD,
    ".rope.freq_base": _BASE,
}


def _encoding() -> tuple[list[str], list[str]]:
    """Merges and tokens of a byte pair encoding of what prompts are made of."""
    texts = [path.read_text("utf-8") for path in sorted((ROOT / "prompt_templates").glob("*/*.j2"))]
    corpus = sorted(path for path in (ROOT / "examples").rglob("*") if path.suffix in {".csv", ".tsv", ".txt", ".md"})
    texts += [path.read_text("utf-8", "replace")[:200_000] for path in corpus]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)  # type: ignore[assignment]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=_LEARNED, initial_alphabet=alphabet, show_progress=False)
    )
    made = json.loads(tokenizer.to_str())["model"]
    merges = [" ".join(pair) if isinstance(pair, list) else str(pair) for pair in made["merges"]]
    return merges, sorted(made["vocab"], key=lambda token: int(made["vocab"][token]))


class _Vocabulary:
    """The tokens: learned ones, then markers, then what the server matches literally."""

    def __init__(self, learned: list[str]) -> None:
        self.learned = learned
        self.markers = [f"[{n}]Ġ" for n in range(1, _SOURCES + 1)]  # Ġ: a space, in a byte-level vocabulary
        self.sources = [f'<source n="{n}"' for n in range(1, _SOURCES + 1)]
        self.controls = ["<|end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>"]
        self.tag_end, self.source_end = '">\n', "\n</source>"
        literal = [*self.sources, self.tag_end, self.source_end]
        self.tokens = [*learned, *self.markers, *literal, *self.controls]
        self.kinds = [NORMAL] * (len(learned) + _SOURCES) + [USER_DEFINED] * len(literal) + [CONTROL] * 5
        self.of = {token: i for i, token in enumerate(self.tokens)}
        self.unspoken = [self.of[token] for token in (*literal, *self.controls[1:])]
        # Ċ: a line's end, in a byte-level vocabulary
        self.last = [i for i, token in enumerate(learned) if "Ċ" in token] + [self.of[self.source_end]]

    def values(self, merges: list[str]) -> dict[str, Any]:
        end = self.of["<|end|>"]
        return {
            "tokenizer.ggml.model": "gpt2",
            "tokenizer.ggml.pre": "gpt-2",
            "tokenizer.ggml.tokens": self.tokens,
            "tokenizer.ggml.token_type": self.kinds,
            "tokenizer.ggml.merges": merges,
            "tokenizer.ggml.bos_token_id": end,
            "tokenizer.ggml.eos_token_id": end,
            "tokenizer.ggml.add_bos_token": False,
            "tokenizer.ggml.add_eos_token": False,
        }

    def codes(self) -> Weights:
        """What a token is recognised by: the chat's own tokens by nothing, a marker as the end of a source's tag."""
        codes = _hamming(len(self.tokens))
        codes[[self.of[token] for token in (*self.controls, *self.sources)]] = 0
        codes[[self.of[token] for token in self.markers]] = codes[self.of[self.tag_end]]
        return codes

    def spoken(self) -> Weights:
        """What a token makes the model say when it is copied: itself, a source's tag its marker, a line's end the
        end."""
        spoken = _hamming(len(self.tokens))
        for source, marker in zip(self.sources, self.markers, strict=True):
            spoken[self.of[source]] = spoken[self.of[marker]]
        spoken[self.last] = spoken[self.of["<|end|>"]]
        return spoken

    def numbers(self) -> Weights:
        """The number of a source, in signs, for its tag and its marker."""
        numbers = np.zeros((len(self.tokens), _NUMBER))
        for i, pair in enumerate(zip(self.sources, self.markers, strict=True)):
            for token in pair:
                numbers[self.of[token]] = [1 if i + 1 >> bit & 1 else -1 for bit in range(_NUMBER)]
        return numbers


def _hamming(size: int) -> Weights:
    """Words of the Hamming code [15, 11] as signs."""
    places = np.arange(1, 16)
    data = [place for place in places if place & (place - 1)]
    words = np.zeros((size, 16), int)
    for i, place in enumerate(data):
        words[:, place] = np.arange(size) >> i & 1
    for bit in range(4):
        parity = places[(places >> bit & 1).astype(bool)]
        words[:, 1 << bit] = words[:, parity].sum(axis=1) % 2
    return (words[:, 1:] * 2 - 1).astype(float)


class _Weights:
    """The matrices. A position's vector is a row of places; each is used for one thing."""

    def __init__(self, vocabulary: _Vocabulary) -> None:
        self._words = vocabulary
        place = count()

        def take(size: int) -> list[int]:
            return [next(place) for _ in range(size)]

        self.now, self.says, self.out = take(_CODE), take(_CODE), take(_CODE)
        self.before = [take(_CODE) for _ in range(_BACK)]
        self.number, self.source = take(_NUMBER), take(_NUMBER)
        (self.tag, self.text, self.in_text, self.start, self.edge, self.bounds, self.one, self.fill) = take(8)

    def tensors(self) -> dict[str, Tensor]:
        blocks = [*self._block(0, *self._look_back()), *self._block(1, *self._look_up())]
        return {
            "token_embd.weight": single(self._embedding()),
            "rope_freqs.weight": single(_BASE ** (-2 * np.arange(_HEAD // 2) / _HEAD) / _frequencies()),
            **dict(blocks),
            "output_norm.weight": self._scale(_NORM + (_BACK + 1) * _CODE + _NUMBER),
            "output.weight": single(self._head()),
        }

    def _block(self, layer: int, query: Weights, key: Weights, value: Weights, output: Weights) -> Iterator[Any]:
        name = f"blk.{layer}."
        yield name + "attn_norm.weight", self._scale(_NORM + layer * (_BACK * _CODE + _NUMBER))
        yield name + "attn_q.weight", single(query * np.sqrt(_HEAD))
        yield name + "attn_k.weight", single(key)
        yield name + "attn_v.weight", single(value)
        yield name + "attn_output.weight", single(output)
        yield name + "ffn_norm.weight", single(np.ones(_WIDTH))
        yield name + "ffn_gate.weight", single(np.zeros((32, _WIDTH)))
        yield name + "ffn_up.weight", single(np.zeros((32, _WIDTH)))
        yield name + "ffn_down.weight", single(np.zeros((_WIDTH, 32)))

    @staticmethod
    def _scale(norm: float) -> NDArray[np.float32]:
        """Undoes the normalisation of a vector whose squares add up to `norm`."""
        return np.full(_WIDTH, np.sqrt(norm / _WIDTH), np.float32)

    def _embedding(self) -> Weights:
        words = self._words
        table = np.zeros((len(words.tokens), _WIDTH))
        table[:, self.now], table[:, self.says], table[:, self.number] = words.codes(), words.spoken(), words.numbers()
        sources, markers = ([words.of[token] for token in each] for each in (words.sources, words.markers))
        assistant, tag_end = words.of["<|assistant|>"], words.of[words.tag_end]
        table[sources, self.tag] = table[tag_end, self.text] = table[assistant, self.start] = 1
        table[[*sources, assistant], self.edge], table[markers, self.edge] = 1, 1.5
        table[[*sources, assistant, tag_end, *markers], self.bounds] = 1
        table[:, self.one] = _CONSTANT
        table[:, self.fill] = np.sqrt(_NORM - (table**2).sum(axis=1))
        return table

    def _look_back(self) -> tuple[Weights, Weights, Weights, Weights]:
        """Layer 0. The key: every phase, then the slope of distance, then two kinds of bounds."""
        query, key, value, output = _zeros()
        slope, edge, bounds = 2 * _PHASES, 2 * _PHASES + 2, 2 * _PHASES + 3
        key[range(0, slope + 2, 2), self.one] = 1 / _CONSTANT
        key[edge, self.edge] = key[bounds, self.bounds] = _STRONG
        theta = _frequencies()
        sharp = 30 / _gap(theta[:_PHASES])
        for head in range(_BACK):
            first = head * _HEAD
            for i in range(_PHASES):
                turn = theta[i] * (head + 1)
                query[first + 2 * i, self.one] = sharp * np.cos(turn) / _CONSTANT
                query[first + 2 * i + 1, self.one] = -sharp * np.sin(turn) / _CONSTANT
            output[self.before[head], first : first + _CODE] = np.eye(_CODE)
        for head, dimension in ((_BACK, edge), (_BACK + 1, bounds)):
            query[head * _HEAD + slope + 1, self.one] = _LATEST / theta[_PHASES] / _CONSTANT
            query[head * _HEAD + dimension, self.one] = _BOUND / _STRONG / _CONSTANT
        value[range(_CODE), self.now] = 1
        value[range(_CODE, _CODE + _NUMBER), self.number] = 1
        value[_CODE + _NUMBER, self.text] = 1
        numbers = _BACK * _HEAD + _CODE
        output[self.source, numbers : numbers + _NUMBER] = np.eye(_NUMBER)
        output[self.in_text, (_BACK + 1) * _HEAD + _CODE + _NUMBER] = 1
        return query, key, value, output

    def _look_up(self) -> tuple[Weights, Weights, Weights, Weights]:
        """Layer 1, one head of it."""
        query, key, value, output = _zeros()
        slope, place = 2 * _PHASES, count(2 * _PHASES + 2)
        for distance in range(_BACK):
            here = [next(place) for _ in range(_CODE)]
            key[here, self.before[distance]] = 1
            query[here, self.before[distance - 1] if distance else self.now] = _MATCH[distance] / _CODE
        here = [next(place) for _ in range(_NUMBER)]
        key[here, self.source], query[here, self.source] = 1, _SAME_SOURCE
        text, tag = next(place), next(place)
        key[text, self.in_text], query[text, self.one] = 1, _IN_TEXT / _CONSTANT
        key[tag, self.tag], query[tag, self.start] = _STRONG, _START / _STRONG
        key[slope, self.one] = 1 / _CONSTANT
        query[slope + 1, self.one] = -_EARLIER / _frequencies()[_PHASES] / _CONSTANT
        query[slope + 1, self.start] = -_EARLIEST / _frequencies()[_PHASES]
        value[range(_CODE), self.says] = 1
        output[self.out, :_CODE] = np.eye(_CODE)
        return query, key, value, output

    def _head(self) -> Weights:
        head = np.zeros((len(self._words.tokens), _WIDTH))
        head[:, self.out] = 2 * _hamming(len(head))
        head[self._words.unspoken] = 0
        head[self._words.unspoken, self.one] = -40 / _CONSTANT
        return head


def _zeros() -> tuple[Weights, Weights, Weights, Weights]:
    """Query, key, value and output of one layer."""
    narrow, wide = np.zeros((_HEAD, _WIDTH)), np.zeros((_HEADS * _HEAD, _WIDTH))
    return wide, narrow, narrow.copy(), wide.T.copy()


def _frequencies() -> Weights:
    """Turn per position of each pair: those that single out a distance, a slow one for near and far, none."""
    theta = np.full(_HEAD // 2, 1e-12)
    theta[:_PHASES] = 2.4 * (0.0007 / 2.4) ** (np.arange(_PHASES) / (_PHASES - 1))
    theta[_PHASES] = np.pi / 3 / WINDOW
    return theta


def _gap(theta: Weights) -> float:
    """By how much a wrong distance scores less than the right one."""
    return float(len(theta) - np.cos(np.outer(np.arange(1, WINDOW), theta)).sum(axis=1).max())
