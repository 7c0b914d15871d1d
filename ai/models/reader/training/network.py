"""The network in PyTorch (six layers of MiniLM), from the published weights: what `train` trains and `export` writes
down as ONNX."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional as F

WIDTH, HEADS, LAYERS, INNER = 384, 12, 6, 1536
ANSWERS, BEGINS, ENDS, ANSWERED, BORNE = range(5)
"""The outputs of the head for each piece: that its sentence answers, that the words of the answer begin or end with it,
that the whole answers (of the first piece), that this piece of a claim is borne out."""
SAYINGS = 5
_EPSILON = 1e-12


class Layer(nn.Module):
    """A transformer layer of BERT."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.inner, self.outer = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
        self.after_attention, self.after_inner = (nn.LayerNorm(WIDTH, eps=_EPSILON) for _ in range(2))

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        heads = (-1, x.shape[1], HEADS, WIDTH // HEADS)
        q, k, v = (part(x).view(heads).transpose(1, 2) for part in (self.query, self.key, self.value))
        weights = torch.softmax(q @ k.transpose(2, 3) * (WIDTH // HEADS) ** -0.5 + bias.to(q.dtype), dim=-1)
        told = self.out((self.dropout(weights) @ v).transpose(1, 2).reshape(-1, x.shape[1], WIDTH))
        x = self.after_attention(x + self.dropout(told))
        return self.after_inner(x + self.dropout(self.outer(F.gelu(self.inner(x)))))


class ReaderNetwork(nn.Module):
    """A text alone as a unit vector (the mean of its pieces' states); a question with a passage as what the head says
    of each piece."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.words = nn.Embedding(30522, WIDTH)
        self.places = nn.Embedding(512, WIDTH)
        self.kinds = nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=_EPSILON)
        self.layers = nn.ModuleList(Layer(dropout) for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, SAYINGS)

    def forward(self, ids: Tensor, kinds: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """`ids`, `kinds` (0 or 1) and `mask` (1 for a piece, 0 for padding) are (texts, length); the vectors are
        (texts, width), the sayings (texts, length, 5)."""
        second = kinds[:, :, None].to(self.kinds.weight.dtype)
        kind = self.kinds.weight[0] + second * (self.kinds.weight[1] - self.kinds.weight[0])
        x = self.norm(self.words(ids) + self.places(torch.arange(ids.shape[1], device=ids.device)) + kind)
        x = self.dropout(x)
        bias = ((1.0 - mask) * -1e4)[:, None, None, :]
        for layer in self.layers:
            x = layer(x, bias)
        mean = (x * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
        return mean / torch.sqrt((mean * mean).sum(-1, keepdim=True) + _EPSILON), self.head(x)


def from_published(file: Path) -> ReaderNetwork:
    """The network with the published weights in `file` (safetensors), its head not trained."""
    weights, made = load_file(file), ReaderNetwork()
    named = {
        "words.weight": "embeddings.word_embeddings.weight",
        "places.weight": "embeddings.position_embeddings.weight",
        "kinds.weight": "embeddings.token_type_embeddings.weight",
        "norm.weight": "embeddings.LayerNorm.weight",
        "norm.bias": "embeddings.LayerNorm.bias",
    }
    parts = {
        "query": "attention.self.query",
        "key": "attention.self.key",
        "value": "attention.self.value",
        "out": "attention.output.dense",
        "inner": "intermediate.dense",
        "outer": "output.dense",
        "after_attention": "attention.output.LayerNorm",
        "after_inner": "output.LayerNorm",
    }
    for i in range(LAYERS):
        for ours, theirs in parts.items():
            for kind in ("weight", "bias"):
                named[f"layers.{i}.{ours}.{kind}"] = f"encoder.layer.{i}.{theirs}.{kind}"
    made.load_state_dict({ours: weights[theirs] for ours, theirs in named.items()}, strict=False)
    return made.eval()
