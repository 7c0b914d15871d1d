"""An embedding model for a real Ollama: the wordllama wheel's static token vectors as a GGUF of the BERT architecture.

A text's vector is the mean of its tokens' vectors, as in `retrieval.embedding.wordllama`; so what the server gives can
be compared with what the package gives. BERT normalises every token first, which would undo that; three more
components per token prevent it: one makes the mean zero, and a large pair +c, -c makes the deviation the same for all
tokens. The last normalisation gives these components the weight zero. Attention and feed-forward layers add zero.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.services.tiny_gguf import BYTE, CONTROL, NORMAL, UNKNOWN, Tensor, single, write_gguf

WORDS = 64  # of 256: the vectors were trained so that their first components are vectors too
WIDTH = 96
WINDOW = 512
_PAIR = 2048.0


def write_embedder(path: Path) -> None:
    """Writes the model; its vectors have `WIDTH` components, the last ones zero, and its window `WINDOW` tokens."""
    package = Path(next(iter(_spec().submodule_search_locations)))
    table = _table((package / "weights" / "l2_supercat_256.safetensors").read_bytes())
    tokenizer = json.loads((package / "tokenizers" / "l2_supercat_tokenizer_config.json").read_bytes())
    tokens = [token for token, _ in sorted(tokenizer["model"]["vocab"].items(), key=lambda item: int(item[1]))]
    write_gguf(path, "bert", {**_SHAPE, **_tokenizer(tokens)}, _tensors(table))


_SHAPE: dict[str, Any] = {
    "general.name": "tiny-embedder",
    ".context_length": WINDOW,
    ".embedding_length": WIDTH,
    ".block_count": 1,
    ".feed_forward_length": 32,
    ".attention.head_count": 3,
    ".attention.layer_norm_epsilon": 1e-12,
    ".attention.causal": False,
    ".pooling_type": 1,  # mean
}


def _tokenizer(tokens: list[str]) -> dict[str, Any]:
    """SentencePiece merges the pair with the best score; these tokens stand in the order of their merges."""
    kinds = [BYTE if token.startswith("<0x") else NORMAL for token in tokens]
    kinds[:3] = [UNKNOWN, CONTROL, CONTROL]
    return {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.scores": [-float(max(0, i - 258)) for i in range(len(tokens))],
        "tokenizer.ggml.token_type": kinds,
        "tokenizer.ggml.token_type_count": 2,
        "tokenizer.ggml.unknown_token_id": 0,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.ggml.add_eos_token": False,
        "tokenizer.ggml.add_space_prefix": True,
    }


def _tensors(table: NDArray[np.float16]) -> dict[str, Tensor]:
    tokens = np.zeros((len(table), WIDTH), np.float32)
    tokens[:, :WORDS] = table[:, :WORDS]
    tokens[:, WORDS] = -tokens[:, :WORDS].sum(axis=1)
    tokens[:, WORDS + 1], tokens[:, WORDS + 2] = _PAIR, -_PAIR
    words = np.zeros(WIDTH)
    words[:WORDS] = 1
    square, zeros, ones = np.zeros((WIDTH, WIDTH)), np.zeros(WIDTH), np.ones(WIDTH)
    block: dict[str, Tensor] = {
        **{f"attn_{name}.weight": single(square) for name in ("q", "k", "v", "output")},
        **{f"attn_{name}.bias": single(zeros) for name in ("q", "k", "v", "output")},
        "attn_output_norm.weight": single(ones),
        "attn_output_norm.bias": single(zeros),
        "ffn_up.weight": single(np.zeros((32, WIDTH))),
        "ffn_up.bias": single(np.zeros(32)),
        "ffn_down.weight": single(np.zeros((WIDTH, 32))),
        "ffn_down.bias": single(zeros),
        "layer_output_norm.weight": single(words),
        "layer_output_norm.bias": single(zeros),
    }
    return {
        "token_embd.weight": single(tokens),
        "position_embd.weight": single(np.zeros((WINDOW, WIDTH))),
        "token_types.weight": single(np.zeros((2, WIDTH))),
        "token_embd_norm.weight": single(ones),
        "token_embd_norm.bias": single(zeros),
        **{f"blk.0.{name}": tensor for name, tensor in block.items()},
    }


def _table(weights: bytes) -> NDArray[np.float16]:
    """The one tensor of a safetensors file."""
    size = int.from_bytes(weights[:8], "little")
    entry = json.loads(weights[8 : 8 + size])["embedding.weight"]
    start, end = entry["data_offsets"]
    return np.frombuffer(weights[8 + size + start : 8 + size + end], np.float16).reshape(entry["shape"])


def _spec() -> Any:
    return importlib.util.find_spec("wordllama")
