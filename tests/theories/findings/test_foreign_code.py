"""Code of others is taken out of prose, and functions of `scipy.stats` are written with NumPy."""

import numpy as np
import pytest
from scipy import stats

from lakatos.theories.findings.exchange.foreign_code import IN_NUMPY, code_in, with_statistics

CODE = "def model(choice, p):\n    return p\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (CODE, CODE),
        (f"Below is a model.\n\n{CODE}", CODE),
        (f"A model's code:\n\n```python\n{CODE}```\nIt isn't complicated.", CODE),
        ("Nothing here's code.", "Nothing here's code."),
        (f"It isn't code {CODE}", f"It isn't code {CODE}"),
    ],
)
def test_code_is_taken_out_of_prose(text: str, code: str) -> None:
    assert code_in(text) == code


def test_written_functions_are_those_of_scipy() -> None:
    made: dict[str, object] = {}
    source = "from scipy.stats import norm, rankdata\nx = 1\n"
    exec(with_statistics(source), made)
    values = np.array([0.3, -1.0, 0.3, 2.5])
    for given in ({}, {"method": "average"}):
        ranks = made["rankdata"](values, **given)
        np.testing.assert_array_equal(ranks, stats.rankdata(values, **given))
    with pytest.raises(ValueError, match="method='average' only"):
        made["rankdata"](values, method="min")
    for name in ("cdf", "sf", "logcdf", "logpdf", "pdf"):
        own, theirs = getattr(made["norm"], name), getattr(stats.norm, name)
        np.testing.assert_allclose(own(values, 0.2, 1.5), theirs(values, 0.2, 1.5), rtol=1e-13)
    np.testing.assert_allclose(made["norm"].ppf(0.2), stats.norm.ppf(0.2), rtol=1e-13)


def test_functions_that_are_not_known_stay_as_they_are() -> None:
    for source in ("from scipy.stats import norm, wald\n", "import numpy as np\n"):
        assert with_statistics(source) == source
    assert set(IN_NUMPY) == {"norm", "rankdata"}
