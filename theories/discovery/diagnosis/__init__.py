"""The arbiter: where and how the loser's predictions fail, against replicas of it. Open `case_file.py` first."""

from lakatos.theories.discovery.diagnosis.case_file import diagnose
from lakatos.theories.discovery.diagnosis.panel import TheoryPredictions, TrialFeatures

__all__ = ["TheoryPredictions", "TrialFeatures", "diagnose"]
