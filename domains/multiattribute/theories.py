"""Theories of choice between rated products: from one good reason to weighing and adding everything.

The skeleton: every rating gets a subjective *utility*, the two products' values are *compared* cue by cue, cues stand
in an *order* (of validity, unless something else is said), every cue gets a *weight*, people may *select* cues, take
some to say the opposite (*direction*), let weights depend on the *context* or on what they did before (*history*), and
*integrate* the weighted comparisons into evidence for product B, to which properties of the whole display add an
*accent*. An *appraisal* of the evidence and a *bias* come before the *choice* rule, which turns it into a probability;
some people or some trials may be ruled by an*other* strategy, and some choices are *lapses*.
"""

from lakatos.domains.multiattribute.mechanisms.seed import SEEDS
from lakatos.domains.multiattribute.mechanisms.skeleton import GRAMMAR
from lakatos.domains.multiattribute.vocabulary import rated_vocabulary
from lakatos.theories.language.family import Family

FAMILY = Family("multiattribute", GRAMMAR, SEEDS, rated_vocabulary)
