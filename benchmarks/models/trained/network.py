"""The network: an encoder of answers, trial by trial and without order, and a decoder that writes a source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.models.trained.snippets import BEGIN, END, PAD, SnippetVocabulary
from benchmarks.models.trained.worlds import N_FEATURES, TASKS, ShownAnswers, some_rows

MOST_TRIALS = 80
"""Of a table of answers that are read; of more, some drawn by lot."""
MOST_TOKENS = 96


@dataclass(frozen=True)
class NetworkShape:
    """Sizes."""

    vocabulary: int
    width: int = 128
    heads: int = 4
    encoder_layers: int = 3
    decoder_layers: int = 2


@dataclass(frozen=True)
class WrittenDraft:
    """A source as it was written, and what it took."""

    source: str
    tokens: tuple[int, ...]
    log_probability: float


class TheoryWriter(nn.Module):
    """Answers in, tokens of a theory's source out."""

    def __init__(self, shape: NetworkShape, vocabulary: SnippetVocabulary) -> None:
        super().__init__()
        self.shape, self.vocabulary = shape, vocabulary
        width = shape.width
        self.trial = nn.ModuleList(
            nn.Sequential(nn.Linear(N_FEATURES + 1, width), nn.GELU(), nn.Linear(width, width))
            for _ in TASKS
        )
        self.domain = nn.Embedding(len(TASKS), width)
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(
                width, shape.heads, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True
            ),
            shape.encoder_layers,
            norm=nn.LayerNorm(width),
            enable_nested_tensor=False,
        )
        self.token = nn.Embedding(shape.vocabulary, width)
        self.place = nn.Embedding(MOST_TOKENS + 1, width)
        self.decoder = nn.TransformerDecoder(
            nn.TransformerDecoderLayer(
                width, shape.heads, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True
            ),
            shape.decoder_layers,
            norm=nn.LayerNorm(width),
        )
        nn.init.normal_(self.token.weight, std=0.02)
        nn.init.normal_(self.place.weight, std=0.02)

    def read(self, domain: int, rows: Tensor) -> Tensor:
        """``(n, n_trials + 1, width)``: what is known of tables of one domain, the domain's own mark first."""
        mark = self.domain.weight[domain].expand(len(rows), 1, -1)
        found: Tensor = self.encoder(torch.cat([mark, self.trial[domain](rows)], dim=1))
        return found

    def logits(self, known: Tensor, tokens: Tensor) -> Tensor:
        """``(n, length, vocabulary)`` scores of the token after each."""
        length = tokens.shape[1]
        given = self.token(tokens) + self.place.weight[:length]
        mask = nn.Transformer.generate_square_subsequent_mask(length)
        found = self.decoder(given, known, tgt_mask=mask, tgt_is_causal=True)
        return torch.as_tensor(found @ self.token.weight.T)

    def loss(
        self, domain: int, rows: Tensor, tokens: Tensor, weights: Tensor | None = None
    ) -> Tensor:
        """Mean nats per token; with weights of the sources, a weighted mean."""
        begun = torch.full_like(tokens[:, :1], BEGIN)
        logits = self.logits(self.read(domain, rows), torch.cat([begun, tokens[:, :-1]], dim=1))
        each = nn.functional.cross_entropy(
            logits.flatten(0, 1), tokens.flatten(), ignore_index=PAD, reduction="none"
        ).view(tokens.shape)
        counts = (tokens != PAD).float()
        if weights is not None:
            each, counts = each * weights[:, None], counts * weights[:, None]
        return each.sum() / counts.sum().clamp(min=1e-9)

    @torch.no_grad()
    def write(
        self,
        answers: ShownAnswers,
        rng: np.random.Generator,
        *,
        n: int = 1,
        temperature: float = 1.0,
        beginning: Sequence[int] = (),
        most: int = MOST_TOKENS,
    ) -> list[WrittenDraft]:
        """``n`` sources for the same answers, drawn token by token.

        Args:
            answers: That are read.
            rng: Source of the draws.
            n: Sources.
            temperature: Of the draws.
            beginning: Tokens with which all of them begin.
            most: Tokens of a source.
        """
        rows = torch.tensor(some_rows(answers, MOST_TRIALS, rng), dtype=torch.float32)
        known = self.read(TASKS.index(answers.domain), rows[None]).expand(n, -1, -1)
        tokens = torch.tensor([[BEGIN, *beginning]] * n)
        total = np.zeros(n)
        is_over = np.zeros(n, dtype=bool)
        while tokens.shape[1] <= most and not is_over.all():
            logits = self.logits(known, tokens)[:, -1].double().numpy() / temperature
            logits[:, [PAD, BEGIN]] = -np.inf
            log_p = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
            drawn = (log_p + rng.gumbel(size=log_p.shape)).argmax(axis=1)
            total += np.where(is_over, 0.0, log_p[np.arange(n), drawn])
            drawn[is_over] = END
            tokens = torch.cat([tokens, torch.tensor(drawn)[:, None]], dim=1)
            is_over |= drawn == END
        found = []
        for row, log_probability in zip(tokens[:, 1:].tolist(), total, strict=True):
            kept = row[: row.index(END) + 1] if END in row else row
            text = self.vocabulary.decode(kept)
            found.append(WrittenDraft(text, tuple(kept), float(log_probability)))
        return found

    @property
    def n_weights(self) -> int:
        """Numbers that are learned."""
        return sum(item.numel() for item in self.parameters())

    def save(self, path: Path) -> None:
        """Keep weights, sizes and vocabulary."""
        kept = {"shape": asdict(self.shape), "snippets": list(self.vocabulary.snippets),
                "weights": self.state_dict()}  # fmt: skip
        torch.save(kept, path)


def load_writer(path: Path) -> TheoryWriter:
    """A writer as it was kept."""
    kept = torch.load(path, weights_only=True)
    vocabulary = SnippetVocabulary(tuple(kept["snippets"]))
    writer = TheoryWriter(NetworkShape(**kept["shape"]), vocabulary)
    writer.load_state_dict(kept["weights"])
    return writer.eval()


def untrained_writer(vocabulary: SnippetVocabulary, seed: int) -> TheoryWriter:
    """A writer with random weights."""
    torch.manual_seed(seed)
    return TheoryWriter(NetworkShape(vocabulary.size), vocabulary).eval()
