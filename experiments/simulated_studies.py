"""What simulated studies showed: how often they found what was there, and what was not."""

from __future__ import annotations

from lakatos.experiments.interval import wilson_interval


class SimulatedStudies:
    """Studies that were simulated with something to find, and as many without, and in how many it was shown."""

    n_simulations: int
    n_shown: int
    """Of those with something to find."""
    n_false: int
    """Of those without."""

    @property
    def power(self) -> float:
        """Probability that it would be shown."""
        return self.n_shown / self.n_simulations

    @property
    def interval(self) -> tuple[float, float]:
        """95% interval of `power`, by the number of simulations."""
        return wilson_interval(self.n_shown, self.n_simulations)

    @property
    def false_alarms(self) -> float:
        """Probability that something would be shown where there is nothing."""
        return self.n_false / self.n_simulations

    @property
    def false_alarm_interval(self) -> tuple[float, float]:
        """95% interval of `false_alarms`, by the number of simulations."""
        return wilson_interval(self.n_false, self.n_simulations)
