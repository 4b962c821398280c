"""What the browser is sent: texts without the right answers, and the steps that a person may see now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any, Final

import numpy as np

from lakatos.experiments.outcomes import HasOutcomes, NamesOptions, NamesOutcomes
from lakatos.experiments.participants.answers import LOOK_AHEAD
from lakatos.experiments.participants.timed_answer import timed_task
from lakatos.experiments.participants.web.manner import PageCondition
from lakatos.experiments.participants.web.questions import QuestionBlock
from lakatos.experiments.participants.web.session import ACTIVE, PageSession
from lakatos.experiments.participants.web.settings import PageSettings
from lakatos.experiments.participants.web.study import (
    PageExperiment,
    PageStep,
    available,
    condition_at,
    offered,
    plan_of,
    seen,
)
from lakatos.experiments.participants.web.texts import (
    REFERENCE,
    Texts,
    consent_digest,
    consent_lines,
    filled,
    later,
    merged,
    option_labels,
    packaged,
    translated,
)
from lakatos.experiments.participants.web.timed import timed_words
from lakatos.experiments.presentation import presentation_of
from lakatos.experiments.task import Stimuli

BLOCKS: Final[tuple[QuestionBlock, ...]] = ("before", "after")


def language_of(experiment: PageExperiment | None, wanted: str) -> str:
    """``wanted`` where there is such a language, else the one that the study shows first."""
    languages = experiment.texts if experiment else packaged()
    first = experiment.settings.language if experiment else REFERENCE
    return next(name for name in (wanted, first, REFERENCE) if name in languages)


def texts_of(experiment: PageExperiment, language: str, condition: str = "") -> Texts:
    """All texts of an experiment in a language that it has, as people of a condition read them."""
    texts, settings = _as_drawn(experiment, experiment.texts[language]), experiment.settings
    known = settings.conditions.get(condition)
    if known is None:
        return texts
    own = merged(texts, known.texts.get(language, {}))
    part = own["domains"][experiment.domain]
    read = [*part["instructions"], *known.paragraphs(language, settings.language)]
    return merged(own, {"domains": {experiment.domain: {"instructions": read}}})


def _as_drawn(experiment: PageExperiment, texts: Texts) -> Texts:
    """The texts with the task's words for how its trials are drawn, where responses are keys, or for lists of items."""
    if experiment.settings.study:
        part = texts["domains"][experiment.domain]
        return {**texts, "domains": {experiment.domain: {**part, **part["list"]}}}
    figures = experiment.figures
    if not figures:
        return texts
    part = timed_words(texts["domains"][experiment.domain], figures, experiment.n_options)
    return {**texts, "domains": {experiment.domain: part}}


def session_texts(session: PageSession) -> Texts:
    """All texts as one person reads them."""
    return texts_of(session.experiment, session.language, session.condition)


def consent_of(experiment: PageExperiment, language: str) -> list[str]:
    """What people agree to; the last line is the agreement itself."""
    texts = texts_of(experiment, language)
    return consent_lines(
        texts,
        first=texts["domains"][experiment.domain].get("consent", ""),
        contact=experiment.settings.contact,
        minutes=experiment.minutes,
        n_trials=experiment.design.n_presentations,
        recorded=[
            *experiment.settings.record,
            *(
                ["presented"]
                if presentation_of(experiment.task) or experiment.settings.study
                else []
            ),
        ],
        ticks=[item["text"] for item in _ticks(experiment.settings, language)],
    )


def _ticks(settings: PageSettings, language: str) -> list[dict[str, Any]]:
    """Boxes of the study on the consent page."""
    return [item.shown(language, settings.language) for item in settings.asked("consent")]


def public_texts(
    experiment: PageExperiment | None, language: str, condition: str = ""
) -> dict[str, Any]:
    """Everything that is read on the page in one language, without which answers to questions are right."""
    name = language_of(experiment, language)
    tables = experiment.texts if experiment else packaged()
    texts = texts_of(experiment, name, condition) if experiment else tables[name]
    made: dict[str, Any] = {
        part: texts[part] for part in ("page", "task", "stop", "end", "comprehension")
    }
    made["language"] = name
    made["languages"] = {code: table["name"] for code, table in tables.items()}
    made["instructions"] = texts["instructions"]
    if experiment is None:
        return made
    part, lines = texts["domains"][experiment.domain], consent_of(experiment, name)
    task_lines = _task_lines(experiment, part, later(texts, "flow"))
    has_right = experiment.task.sequential or experiment.figures or experiment.settings.study
    before = [] if has_right else texts["instructions"]["after"][:1]
    checks = texts["instructions"]["after"][1:] if experiment.settings.checks else []
    settings = experiment.settings.under(condition)
    manner = _manner(settings, later(texts, "flow"))
    made["instructions"] = texts["instructions"] | {
        "paragraphs": [*task_lines, *before, *checks, *manner]
    }
    made["flow"] = _flow(settings, later(texts, "flow")) | _timed_flow(experiment)
    if presentation_of(experiment.task):
        made["flow"]["skips"] = not experiment.task.sequential
    if experiment.media:
        made["flow"]["media"] = {key: item.name for key, item in experiment.media.items()}
    if experiment.settings.study:
        made["flow"]["skips"] = True
    made["questionnaire"] = texts.get("questionnaire", {}) | {
        block: [item.shown(name, settings.language) for item in settings.asked(block)]
        for block in BLOCKS
    }
    made["questions"] = [
        {"text": item["text"], "answers": item["answers"]} for item in part["questions"]
    ]
    ticks = _ticks(settings, name)
    made["consent"] = texts["consent"] | {
        "paragraphs": lines[: -1 - len(ticks)],
        "ticks": [{key: item[key] for key in ("name", "text", "optional")} for item in ticks],
        "agree": lines[-1],
        "digest": consent_digest(lines),
    }
    return made


def _manner(settings: PageSettings, words: Texts) -> list[str]:
    """What the instructions say of time limits and of what is shown between decisions."""
    limit = filled(words["time_limit"], seconds=f"{settings.timeout_ms / 1000:g}")
    return [
        *([limit] if settings.timeout_ms else []),
        *([words["fixation"]] if settings.fixation_ms else []),
    ]


def _flow(settings: PageSettings, words: Texts) -> dict[str, Any]:
    """How the browser gives the steps, with its words for it."""
    keys = filled(words["keys"], keys=", ".join(key.upper() for key in settings.keys))
    return {
        **words,
        "keys": keys if settings.keys else "",
        "own_keys": list(settings.keys),
        "slider": settings.slider,
        "timeout_ms": settings.timeout_ms,
        "fixation_ms": settings.fixation_ms,
        "notes_focus": "focus" in settings.record,
        "notes_browser": bool({"device", "hour"} & set(settings.record)),
    }


def _timed_flow(experiment: PageExperiment) -> dict[str, Any]:
    """How the browser gives trials whose responses are keys with their times; nothing for others."""
    if not experiment.figures:
        return {}
    return {"timed": True, "tells_right": experiment.settings.timed.feedback}


def passes(
    experiment: PageExperiment, language: str, answers: list[int], condition: str = ""
) -> bool:
    """Whether all comprehension questions are answered rightly."""
    texts = texts_of(experiment, language, condition)
    questions = texts["domains"][experiment.domain]["questions"]
    return answers == [item["right"] for item in questions]


def state_of(session: PageSession) -> dict[str, Any]:
    """A participant's present step, and the steps that can be answered from here."""
    steps = plan_of(session.experiment, session.place)
    state: dict[str, Any] = {
        "phase": _phase(session),
        "block": session.block or "",
        "language": session.language,
        "preview": session.preview,
        "n_steps": len(steps),
        "position": session.position,
        "attempts": session.attempts,
        "attempts_left": session.experiment.settings.most_attempts - session.attempts,
        "steps": [],
    }
    if session.status == ACTIVE:
        return state | {"steps": steps_of(session) if _phase(session) == "task" else []}
    return state | ending(session.status, session.code, session.finish)


def _phase(session: PageSession) -> str:
    if session.block is not None:
        return "questions"
    return "task" if session.passed else "instructions"


def ending(status: str, code: str = "", finish: str = "") -> dict[str, Any]:
    """The last page: how it ended, and what to take back to a recruitment service, where there is something."""
    return {"phase": "end", "status": status} | ({"code": code, "finish": finish} if code else {})


def steps_of(session: PageSession) -> list[dict[str, Any]]:
    """The step to be answered now, and, where nothing follows a response, some more."""
    experiment = session.experiment
    n_steps = 1 if experiment.task.sequential else 1 + LOOK_AHEAD
    coming = plan_of(experiment, session.place)[session.position : session.position + n_steps]
    return [
        {"position": session.position + place, **_step(session, session.position + place, step)}
        for place, step in enumerate(coming)
    ]


def feedback_words(experiment: PageExperiment, texts: Texts, feedback: Mapping[str, float]) -> str:
    """What followed a response, in a sentence; empty where nothing did. A declared task has words of its own."""
    words = texts["task"]
    if feedback and isinstance(experiment.task, HasOutcomes):
        return experiment.task.told_after(feedback)
    if feedback.get("next_state", 0) > 0:
        return filled(words["led_to"], place=f"{feedback['next_state']:g}")
    reward = feedback.get("reward")
    if reward is None:
        return ""
    if isinstance(experiment.task, NamesOutcomes):
        kind = experiment.task.outcome_of(feedback)
        words = texts["domains"][experiment.domain]["after"]
        return filled(words[kind], amount=f"{reward:.10g}") if kind else ""
    kind = "reward" if reward > 0 else "loss" if reward < 0 else "nothing"
    return filled(words[kind], amount=f"{abs(reward):.10g}")


def answer_words(session: PageSession, position: int, response: int | None) -> str:
    """Whether a response to a decision for practice was right, where one is; empty otherwise."""
    experiment = session.experiment
    step = plan_of(experiment, session.place)[position]
    right = right_answers(experiment, step)
    if response is None or step.row >= len(right):
        return ""
    texts = session_texts(session)
    words, labels = (
        later(texts, "flow"),
        labels_at(experiment, texts, experiment.stimuli_of(step), step.row),
    )
    place = right[step.row]
    return (
        str(words["is_right"])
        if response == place
        else filled(words["not_right"], option=labels[place])
    )


def right_answers(experiment: PageExperiment, step: PageStep) -> Sequence[int]:
    """Right options of the trials of which a step is one; empty where people are not told whether they were right."""
    task, practising = timed_task(experiment.task), step.kind == "practice"
    if task is None:
        return experiment.settings.practice.right if practising else ()
    kinds = {"none": (), "practice": ("practice",), "all": ("practice", "trial")}
    if step.kind not in kinds[experiment.settings.timed.feedback]:
        return ()
    return [int(key) for key in task.right_keys(experiment.stimuli_of(step))]


def labels_at(experiment: PageExperiment, texts: Texts, stimuli: Stimuli, row: int) -> list[str]:
    """Names of the options of a trial, in the language of ``texts``."""
    if isinstance(experiment.task, NamesOptions) and np.any(stimuli.arrays.get("go", 0)):
        names = experiment.task.option_names(stimuli, row)
        return [translated(f">{name}<", texts)[1:-1] for name in names]
    return option_labels(texts, experiment.domain, experiment.n_options)


def _step(session: PageSession, position: int, step: PageStep) -> dict[str, Any]:
    """What is shown of a step. An attention check has the form of a trial, so that only who reads it can tell."""
    texts = session_texts(session)
    if step.kind == "break":
        return _rest(session, step, later(texts, "flow"))
    experiment = session.experiment
    if step.kind == "study":
        return _studied(session, step, later(texts, "flow"))
    if step.kind == "retention":
        return _study_over(session, later(texts, "flow"))
    own = experiment.settings.conditions.get(condition_at(experiment, step))
    if step.kind == "condition":
        assert own is not None
        return _block_begins(session, step, own, later(texts, "flow"))
    is_check = step.kind == "check"
    shown_step = _step_behind_check(session, position) if is_check else step
    stimuli, row = experiment.stimuli_of(shown_step), shown_step.row
    labels = labels_at(experiment, texts, stimuli, row)
    options = [
        {"label": label, "available": free, "offered": ever}
        for label, free, ever in zip(
            labels, available(experiment, step), offered(experiment, step), strict=True
        )
    ]
    is_next = position == session.position and not is_check
    if is_next:
        stimuli, row = seen(experiment, step, session.feedback), 0
    presentation = presentation_of(experiment.task)
    draw = presentation.picture if presentation else experiment.picture
    picture = translated(draw(stimuli, row), texts) if not experiment.settings.study else ""
    if shown_step.item and not is_check:
        picture = experiment.settings.study.html(shown_step.item)
    if presentation and (presentation.plugin or (is_check and presentation.media)):
        picture = ""  # an attention check must not fail because a file does not load
    if is_check:
        picture = (
            f"<p>{escape(filled(texts['task']['check'], option=labels[step.row]))}</p>{picture}"
        )
    notices = notices_before(experiment, step, session.feedback, texts) if is_next else []
    if step.kind == "practice":
        notices = [later(texts, "flow")["practice_notice"], *notices]
    question = texts["domains"][experiment.domain]["question"]
    first = experiment.settings.language
    label = "" if own is None else own.line("label", session.language, first)
    if label and experiment.figures:  # timed trials have no notices
        question = f"{label} {question}"
    elif label:
        notices = [label, *notices]
    kind = "practice" if step.kind == "practice" else "trial"
    return {
        "kind": kind,
        "number": _number(session, position, kind),
        "question": question,
        "picture": picture,
        "notices": notices,
        "options": options,
        **({"wait": True} if step.item and experiment.settings.study.media else {}),
        **_times_at(session, step),
        **(_presented(experiment, stimuli, row, texts) if not is_check else {}),
    }


def _presented(
    experiment: PageExperiment, stimuli: Stimuli, row: int, texts: Texts
) -> dict[str, Any]:
    """What a trial presents beside its picture; with feedback also the whole trial in words, if something fails."""
    presentation = presentation_of(experiment.task)
    if presentation is None:
        return {}
    screens = presentation.screens(stimuli, row)
    found: dict[str, Any] = {
        "screens": [{"html": screen.html, "ms": screen.duration_ms} for screen in screens],
        "wait": presentation.waits_for_end,
    }
    if experiment.task.sequential:
        found["whole"] = translated(experiment.picture(stimuli, row), texts)
    if presentation.plugin:
        parameters = presentation.plugin.trial(stimuli, row)
        found["plugin"] = {"frame": presentation.plugin.digest, "trial": parameters}
    return found


def _times_at(session: PageSession, step: PageStep) -> dict[str, float]:
    """Time limit and fixation of a trial whose condition has its own; nothing for other steps."""
    if not condition_at(session.experiment, step):
        return {}
    settings = session.settings_at(step)
    return {"timeout_ms": settings.timeout_ms, "fixation_ms": settings.fixation_ms}


def _block_begins(
    session: PageSession, step: PageStep, own: PageCondition, words: Texts
) -> dict[str, Any]:
    """What is shown before a block of a condition."""
    language, settings = session.language, session.experiment.settings
    here = session.settings_at(step)
    changed = replace(
        here,
        timeout_ms=here.timeout_ms if own.timeout_ms is not None else 0.0,
        fixation_ms=here.fixation_ms if own.fixation_ms is not None else 0.0,
    )
    lines = own.paragraphs(language, settings.language)
    return {
        "kind": "break",
        "number": 0,
        "question": own.line("heading", language, settings.language) or words["block_heading"],
        "picture": "",
        "notices": [*lines, *_manner(changed, words)],
        "options": [{"label": words["go_on"], "available": True, "offered": True}],
    }


def _studied(session: PageSession, step: PageStep, words: Texts) -> dict[str, Any]:
    """What is shown of an item that is studied: for a time, after which nothing is shown for another one."""
    study = session.experiment.settings.study
    return {
        "kind": "study",
        "number": step.row + 1,
        "question": filled(words["item"], step=step.row + 1),
        "picture": study.html(step.item),
        "notices": [],
        "options": [],
        "shown_ms": study.shown_ms,
        "gap_ms": study.gap_ms,
    }


def _study_over(session: PageSession, words: Texts) -> dict[str, Any]:
    """What is shown between the last studied item and the first trial."""
    wait_s = session.experiment.settings.study.break_s
    waits = [filled(words["study_break"], seconds=f"{wait_s:g}")] if wait_s else []
    return {
        "kind": "break",
        "number": 0,
        "question": words["study_over"],
        "picture": "",
        "notices": [*waits, words["study_next"]],
        "options": [{"label": words["go_on"], "available": True, "offered": True}],
        "wait_ms": 1000 * wait_s,
    }


def _rest(session: PageSession, step: PageStep, words: Texts) -> dict[str, Any]:
    """What is shown of a break."""
    sentence = filled(
        words["break_paragraph"],
        step=step.row,
        of=session.experiment.design.n_presentations,
        minutes=f"{session.experiment.settings.idle_minutes:g}",
    )
    over = [words["practice_over"], words["practice_next"]]
    heading, lines = (words["break_heading"], [sentence]) if step.row else (over[0], over[1:])
    options = [{"label": words["go_on"], "available": True, "offered": True}]
    return {
        "kind": "break",
        "number": 0,
        "question": heading,
        "picture": "",
        "notices": lines,
        "options": options,
    }


def _number(session: PageSession, position: int, kind: str) -> int:
    """What the page calls a step: its place among those of practice, or among those that count."""
    steps = plan_of(session.experiment, session.place)[: position + 1]
    kinds = ("practice",) if kind == "practice" else ("trial", "check")
    return sum(step.kind in kinds for step in steps)


def _step_behind_check(session: PageSession, position: int) -> PageStep:
    """A trial that the person has answered before, whose picture stands behind the sentence of an attention check."""
    before = [
        step
        for step in plan_of(session.experiment, session.place)[:position]
        if step.kind == "trial"
    ]
    return before[len(before) // 2]


def notices_before(
    experiment: PageExperiment, step: PageStep, feedback: Mapping[str, float], texts: Texts
) -> list[str]:
    """What followed the trial before, by its ``feedback``, and where the person is now."""
    if not experiment.task.sequential:
        return []
    now = seen(experiment, step, feedback).arrays
    place = float(now["state"][0]) if "state" in now else 0.0
    if place and "cue" not in now:
        return [filled(texts["task"]["here"], place=f"{place:g}")]
    lines = [feedback_words(experiment, texts, feedback)]
    if feedback and "block_start" in now and now["block_start"][0]:
        lines.append(texts["task"]["new_game"])
    if has_two_stages(experiment):
        lines.append(texts["task"]["start"])
    return [line for line in lines if line]


def _task_lines(experiment: PageExperiment, part: Texts, flow: Mapping[str, Any]) -> list[str]:
    """What participants read of their task: also of two stages, cues or withheld responses, where it has them."""
    arrays = experiment.design.stimuli.arrays if isinstance(experiment.task, NamesOptions) else {}
    if np.any(arrays.get("go", 0)):
        return list(flow["withhold"])
    stages = part["two_stages"] if has_two_stages(experiment) else []
    return [*part["instructions"], *stages, *([flow["cues"]] if "cue" in arrays else [])]


def has_two_stages(experiment: PageExperiment) -> bool:
    """Whether some choices lead to a place where another one is made."""
    return bool(np.asarray(experiment.design.stimuli.arrays.get("stage", 0)).any())
