"""References that several parts of the family share."""

BEAST = "Erev, Ert, Plonsky, Cohen & Cohen (2017), Psychological Review 124(4), 369-409"
HEURISTICS = "Brandstätter, Gigerenzer & Hertwig (2006), Psychological Review 113, 409-432"
THORNGATE = "Thorngate (1980), Behavioral Science 25, 219-225"
