"""Names of columns as words."""

from __future__ import annotations

import re
import shlex
import unicodedata
from typing import Final

ALL: Final = "answers"
"""Name of the only experiment of a file where no column tells experiments apart."""
SIDES: Final = "sides"
ORDER: Final = "order"
"""Inputs of theories that every kind of task may have: where an option stood, and in which order trials came."""
CHOICES = {
    "choice", "choose", "chosen", "chose", "response", "resp", "answer", "decision", "pick", "picked", "selected",
    "accept", "accepted", "taken", "took", "prediction", "predicted",
}  # fmt: skip
"""Words in names of columns of choices."""
ACCURACY = {"accuracy", "acc", "correct", "corr"}
ERRORS = {"error", "errors", "err", "wrong", "incorrect"}
JUDGING = ACCURACY | ERRORS
"""Words in names of columns that judge a response, and of these those of right and of wrong ones."""
MISSING_NUMBERS = (9, 77, 88, 99, 777, 888, 999, 7777, 8888, 9999, 99999, 999999)
"""Numbers that stand for missing values in many laboratories, also with a minus."""
PLACE_WORDS = {"side", "position", "pos", "location", "loc", "place", "key", "seite"}
"""Words in names of columns that say where an option stood."""
FIRST_PARTS = (
    "subject", "subj", "sub", "participant", "person", "ppt", "prolific", "worker", "trial", "session", "sess",
    "block", "run", "round", "response", "resp", "reaction", "choice", "reward", "rew", "key", "vp", "left", "right",
    "chosen", "correct", "total", "test",
)  # fmt: skip
LAST_PARTS = (
    "id", "ids", "pid", "num", "number", "nr", "no", "idx", "index", "code", "time", "rt", "mag", "cat", "type", "key",
    "keys", "pic", "img", "image", "stim", "option", "opt", "side",
    "points", "score", "reward", "money", "won", "datum", "date",
)  # fmt: skip
"""Words that names write as one: ``subjid``, ``trialnum``, ``responsetime``."""
KINDS = (
    "val",
    "value",
    "mag",
    "amt",
    "amount",
    "prob",
    "delay",
    "reward",
    "rew",
    "outcome",
    "payoff",
)
MARKED = ("ss", "ll", "s", "l", "h")
"""Letters before what an option holds: small or sooner, large or later, low and high, as in ``hval``."""


GERMAN = {
    "betrag": "amount", "sofort": "now", "jetzt": "now", "heute": "today", "frueher": "sooner", "spaeter": "later",
    "verzoegerung": "delay", "wartezeit": "wait", "tage": "days", "wochen": "weeks", "monate": "months",
    "gewinn": "gain", "verlust": "loss", "wahrscheinlichkeit": "probability", "belohnung": "reward",
    "sicher": "safe", "riskant": "risky", "links": "left", "rechts": "right", "bedingung": "condition",
    "gruppe": "group", "reaktionszeit": "rt", "blocknummer": "block", "frueh": "sooner", "spaet": "later",
    "gewaehlt": "chosen", "gewaehlte": "chosen", "entscheidung": "decision", "vorhersage": "prediction",
    "tipp": "prediction", "ausgang": "outcome", "ergebnis": "outcome", "rueckmeldung": "feedback",
    "taste": "key", "korrekt": "correct", "richtig": "correct",
    "fehler": "error", "wort": "word", "farbe": "color", "druckfarbe": "ink", "rz": "rt", "antwortzeit": "rt",
    "wahrsch": "probability", "zeit": "time", "alter": "age", "geschlecht": "gender", "korr": "correct",
    "kongruenz": "congruence", "angebot": "offer", "annehmen": "accept", "angenommen": "accepted",
    "zustand": "state", "stufe": "stage", "prozent": "percent", "hoch": "high",
    "niedrig": "low", "punkte": "points", "zielreiz": "target", "ablenker": "distractor", "seite": "side",
    "gegeben": "given", "abgegeben": "given", "oben": "top", "unten": "bottom",
    "datum": "date", "durchgang": "trial",
}  # fmt: skip
"""German words in names of columns, for which readers know the English ones."""
FRENCH = {
    "sujet": "subject", "essai": "trial", "choix": "choice", "reponse": "response", "recompense": "reward",
    "perte": "loss", "montant": "amount", "delai": "delay", "jours": "days", "semaines": "weeks", "mois": "months",
    "maintenant": "now", "immediat": "immediate", "differe": "delayed", "gauche": "left", "droite": "right",
    "probabilite": "probability", "risque": "risky", "bloc": "block", "groupe": "group", "sexe": "sex",
    "accepter": "accept", "accepte": "accept", "refuser": "reject", "choisi": "chosen",
    "mot": "word", "couleur": "color", "bonne": "correct", "exactitude": "accuracy",
    "etat": "state", "etape": "stage", "tot": "sooner", "tard": "later", "gagne": "won", "erreur": "error",
    "erreurs": "error", "juste": "correct", "touche": "key", "cote": "side",
    "haut": "top", "bas": "bottom",
}  # fmt: skip
SPANISH = {
    "participante": "participant", "sujeto": "subject", "ensayo": "trial", "eleccion": "choice",
    "respuesta": "response", "recompensa": "reward", "ganancia": "gain", "perdida": "loss", "monto": "amount",
    "demora": "delay", "dias": "days", "semanas": "weeks", "meses": "months", "ahora": "now", "despues": "later",
    "inmediato": "immediate", "izquierda": "left", "derecha": "right", "izq": "left", "der": "right",
    "probabilidad": "probability",
    "seguro": "safe", "arriesgado": "risky", "bloque": "block", "grupo": "group", "condicion": "condition",
    "edad": "age", "sexo": "sex", "aceptar": "accept", "rechazar": "reject", "oferta": "offer", "elegido": "chosen",
    "correcto": "correct", "palabra": "word", "tinta": "ink", "puntos": "points", "pronto": "sooner",
    "estado": "state", "etapa": "stage", "tarde": "later", "prediccion": "prediction", "resultado": "outcome",
    "lado": "side", "tecla": "key", "acierto": "correct", "premio": "reward", "izda": "left",
    "arriba": "top", "abajo": "bottom",
}  # fmt: skip
DUTCH = {
    "proefpersoon": "participant", "proef": "trial", "deelnemer": "participant", "beurt": "trial", "keuze": "choice",
    "gekozen": "chosen", "antwoord": "response", "beloning": "reward", "bedrag": "amount", "vertraging": "delay",
    "wachttijd": "wait", "dagen": "days", "weken": "weeks", "maanden": "months", "kans": "probability",
    "winst": "gain", "verlies": "loss", "vroeger": "sooner", "eerder": "sooner", "nu": "now",
    "reactietijd": "rt", "juist": "correct", "blok": "block", "groep": "group",
    "toestand": "state",
    "zeker": "safe", "riskant": "risky", "bod": "offer", "voorspelling": "prediction", "uitkomst": "outcome",
    "fout": "error", "fouten": "error", "goed": "correct", "juiste": "correct", "toets": "key", "woord": "word",
    "kleur": "color", "inktkleur": "ink", "kant": "side", "linker": "left", "rechter": "right",
    "boven": "top", "onder": "bottom",
}  # fmt: skip
ITALIAN = {
    "soggetto": "subject", "partecipante": "participant", "prova": "trial", "scelta": "choice",
    "risposta": "response", "ricompensa": "reward", "vincita": "gain", "guadagno": "gain", "perdita": "loss",
    "importo": "amount", "ritardo": "delay", "attesa": "wait", "giorni": "days", "settimane": "weeks", "mesi": "months",
    "subito": "now", "oggi": "today", "dopo": "later", "sinistra": "left", "destra": "right",
    "probabilita": "probability", "sicuro": "safe", "sicura": "safe", "rischioso": "risky", "blocco": "block",
    "gruppo": "group", "condizione": "condition", "eta": "age", "sesso": "sex", "corretto": "correct",
    "corretta": "correct", "errore": "error", "parola": "word", "colore": "color", "punti": "points",
    "congruenza": "congruence", "offerta": "offer", "lato": "side", "tasto": "key", "accettato": "accepted",
}  # fmt: skip
PORTUGUESE = {
    "tentativa": "trial", "escolha": "choice", "resposta": "response", "ganho": "gain", "perda": "loss",
    "atraso": "delay", "semanas": "weeks", "agora": "now", "hoje": "today", "depois": "later", "esquerda": "left",
    "direita": "right", "probabilidade": "probability", "arriscado": "risky", "bloco": "block", "condicao": "condition",
    "idade": "age", "correta": "correct", "correto": "correct", "erro": "error", "palavra": "word",
    "pontos": "points", "congruencia": "congruence", "aceitar": "accept", "aceito": "accepted",
}  # fmt: skip
"""Words of further languages likewise, without accents."""
ENGLISH = GERMAN | FRENCH | SPANISH | DUTCH | PORTUGUESE | ITALIAN
ROMANCE_TIME = re.compile(
    r"(temps|tiempo|tempo)[\W_]*(d[ei][\W_]*)?(reponse|reaction|respuesta|reaccion|risposta|reazione|resposta|reacao)",
    re.IGNORECASE,
)
"""A response time in French or Spanish, which is no response."""
UMLAUTS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"}
)


def column_option(meaning: str) -> str:
    """The option that says a meaning such as ``responses.not sure=1``, in quotes where a shell would divide it."""
    return f"--column {shlex.quote(meaning)}"


def words_of(name: str) -> list[str]:
    """Words and numbers of a name, in English: ``Left_Expert2`` has ``left``, ``expert``, ``2``; ``subjid`` has two."""
    plain = name.translate(UMLAUTS)
    if not plain.isascii():
        plain = "".join(
            letter
            for letter in unicodedata.normalize("NFKD", plain)
            if not unicodedata.combining(letter)
        )
    plain = ROMANCE_TIME.sub("rt", plain)
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", plain)
    words = [word for part in parts for word in _parted(part.lower())]
    return [ENGLISH.get(word, word) for word in words]


def _parted(word: str) -> list[str]:
    """A word as the two words that it is glued of; the word alone where it is none of these."""
    for first in FIRST_PARTS:
        if word.startswith(first) and word.removeprefix(first) in LAST_PARTS:
            return [first, word.removeprefix(first)]
    for mark in MARKED:
        if word.startswith(mark) and word.removeprefix(mark) in KINDS:
            return [mark, word.removeprefix(mark)]
    return [word]


def letters_of(name: str) -> list[str]:
    """The two letters of a short name such as ``RA`` or ``dB``; nothing for other names."""
    return [letter.lower() for letter in name] if re.fullmatch(r"[A-Za-z]{2}", name) else []


def experiment_in_words(name: str) -> str:
    """An experiment's name for readers: ``1.1`` where its people come from a file that tells no experiments apart."""
    return name.removesuffix(f" {ALL}")
