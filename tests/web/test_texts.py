import hashlib
import re
from pathlib import Path

import numpy as np
import pytest

import lakatos.experiments.participants.web as web
from lakatos.domains import DOMAINS
from lakatos.experiments.errors import SourceError
from lakatos.experiments.participants.web.texts import (
    consent_digest,
    option_labels,
    packaged,
    texts_for,
    texts_for_domain,
    translated,
    words_of,
)

FOLDER = Path(web.__file__).parent
LANGUAGES = sorted(packaged())
ASKED = [name for name in DOMAINS if name != "attention"]
"""Domains that people can be asked about on the page."""


@pytest.mark.parametrize("domain", ASKED)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_sentence_for_every_domain(language, domain):
    texts = texts_for(domain)[language]
    assert set(texts["domains"]) == {domain}
    n_options = {"offers": 4, "estimation": 22, "public_goods": 21, "recognition": 11}.get(
        domain, 2
    )
    assert len(set(option_labels(texts, domain, n_options))) == n_options


@pytest.mark.parametrize("language", [name for name in LANGUAGES if name != "en"])
@pytest.mark.parametrize("domain", ASKED)
def test_all_words_in_drawings_are_translated(domain, language):
    task, texts = DOMAINS[domain], texts_for(domain)[language]
    for stimuli in task.probes(np.random.default_rng(0)):
        for row in range(len(stimuli)):
            picture = task.picture(stimuli, row)
            turned = translated(picture, texts)
            for before, after in zip(words_of(picture), words_of(turned), strict=True):
                if re.search(r"[a-z]{2}", before):
                    assert after != before
            assert re.sub(r">[^<]*<", "><", turned) == re.sub(r">[^<]*<", "><", picture)


STATED = {
    "participants may stop and have their answers deleted": {
        "en": "You can stop at any time without giving a reason: close the page, or use the button “Stop taking part”, "
        "which also lets you have your answers deleted.",
        "de": "Sie können jederzeit ohne Angabe von Gründen aufhören: Schließen Sie die Seite, oder benutzen Sie den "
        "Knopf „Teilnahme beenden“, mit dem Sie Ihre Antworten auch löschen lassen können.",
    },
    "answers can be deleted as long as the identifier is kept": {
        "en": "As long as the identifier is kept you can ask for your answers to be deleted.",
        "de": "Solange die Kennung aufbewahrt wird, können Sie verlangen, dass Ihre Antworten gelöscht werden.",
    },
    "earlier bundles, exports and backups stay as they are": {
        "en": "What was made from them before and has left the study's folder (publications, copies, backups) is not "
        "changed by this,",
        "de": "Was zuvor daraus entstanden ist und den Ordner der Studie verlassen hat (Veröffentlichungen, Kopien, "
        "Sicherungen), ändert das nicht,",
    },
    "frozen designs, predictions and populations remain": {
        "en": "and plans and predictions that were fixed in between remain;",
        "de": "und Pläne und Vorhersagen, die inzwischen festgelegt wurden, bleiben;",
    },
    "responses can be computed from what remains": {
        "en": "someone with the answers of all others could work out yours from them.",
        "de": "wer die Antworten aller anderen hat, könnte Ihre daraus berechnen.",
    },
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("statement", STATED)
def test_the_consent_states_what_a_withdrawal_erases_and_what_stays(statement, language):
    paragraphs = texts_for("risky")[language]["consent"]["paragraphs"]
    assert sum(STATED[statement][language] in text for text in paragraphs) == 1


def test_answers_with_times_need_a_domain_that_says_which_key_is_right():
    class Unknown:
        name, scale, options = "unknown", DOMAINS["attention"].scale, ("right", "wrong")

    with pytest.raises(SourceError, match="does not define which key is correct"):
        texts_for_domain(Unknown())
    assert "figures" in texts_for_domain(DOMAINS["attention"])["en"]["domains"]["attention"]


def test_a_study_replaces_single_sentences():
    texts = texts_for(
        "risky", {"en": {"consent": {"heading": "Ours"}, "pictures": {"phrases": [["A", "B"]]}}}
    )
    assert texts["en"]["consent"]["heading"] == "Ours"
    assert texts["en"]["consent"]["start"] == packaged()["en"]["consent"]["start"]
    assert translated("<p>A</p>", texts["en"]) == "<p>B</p>"


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ({"en": {"consent": {"haeding": "x"}}}, "unknown key 'haeding'"),
        ({"en": {"consent": {"heading": 3}}}, "consent.heading: give text"),
        ({"en": {"consent": {"paragraphs": "x"}}}, "consent.paragraphs: give a list"),
        ({"fr": {"name": "Français"}}, "the key .* is missing"),
        ({"../x": {}}, "names no language"),
        ({"en": {"pictures": {"phrases": [["(", "x"]]}}}, "phrases.0: give a regular expression"),
        (
            {
                "en": {
                    "domains": {
                        "risky": {"questions": [{"text": "t", "answers": ["a"], "right": 1}]}
                    }
                }
            },
            "right: give the place",
        ),
    ],
)
def test_texts_of_the_wrong_form_are_refused_by_name(own, words):
    with pytest.raises(SourceError, match=words):
        texts_for("risky", own)


def test_another_consent_text_has_another_digest():
    assert consent_digest(["a", "b"]) != consent_digest(["a b"])


def test_packaged_files_are_the_published_ones():
    vendor = FOLDER / "page" / "vendor"
    lines = (vendor / "SHA256SUMS").read_text().splitlines()
    assert {line.split()[1] for line in lines} == {path.name for path in vendor.iterdir()} - {
        "SHA256SUMS"
    }
    for line in lines:
        digest, name = line.split()
        assert hashlib.sha256((vendor / name).read_bytes()).hexdigest() == digest
    # Of dist/index.browser.min.js in jspsych-8.3.0.tgz, as the npm registry publishes it.
    assert (
        lines[0]
        == "b58c69e607f2ddbd282f2daec43d882cac18d9e3efdad816215b818d1406d6ce  jspsych-8.3.0.min.js"
    )
    assert "Joshua R. de Leeuw" in (vendor / "LICENSES.txt").read_text()


def test_the_page_names_no_other_address():
    for path in (FOLDER / "page").glob("*.*"):
        assert not re.search(
            r"(?:src|href)=[\"']?(?:https?:)?//|@import|url\(", path.read_text(encoding="utf-8")
        )


def test_nothing_on_the_page_is_evaluated():
    for path in [*(FOLDER / "page").glob("*.js"), *(FOLDER / "page" / "vendor").glob("*.js")]:
        assert not re.search(
            r"\beval\(|new Function\b|document\.write\(", path.read_text(encoding="utf-8")
        )
