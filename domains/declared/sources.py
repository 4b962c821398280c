"""Publications of the mechanisms for declared tasks."""

from __future__ import annotations

WEIGHT = "log odds from one end of the range to the other"
LIMIT = 20.0
"""Of weights in these units: five of their prior's standard deviations. The smallest spread of a population is a share
of the range between the limits, so wide limits keep a population of equal participants from being found."""
FECHNER = "Fechner (1860), Elemente der Psychophysik"
KEENEY = "Keeney & Raiffa (1976), Decisions with multiple objectives"
DAWES = "Dawes (1979), American Psychologist 34, 571-582"
SIMON = "Simon (1955), Quarterly Journal of Economics 69(1), 99-118"
TVERSKY_ORDER = "Tversky (1969), Psychological Review 76, 31-48 (lexicographic semiorder)"
TVERSKY_ASPECTS = "Tversky (1972), Psychological Review 79, 281-299"
TVERSKY_LOSS = "Tversky & Kahneman (1991), Quarterly Journal of Economics 106, 1039-1061"
RUBINSTEIN = "Rubinstein (1988), Journal of Economic Theory 46, 145-153"
RUSSO = "Russo & Dosher (1983), Journal of Experimental Psychology: LMC 9, 676-696 (majority of confirming dimensions)"
HUBER = "Huber, Payne & Puto (1982), Journal of Consumer Research 9, 90-98"
SIMONSON = "Simonson (1989), Journal of Consumer Research 16, 158-174"
FEHR = "Fehr & Schmidt (1999), Quarterly Journal of Economics 114, 817-868"
CHARNESS = "Charness & Rabin (2002), Quarterly Journal of Economics 117, 817-869"
MAZUR = "Mazur (1987), in Quantitative analyses of behavior 5, 55-73"
HARLESS = "Harless & Camerer (1994), Econometrica 62, 1251-1289"
ANDERSON = "Anderson (1970), Psychological Review 77(3), 153-170 (multiplying model)"
COOMBS = "Coombs (1964), A theory of data (ideal points)"
STEPHENS = "Stephens & Krebs (1986), Foraging theory (rates)"
