"""Serve a writer under the OpenAI protocol: it reads the answers off a request's own exhibits and writes a theory.

    python -m benchmarks.models.trained.serve --writer DATA/writer.pt --port 8412

Name it in a study like any model: ``base_url = "http://127.0.0.1:8412/v1"``, ``model = "trained"``. It can be a
reviser; what else it is asked it answers with nonsense of the right form, as the rehearsal does.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from benchmarks.models.trained.worlds import (  # noqa: E402
    MOST_CHARACTERS,
    ShownAnswers,
    draw_truth,
    shown_answers,
)
from tests.rehearsal.app import Answer, RehearsalSettings, create_app  # noqa: E402
from tests.rehearsal.serve import running  # noqa: E402

MODEL = "trained"
TEMPERATURE = 0.7
CONTEXT_TOKENS = 65_536
Propose = Callable[[ShownAnswers, np.random.Generator], str]
"""A source for the answers that a prompt shows."""


def drawn_by_lot(answers: ShownAnswers, rng: np.random.Generator) -> str:
    """A composition as the worlds of training have them, without a look at the answers."""
    return draw_truth(answers.domain, rng).source


def written_by(path: Path | None, *, temperature: float = TEMPERATURE, seed: int = 0) -> Propose:
    """What a writer proposes; one with random weights where no file is named."""
    import torch

    from benchmarks.models.trained.network import load_writer, untrained_writer
    from benchmarks.models.trained.snippets import SnippetVocabulary
    from benchmarks.models.trained.worlds import all_snippets

    torch.set_num_threads(1)
    if path is None:
        writer = untrained_writer(SnippetVocabulary.of(all_snippets()), seed)
    else:
        writer = load_writer(path)

    def propose(answers: ShownAnswers, rng: np.random.Generator) -> str:
        (draft,) = writer.write(answers, rng, temperature=temperature)
        return draft.source

    return propose


def answering(propose: Propose) -> Answer:
    """Answers of a reviser to requests."""

    def answer(body: Mapping[str, Any], rng: np.random.Generator) -> str | None:
        text = "\n".join(item["content"] for item in body["messages"])
        schema = json.dumps(body.get("response_format") or {})
        if '"source"' not in schema:
            return None
        source = propose(shown_answers(text), rng)[:MOST_CHARACTERS]
        return json.dumps({"change": "written anew from the answers", "source": source})

    return answer


@contextmanager
def served(propose: Propose, *, seed: int = 0) -> Iterator[str]:
    """Address of a server in a thread of this process."""
    settings = RehearsalSettings(model=MODEL, context_tokens=CONTEXT_TOKENS, seed=seed)
    with running(settings, answering(propose)) as server:
        yield server.base_url


def main() -> None:
    """Serve until stopped."""
    import uvicorn

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--writer", type=Path, required=True)
    parser.add_argument("--port", type=int, default=8412)
    parser.add_argument("--temperature", type=float, default=TEMPERATURE)
    chosen = parser.parse_args()
    settings = RehearsalSettings(model=MODEL, context_tokens=CONTEXT_TOKENS)
    app = create_app(settings, answering(written_by(chosen.writer, temperature=chosen.temperature)))
    uvicorn.run(app, host="127.0.0.1", port=chosen.port, log_level="warning")


if __name__ == "__main__":
    main()
