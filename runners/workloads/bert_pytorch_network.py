"""BERT-base with the two heads of its pre-training, in plain PyTorch.

Source: Devlin et al. 2018, https://arxiv.org/abs/1810.04805: 12 layers, 768 wide, 12 heads, normalised after each part.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

VOCABULARY = 30522
#: A multiple of 8, to which NVIDIA's trainer pads, since tensor cores multiply in such steps.
PADDED_VOCABULARY = 30528
LAYERS, WIDTH, HEADS, INNER = 12, 768, 12, 3072
LONGEST, SENTENCES = 512, 2
DROPOUT = 0.1
EPSILON = 1e-12
SPREAD = 0.02


class Embedding(nn.Module):  # type: ignore[misc]  # without torch its classes are Any
    """A token as the sum of its word, its place and its sentence."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, WIDTH)
        self.places = nn.Embedding(LONGEST, WIDTH)
        self.sentences = nn.Embedding(SENTENCES, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, EPSILON)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, tokens: Any, sentences: Any) -> Any:
        """(n, length) tokens and numbers of the sentence to (n, length, 768)."""
        places = self.places.weight[: tokens.shape[1]]
        return self.dropout(self.norm(self.words(tokens) + places + self.sentences(sentences)))


class Attention(nn.Module):  # type: ignore[misc]
    """Each token attends to all of its sequence, in 12 heads."""

    def __init__(self) -> None:
        super().__init__()
        self.projections = nn.Linear(WIDTH, 3 * WIDTH)
        self.output = nn.Linear(WIDTH, WIDTH)

    def forward(self, hidden: Any) -> Any:
        """(n, length, 768) to the same shape."""
        count, length, _ = hidden.shape
        heads = self.projections(hidden).view(count, length, 3, HEADS, WIDTH // HEADS)
        query, key, value = heads.permute(2, 0, 3, 1, 4).unbind()
        dropout = DROPOUT if self.training else 0.0
        attended = functional.scaled_dot_product_attention(query, key, value, dropout_p=dropout)
        return self.output(attended.transpose(1, 2).reshape(count, length, WIDTH))


class Layer(nn.Module):  # type: ignore[misc]
    """Attention and two dense layers, each added to what went in and then normalised."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = Attention()
        self.attention_norm = nn.LayerNorm(WIDTH, EPSILON)
        self.dense = nn.Sequential(nn.Linear(WIDTH, INNER), nn.GELU(), nn.Linear(INNER, WIDTH))
        self.dense_norm = nn.LayerNorm(WIDTH, EPSILON)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, hidden: Any) -> Any:
        """(n, length, 768) to the same shape."""
        hidden = self.attention_norm(hidden + self.dropout(self.attention(hidden)))
        return self.dense_norm(hidden + self.dropout(self.dense(hidden)))


class BertPretraining(nn.Module):  # type: ignore[misc]
    """BERT-base and its heads: 110,106,428 parameters; the decoder of words shares the weights of their embedding."""

    def __init__(self, vocabulary: int = VOCABULARY) -> None:
        super().__init__()
        self.embedding = Embedding(vocabulary)
        self.layers = nn.Sequential(*(Layer() for _ in range(LAYERS)))
        self.pooler = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh())
        self.transform = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.LayerNorm(WIDTH, EPSILON))
        self.words_bias = nn.Parameter(torch.zeros(vocabulary))
        self.follows = nn.Linear(WIDTH, 2)
        self.apply(initialise)

    def forward(self, tokens: Any, sentences: Any, places: Any) -> tuple[Any, Any]:
        """Logits of words at the masked places (n, masked, vocabulary), and of the order of the sentences (n, 2)."""
        hidden = self.layers(self.embedding(tokens, sentences))
        masked = hidden.gather(1, places.unsqueeze(2).expand(-1, -1, WIDTH))
        words = functional.linear(self.transform(masked), self.embedding.words.weight, self.words_bias)
        return words, self.follows(self.pooler(hidden[:, 0]))


def initialise(module: Any) -> None:
    """Set normal weights of standard deviation 0.02, without bias."""
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=SPREAD)
    if isinstance(module, nn.Linear):
        nn.init.zeros_(module.bias)
