"""Kinds of tasks, by name."""

from lakatos.experiments.domains.intertemporal import IntertemporalDomain
from lakatos.experiments.domains.learning import LearningDomain
from lakatos.experiments.domains.multiattribute import MultiattributeDomain
from lakatos.experiments.domains.offers import OffersDomain
from lakatos.experiments.domains.risky import RiskyDomain
from lakatos.experiments.task import Domain

DOMAINS: dict[str, Domain] = {
    "multiattribute": MultiattributeDomain(),
    "risky": RiskyDomain(),
    "intertemporal": IntertemporalDomain(),
    "learning": LearningDomain(),
    "offers": OffersDomain(),
}
