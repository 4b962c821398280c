"""Texts that people read, by language: the files in ``texts``, a study's own sentences instead, and their identity.

A language is one file with the keys of ``en.toml``. What a study gives of its own replaces single keys. The texts of an
experiment are written down whole when people are recruited, so that everybody in it reads the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from html import escape, unescape
from pathlib import Path
from typing import Any, Final

from lakatos.experiments.answer_scale import scale_of
from lakatos.experiments.errors import SourceError
from lakatos.experiments.participants.timed_answer import timed_task
from lakatos.experiments.task import Domain
from lakatos.traces.digest import Digest, digest_of
from lakatos.traces.files import read_toml

Texts = Mapping[str, Any]
"""One language: sections of sentences."""
FOLDER: Final = Path(__file__).parent / "texts"
REFERENCE: Final = "en"
LATER: Final = ("flow", "recorded")
"""Sections that came later: a language of a study's own, or of an experiment recruited before, may lack them."""


@lru_cache(maxsize=1)
def packaged() -> Mapping[str, Texts]:
    """The languages that come with the laboratory."""
    return {
        path.stem: read_toml(path.read_text(encoding="utf-8"))
        for path in sorted(FOLDER.glob("*.toml"))
    }


def texts_for_domain(
    domain: Domain, own: Mapping[str, Texts] | None = None
) -> dict[str, dict[str, Any]]:
    """`texts_for` a domain, which may bring what people read about its task along, in some languages only.

    Raises:
        SourceError: See `texts_for`; or a response of the domain has a time, and nobody says which key is right.
    """
    scale = scale_of(domain)
    if scale is not None and scale.kind == "timed" and timed_task(domain) is None:
        raise SourceError(
            f"responses of the domain {domain.name} are keys with response times, and the domain does "
            "not define which key is "
            "correct, which the page needs; use simulated participants, an archive, or a file of outcomes."
        )
    return texts_for(domain.name, own, getattr(domain, "texts", None))


def texts_for(
    domain: str,
    own: Mapping[str, Texts] | None = None,
    given: Mapping[str, Texts] | None = None,
) -> dict[str, dict[str, Any]]:
    """All languages for an experiment of ``domain``, with a study's own sentences in place of the packaged ones.

    Args:
        domain: Its instructions are kept, those of other domains left out.
        own: Sentences by language, laid out as in ``en.toml``; a language that is not packaged must be complete.
        given: The domain's part by language, of a domain that is not of the package; there are no other languages then.

    Raises:
        SourceError: A key is unknown, missing or of the wrong kind; the message names it.
    """
    own = own or {}
    there = packaged()
    if given is not None:
        there = {
            language: merged(there.get(language, {}), {"domains": {domain: part}})
            for language, part in given.items()
        }
    made = {}
    for language in sorted({*there, *own}):
        if not re.fullmatch(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*", language):
            raise SourceError(
                f"{language!r} names no language; use a code such as 'en' or 'pt-BR'."
            )
        both = merged(there.get(language, {}), own.get(language, {}))
        reference = packaged()[REFERENCE]
        whole = merged({name: reference[name] for name in LATER}, both)
        table = {
            **whole,
            "domains": {
                name: part for name, part in whole.get("domains", {}).items() if name == domain
            },
        }
        model = {
            **reference,
            "domains": {domain: reference["domains"].get(domain, reference["domains"]["risky"])},
        }
        _check(table, model, f"texts of {language!r}")
        _check_phrases(table["pictures"]["phrases"], f"texts of {language!r}.pictures.phrases")
        made[language] = table
    return made


def _check_phrases(phrases: Sequence[Any], where: str) -> None:
    for number, phrase in enumerate(phrases):
        try:
            pattern, replacement = phrase
            re.compile(pattern), str(replacement)
        except (TypeError, ValueError, re.error) as error:
            raise SourceError(
                f"{where}.{number}: give a regular expression and its translation ({error})."
            ) from None


def merged(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """``own`` over ``base``, table by table."""
    both = {name: merged(base[name], value) for name, value in own.items() if isinstance(base.get(name), dict)
            and isinstance(value, Mapping)}  # fmt: skip
    return {**base, **own, **both}


def _check(value: Any, model: Any, where: str) -> None:
    """Refuse what is not laid out like ``model``."""
    if isinstance(model, Mapping):
        if not isinstance(value, Mapping):
            raise SourceError(f"{where}: give a table with the keys {', '.join(model)}.")
        unknown, missing = sorted(set(value) - set(model)), sorted(set(model) - set(value))
        if unknown or missing:
            raise SourceError(
                f"{where}: {f'unknown key {unknown[0]!r}' if unknown else f'the key {missing[0]!r} is missing'}; "
                f"the keys are {', '.join(model)}."
            )
        for name, part in model.items():
            _check(value[name], part, f"{where}.{name}")
        if "right" in model and not 0 <= value["right"] < len(value["answers"]):
            raise SourceError(f"{where}.right: give the place of the right answer, counted from 0.")
    elif isinstance(model, list):
        if not isinstance(value, list):
            raise SourceError(f"{where}: give a list.")
        for number, item in enumerate(value):
            if model:
                _check(item, model[0], f"{where}.{number}")
    elif type(value) is not type(model):
        raise SourceError(
            f"{where}: give {'text' if isinstance(model, str) else 'a whole number'}, not {value!r}."
        )


def filled(text: str, **values: object) -> str:
    """The sentence with its places filled in; braces that name nothing stay."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


def later(texts: Texts, section: str) -> Mapping[str, Any]:
    """A section that came later; in English where the texts are older than it."""
    found: Mapping[str, Any] = texts.get(section) or packaged()[REFERENCE][section]
    return found


def consent_lines(
    texts: Texts,
    *,
    contact: str,
    minutes: int,
    n_trials: int,
    recorded: Sequence[str] = (),
    ticks: Sequence[str] = (),
    first: str = "",
) -> list[str]:
    """Return the paragraphs that people agree to, as they read them.

    Args:
        texts: Texts of the page, in one language.
        contact: Person whom people can ask.
        minutes: Minutes that it takes.
        n_trials: Decisions.
        recorded: Names of what else is noted.
        ticks: Words beside the study's own boxes; they stand before the last line, the agreement itself.
        first: What is done, where a task has its own words for it.
    """
    part = texts["consent"]
    paragraphs = [*([first] if first else part["paragraphs"][:1]), *part["paragraphs"][1:]]
    also = [later(texts, "recorded")[name] for name in recorded]
    whom = part["contact"] if contact else part["no_contact"]
    lines = [*paragraphs, *also, whom, part["agree"]]
    shown = [filled(line, contact=contact, minutes=minutes, n_trials=n_trials) for line in lines]
    return [*shown[:-1], *ticks, shown[-1]]


def consent_digest(lines: list[str]) -> Digest:
    """Identity of what somebody agreed to."""
    return digest_of({"consent": lines})


def option_labels(texts: Texts, domain: str, n_options: int) -> list[str]:
    """Names of the options in the order of responses; a single one with ``{letter}`` stands for all."""
    given = texts["domains"][domain]["options"]
    if len(given) == n_options:
        return list(given)
    return [filled(given[0], letter=chr(65 + option)) for option in range(n_options)]


def translated(picture: str, texts: Texts) -> str:
    """A drawing of a trial with the words in it in the language of ``texts``; what no phrase matches stays."""
    phrases = _phrases(tuple(map(tuple, texts["pictures"]["phrases"])))
    if not phrases:
        return picture

    def turn(found: re.Match[str]) -> str:
        text = unescape(found[1])
        words = text.strip()
        for pattern, replacement in phrases:
            if match := pattern.fullmatch(words):
                return f">{escape(text.replace(words, match.expand(replacement)), quote=False)}<"
        return found[0]

    return re.sub(r">([^<>]*[^<>\s][^<>]*)<", turn, picture)


@lru_cache(maxsize=64)
def _phrases(lines: tuple[tuple[str, str], ...]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern), replacement) for pattern, replacement in lines)


def words_of(picture: str) -> Iterator[str]:
    """The texts in a drawing."""
    for found in re.finditer(r">([^<>]*[^<>\s][^<>]*)<", picture):
        yield unescape(found[1]).strip()
