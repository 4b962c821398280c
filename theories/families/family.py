"""What a family file declares: a domain's grammar and the published theories it starts from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lakatos.experiments.task import Stimuli
from lakatos.theories.families.terms.option_score import TermVocabulary
from lakatos.theories.grammar import Composition, Grammar
from lakatos.theories.theory import TheoryProgram


@dataclass(frozen=True)
class Family:
    """The theories of one domain: its grammar, and what was published."""

    domain: str
    grammar: Grammar
    seeds: Mapping[str, tuple[str, Composition]]
    """Published theories by name (as written in study files): title and composition."""
    terms: Callable[[Sequence[Stimuli]], TermVocabulary] | None = None
    """Vocabulary in which induction words its rules, for the trials of some experiments; without one it goes by the
    shapes of the arrays."""

    def program(self, name: str) -> TheoryProgram:
        """Source of a published theory; raises KeyError for a name the family does not have."""
        title, composition = self.seeds[name]
        return TheoryProgram(self.grammar.write(composition, title), author="published")
