"""Published theories of each domain, and the grammars built of their mechanisms."""

from lakatos.theories.families.family import Family
from lakatos.theories.families.intertemporal import FAMILY as INTERTEMPORAL
from lakatos.theories.families.learning import FAMILY as LEARNING
from lakatos.theories.families.multiattribute import FAMILY as MULTIATTRIBUTE
from lakatos.theories.families.offers import FAMILY as OFFERS
from lakatos.theories.families.risky import FAMILY as RISKY

FAMILIES: dict[str, Family] = {
    family.domain: family
    for family in (
        MULTIATTRIBUTE,
        RISKY,
        INTERTEMPORAL,
        LEARNING,
        OFFERS,
    )
}
