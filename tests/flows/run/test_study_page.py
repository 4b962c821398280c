"""Every key of a study is documented, by the text that stands below it in the code."""

import re
from pathlib import Path

from lakatos.flows.run.study_page import study_page

PAGE = Path(__file__).resolve().parents[3] / "studies" / "README.md"


def test_the_page_is_what_the_code_says() -> None:
    again = "`python -m lakatos.flows.run.study_page > studies/README.md` writes it again"
    assert PAGE.read_text(encoding="utf-8") == study_page(), again


def test_no_key_is_without_words() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*) \| (.*) \|$", study_page(), re.MULTILINE)
    assert len(rows) > 100
    assert not [key for key, words, _ in rows if not words.strip()]
