"""What the page presents of a declared task beside pictures: its files, its screens and its plugin."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import Any

from lakatos.domains.declared.declaration import TaskDeclaration, as_shown, read_task
from lakatos.domains.declared.picture import draw, draw_attribute, file_shown
from lakatos.domains.declared.presentation_declaration import digest_in, fields_of, file_in, plain
from lakatos.experiments.presentation import (
    Medium,
    PagePlugin,
    Presentation,
    RecordedField,
    Screen,
    medium_fields,
    screen_fields,
)
from lakatos.experiments.task import Stimuli

PLAYED = ("audio/", "video/")
TEXT = "font-size:1.5rem;text-align:center;white-space:pre-line"


@lru_cache(maxsize=64)
def presentation_in(text: str) -> Presentation | None:
    """What the page presents beside the pictures of the task that a text declares; None if there is nothing."""
    task = read_task(text)
    known = {name: Medium(name, *file_in(address)) for name, address in task.embedded.items()}
    used = known if task.plugin else _played(known)
    media = {item.digest: item for item in used.values() if not item.kind.startswith("text/")}
    if not media and not task.screens and not task.plugin:
        return None
    trials = DeclaredTrials(task)
    if task.plugin:
        fields = {
            name: item for name, item in fields_of(task.plugin).items() if item.kind != "option"
        }
        del fields[task.plugin.time]
    else:
        fields = screen_fields(len(task.screens)) | _fields_of_media(task)
    return Presentation(
        media=media,
        waits_for_end=task.wait_for_end,
        fields=fields,
        screens=trials.screens,
        picture=trials.picture,
        words=_words(task),
        plugin=_plugin(task, known, trials) if task.plugin else None,
    )


def _words(task: TaskDeclaration) -> tuple[str, ...]:
    """How trials are presented, in sentences."""
    found = []
    if task.screens:
        screens = [
            f"{screen.what} ({f'{screen.ms:g} ms' if screen.ms else 'to its end'})"
            for screen in task.screens
        ]
        found.append(f"Screens before the options: {', '.join(screens)}.")
    has_sounds = any(item.audio or item.video for item in task.attributes.values())
    if has_sounds and not task.plugin:
        when = "after they have ended" if task.wait_for_end else "while they are played, too"
        found.append(f"Sounds and films are played once; a response is possible {when}.")
    if task.plugin:
        name, data = task.plugin.file, ", ".join(task.plugin.data)
        digest = digest_in(task.embedded[name])[:12] if name in task.embedded else ""
        found.append(
            f"The jsPsych plugin {name} (SHA-256 {digest}...) presents trials and returns {data}."
        )
    if task.files:
        instead = "shown in words" if task.feedback else "missed"
        found.append(
            f"A trial of which something cannot be loaded is {instead}, which is recorded."
        )
    return tuple(found)


def _played(known: dict[str, Medium]) -> dict[str, Medium]:
    """Sounds and films among files."""
    return {name: item for name, item in known.items() if item.kind.startswith(PLAYED)}


def _fields_of_media(task: TaskDeclaration) -> dict[str, RecordedField]:
    """Times that are recorded of sounds and films, by the names that the page gives them."""
    names = [
        f"{name}_{place + 1}"
        for name, item in task.attributes.items()
        if item.audio or item.video
        for place in range(len(task.options))
    ]
    for place, screen in enumerate(task.screens, 1):
        if screen.audio or screen.video:
            names.append(f"screen_{place}_medium")
    return {field: item for name in names for field, item in medium_fields(name).items()}


def _plugin(
    task: TaskDeclaration, known: dict[str, Medium], trials: DeclaredTrials
) -> PagePlugin | None:
    plugin = task.plugin
    if plugin is None or plugin.file not in known:
        return None
    return PagePlugin(
        script=known[plugin.file].data.decode(),
        class_name=plugin.class_,
        response=plugin.response,
        time=plugin.time,
        fields=fields_of(plugin),
        trial=trials.parameters,
    )


@dataclass(frozen=True)
class DeclaredTrials:
    """Screens, pictures and parameters of the trials of a declared task."""

    task: TaskDeclaration

    def _values(self, stimuli: Stimuli, row: int) -> dict[str, Any]:
        return {name: stimuli[name][row] for name in self.task.attributes}

    def picture(self, stimuli: Stimuli, row: int) -> str:
        """The picture without attributes that a screen has shown."""
        return draw(self.task, self._values(stimuli, row), self.task.on_screens)

    def screens(self, stimuli: Stimuli, row: int) -> tuple[Screen, ...]:
        """Screens before the response to a trial."""
        values = self._values(stimuli, row)
        found = []
        for place, screen in enumerate(self.task.screens, 1):
            if screen.attribute:
                html = draw_attribute(self.task, screen.attribute, values)
            elif screen.file:
                file = screen.file[1]
                html = file_shown(self.task, file, screen.words, f"screen_{place}_medium")
            else:
                html = f'<p style="{TEXT}">{escape(screen.text)}</p>'
            found.append(Screen(html, screen.ms))
        return tuple(found)

    def parameters(self, stimuli: Stimuli, row: int) -> dict[str, Any]:
        """Parameters of a plugin's trial: the declared ones, labels of the options, and each attribute's values."""
        task, values = self.task, self._values(stimuli, row)
        assert task.plugin is not None
        given: dict[str, Any] = {
            name: plain(value) for name, value in task.plugin.parameters.items()
        }
        files: dict[str, list[str]] = {}
        for name, item in task.attributes.items():
            own = [float(value) for value in values[name]]
            given[name] = [as_shown(item, value) if item.words else value for value in own]
            if item.uses:
                files[name] = [self._file(item.file_name(value)) for value in own]
        free = stimuli.available(len(task.options))[row]
        choices = [label for label, is_free in zip(task.options, free, strict=True) if is_free]
        return {**given, "choices": choices, "prompt": task.question, "files": files}

    def _file(self, name: str) -> str:
        """The text of a fragment, else the digest of a file; empty where a level has none."""
        if name not in self.task.embedded:
            return ""
        address = self.task.embedded[name]
        kind, data = file_in(address)
        return data.decode() if kind == "text/html" else digest_in(address)
