"""Words for theories of answers in conflict; `theories.language.account.ClauseWording` says what each entry means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Words = Mapping[str, tuple[dict[str, Any], ...]]
GATHERS = (
    {"says": "press a key when the evidence reaches a bound (bounds are {bound} apart, evidence is {rate} a second, in "
     "units of its noise in a second)", "plain": True},
    {"says": "need time for seeing and pressing besides (about {delay} s)", "plain": True},
)  # fmt: skip
RACED = (
    {
        "says": "add {far}more evidence to the answer that the distractor suggests",
        "opposite": "add {far}less evidence to the answer that the distractor suggests",
        "rest": "less",
        "opposite_rest": "more",
        "by": "interference",
        "unit": 0.4,
        "label": "interference",
        "opposite_label": "contrast",
    },
)
FROM_BOTH = {
    "says": "gather {far}more evidence where the distractor suggests the right answer",
    "opposite": "gather {far}less evidence where the distractor suggests the right answer",
    "rest": "less", "opposite_rest": "more",
    "by": "interference", "unit": 0.4, "label": "interference", "opposite_label": "contrast",
}  # fmt: skip


def _told(
    says: str, opposite: str, by: str, unit: float, label: str, other: str
) -> tuple[dict[str, Any], ...]:
    return (
        {"says": says, "opposite": opposite, "by": by, "unit": unit, "label": label, "opposite_label": other},
    )  # fmt: skip


WORDS: Words = {
    "habit:one key": _told(
        "{much}lean to the key on the right before they have seen anything",
        "{much}lean to the key on the left before they have seen anything",
        "key_bias", 0.1, "right keys", "left keys",
    ),
    "habit:the last key": _told(
        "{much}lean to the key that they have just pressed",
        "{much}lean away from the key that they have just pressed",
        "repetition", 0.1, "repetition", "alternation",
    ),
    "habit:quick repetitions": _told(
        "are {far}quicker at seeing and pressing what they have just pressed",
        "are {far}slower at seeing and pressing what they have just pressed",
        "saving", 0.03, "quick repetitions", "slow repetitions",
    ),
    "habit:now this, now that": (
        {"says": "{much}lean now to one answer and now to another before they see anything (over {start_range%} of the "
         "way)", "by": "start_range", "unit": 0.3, "label": "varying start"},
    ),
    "control:after conflict": _told(
        "heed the distractor {far}less after a conflict",
        "heed the distractor {far}more after a conflict",
        "adaptation", 0.3, "adaptation", "exhaustion",
    ),
    "control:caution after errors": _told(
        "want {far}more evidence after an error",
        "want {far}less evidence after an error",
        "post_error_caution", 0.1, "post-error caution", "post-error haste",
    ),
    "control:distraction after errors": _told(
        "gather evidence {far}more slowly after an error",
        "gather evidence {far}faster after an error",
        "distraction", 0.2, "post-error distraction", "post-error focus",
    ),
    "control:pause after errors": _told(
        "begin {far}later after an error",
        "begin {far}sooner after an error",
        "pause", 0.03, "post-error pauses", "post-error hurry",
    ),
    "clearness:varying": (
        {"says": "see the target more clearly in some trials than in others (evidence varies by {unevenness} a second)",
         "label": "varying clearness"},
    ),
    "process:without conflict": (
        {"says": "gather evidence for the right answer, whatever the distractor suggests"}, *GATHERS,
    ),
    "process:evidence from both": (FROM_BOTH, *GATHERS),
    "process:a pull that fades": (
        {"says": "are {much}pulled by the distractor with a force that rises and fades (most after about {fade} s)",
         "opposite": "are {much}pushed away from the distractor's answer with a force that rises and fades (most after "
         "about {fade} s)", "by": "pull", "unit": 0.1, "label": "pull", "opposite_label": "push"},
        *GATHERS,
    ),
    "process:a narrowing spotlight": (
        {"says": "are {much}drawn to the distractor at first ({capture%} of the evidence), and look more and more at "
         "the target alone (within about {narrowing} s)", "by": "capture", "unit": 0.3},
        *GATHERS,
    ),
    "process:a late selection": (
        FROM_BOTH,
        {"says": "gather evidence from the target alone once it is selected (after about {selection} s)"},
        *GATHERS,
    ),
    "process:description": (
        {"says": "are {far}slower where the distractor suggests another answer",
         "opposite": "are {far}faster where the distractor suggests another answer", "by": "slowing", "unit": 0.03,
         "label": "slowing", "opposite_label": "speeding"},
        {"says": "are {far}less often right where the distractor suggests another answer",
         "opposite": "are {far}more often right where the distractor suggests another answer", "by": "accuracy_effect",
         "unit": 0.4, "label": "errors", "opposite_label": "fewer errors"},
        {"says": "need a normal time (about {time} s) and an exponential one (about {tail} s)"},
    ),
    "process:a race": (
        {"says": "gather evidence for each answer by itself ({rate} a second for the right one, {wrong_rate} for a "
         "wrong one) and press the key of the first that suffices ({bound})"},
        *RACED, GATHERS[1],
    ),
    "process:a race without noise": (
        {"says": "let each answer grow at a pace that differs between trials ({rate} a second for the right one, "
         "{wrong_rate} for a wrong one) and press the key of the first that suffices ({bound})"},
        *RACED, GATHERS[1],
    ),
    "patience:falling evenly": (
        {"says": "settle for less evidence the longer they have waited (for none after {meeting} s)",
         "label": "falling bounds"},
    ),
    "patience:falling at first": (
        {"says": "settle for less evidence the longer they have waited, most of all at first (for half as much after "
         "{halving} s)", "label": "early falling bounds"},
    ),
    "patience:a deadline": (
        {"says": "settle for little evidence when a deadline of their own is near (about {deadline} s)",
         "label": "deadline"},
    ),
    "lapse:the distractor's answer": (
        {"says": "{neglect~} answer to the distractor in place of the target ({neglect%} of the time)",
         "label": "goal neglect"},
    ),
    "lapse:anything": ({"says": "{lapse~} press any key at any time ({lapse%} of the time)"},),
}  # fmt: skip

SENTENCES = {"control": 2, "clearness": 3, "patience": 3, "lapse": 3}

HEADS = (
    (("process:evidence from both", "lapse:the distractor's answer"), "Goal neglect"),
    (("process:evidence from both",), "Diffusion"),
    (("process:a pull that fades",), "Conflict diffusion"),
    (("process:a narrowing spotlight",), "Narrowing spotlight"),
    (("process:a late selection",), "Late selection"),
    (("process:description",), "Ex-Gaussian times"),
    (("process:a race",), "Racing diffusion"),
    (("process:a race without noise",), "Ballistic race"),
    ((), "Diffusion without conflict"),
)
