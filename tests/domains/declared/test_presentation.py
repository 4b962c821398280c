"""Sounds, films, fragments, screens and plugins of a declared task: what is read, refused, presented and recorded."""

from __future__ import annotations

import io
import re
import sys
import wave
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from tasks import gifts

from lakatos.domains.declared.fragment import fragment
from lakatos.domains.declared.presentation_declaration import check_kind, line_of
from lakatos.domains.declared.task import DeclaredDomain
from lakatos.domains.declared.task_file import domain_in, is_changed, read_task_file
from lakatos.experiments.conditions import with_conditions
from lakatos.experiments.errors import TaskFileError
from lakatos.experiments.participants.web.questions import PageQuestion
from lakatos.experiments.presentation import RecordedField, media_in, place_of, presentation_of
from lakatos.traces.digest import digest_bytes

VOICES = (
    'levels = ["plain", "red", "gold"]',
    'levels = ["plain", "red", "gold"]\naudio = "voices/{level}.wav"',
)
SCREENS = """
[[screens]]
text = "+"
ms = 500

[[screens]]
attribute = "wrapping"
ms = 250

[[screens]]
html = "mask.html"
ms = 100
"""
PLUGIN = """
[plugin]
file = "tap.js"
class = "Tap"
response = "choice"
time = "rt"

[plugin.parameters]
speed = 2

[plugin.data.choice]
type = "option"

[plugin.data.rt]
type = "number"
least = 0
most = 60000

[plugin.data.taps]
type = "integer"
least = 0
most = 100
meaning = "number of taps"
"""
FEEDBACK = """
[feedback]
shows = "chosen"
unit = "points"
steps = 4

[feedback.outcomes.left]
amounts = [1, 0]
chances = [0.5, 0.5]

[feedback.outcomes.right]
amounts = [1, 0]
chances = [0.5, 0.5]
"""
MANY = (
    VOICES,
    ('["left", "right"]', "{ from = 1, to = 20 }"),
    ('kind = "amount"', 'kind = "category"'),
    (
        'unit = "€"\nlevels = [1, 2, 4, 8]\nbetter = "more"',
        'levels = ["red", "gold"]\naudio = "voices/{level}.wav"',
    ),
)
LONG = ("[attributes.wrapping]", f"[attributes.{'w' * 41}]")
MASK = '<div style="font-size:3rem">####</div>'
TAP = "class Tap { static info = { name: 'tap', parameters: {} }; trial() {} }\n"


def sound(ms: int = 100, level: int = 0) -> bytes:
    """A tone as a WAV file."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        samples = 1000 * np.sin(np.arange(8 * ms) * (0.3 + level))
        file.writeframes(samples.astype("<i2").tobytes())
    return out.getvalue()


def task(folder: Path, *changes: tuple[str, str], add: str = "") -> Path:
    """A declaration with a sound for each wrapping, a mask and a plugin beside it."""
    (folder / "voices").mkdir(exist_ok=True)
    for place, level in enumerate(("plain", "red", "gold")):
        (folder / "voices" / f"{level}.wav").write_bytes(sound(level=place))
    (folder / "mask.html").write_text(MASK)
    (folder / "tap.js").write_text(TAP)
    path = folder / "gifts.toml"
    path.write_text(gifts(*changes, add=add))
    return path


def test_sounds_are_part_of_the_task_and_each_trial_names_its_own(tmp_path: Path) -> None:
    path = task(tmp_path, VOICES)
    file = read_task_file(path)
    domain = domain_in(file)
    presentation = presentation_of(domain)
    assert presentation is not None
    assert {item.name: item.data for item in presentation.media.values()} == {
        f"voices/{level}.wav": sound(level=place) for place, level in enumerate(("plain", "red", "gold"))
    }  # fmt: skip
    trial = domain.candidates({}, np.random.default_rng(1), 1)
    wrapped = np.asarray(trial.arrays["wrapping"])[0].astype(int).tolist()
    assert media_in(presentation.picture(trial, 0)) == [
        (digest_bytes(sound(level=level)), f"wrapping_{place}")
        for place, level in enumerate(wrapped, 1)
    ]
    assert presentation.waits_for_end
    assert "wrapping_2_start_ms" in presentation.fields
    assert DeclaredDomain(file.text).presentation == presentation
    assert presentation_of(with_conditions(domain, ("a", "b"))) is not None
    (tmp_path / "voices" / "red.wav").write_bytes(sound(level=7))
    assert is_changed(file)
    assert read_task_file(path).digest != file.digest


def test_screens_come_before_the_options_and_show_an_attribute_once(tmp_path: Path) -> None:
    domain = domain_in(read_task_file(task(tmp_path, add=SCREENS)))
    presentation = presentation_of(domain)
    assert presentation is not None
    trial = domain.candidates({}, np.random.default_rng(1), 1)
    screens = presentation.screens(trial, 0)
    assert [screen.duration_ms for screen in screens] == [500, 250, 100]
    words = [("plain", "red", "gold")[int(value)] for value in trial.arrays["wrapping"][0]]
    assert all(word in screens[1].html for word in words)
    assert MASK in screens[2].html
    assert "Wrapping" not in presentation.picture(trial, 0)
    assert "Wrapping" in domain.picture(trial, 0)  # reports show the whole trial
    assert list(presentation.fields) == [
        f"screen_{place}_{end}_ms" for place in (1, 2, 3) for end in ("onset", "offset")
    ]


def test_a_plugin_gets_the_trial_and_its_data_are_read_by_the_schema(tmp_path: Path) -> None:
    domain = domain_in(read_task_file(task(tmp_path, VOICES, add=PLUGIN)))
    presentation = presentation_of(domain)
    assert presentation is not None
    assert presentation.plugin is not None
    plugin = presentation.plugin
    trial = domain.candidates({}, np.random.default_rng(1), 1)
    given = plugin.trial(trial, 0)
    assert given["speed"] == 2
    assert given["choices"] == ["left", "right"]
    assert given["worth"] == trial.arrays["worth"][0].tolist()
    assert set(given["files"]["wrapping"]) <= set(presentation.media)
    assert list(presentation.fields) == ["taps"]
    options, free = domain.options, (True, True)
    good = {"choice": "right", "rt": 812.5, "taps": 3}
    assert plugin.read(good, options, free) == (1, 812.5, {"taps": 3.0})
    for wrong, words in (
        ({"choice": "up"}, "choice is no option"),
        ({"choice": 2}, "choice is no option"),
        ({"rt": -1}, "rt is -1, outside 0 to 60000"),
        ({"rt": "fast"}, "rt is no number"),
        ({"taps": 1.5}, "taps is no whole number"),
        ({"taps": True}, "taps is no integer"),
        ({"other": 1}, "other is not declared"),
    ):
        with pytest.raises(ValueError, match=words):
            plugin.read(good | wrong, options, free)
    with pytest.raises(ValueError, match="taps is missing"):
        plugin.read({"choice": 0, "rt": 1.0}, options, free)
    with pytest.raises(ValueError, match="choice is no option"):
        plugin.read(good, options, (True, False))


def test_steps_with_feedback_present_the_same_and_plugins_see_the_options_offered(
    tmp_path: Path,
) -> None:
    domain = domain_in(read_task_file(task(tmp_path, VOICES, add=PLUGIN + FEEDBACK)))
    presentation = presentation_of(domain)
    assert presentation is not None
    assert presentation.plugin is not None
    steps = domain.candidates({}, np.random.default_rng(1), 4)
    given = presentation.plugin.trial(steps, 0)
    assert given["choices"] == ["left", "right"]
    assert given["cue"] == ""
    assert len(media_in(presentation.picture(steps, 0))) == 2
    data = {"choice": 0, "rt": 5, "taps": 1}
    assert presentation.plugin.read(data, ("a", "b", "c"), (False, True, True))[0] == 1


def test_an_option_is_named_by_its_label_its_number_or_its_place() -> None:
    coins = ("2 coins", "4 coins", "6 coins")
    assert [place_of(value, coins) for value in ("4 coins", 4, 6.0, 1, None)] == [1, 1, 2, None, None]  # fmt: skip
    assert [place_of(value, ("left", "right")) for value in ("right", 0, 2, True)] == [1, 0, None, None]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "add", "line", "words"),
    [
        (
            (),
            SCREENS.replace("mask.html", "none.html"),
            'html = "none.html"',
            "cannot read none.html, a HTML",
        ),
        ((), SCREENS.replace("mask.html", "../mask.html"), 'html = "../mask.html"', "lies outside"),
        (
            (),
            SCREENS.replace("mask.html", "link.html"),
            'html = "link.html"',
            "link.html lies outside",
        ),
        (
            (),
            SCREENS.replace("mask.html", "tap.js"),
            'html = "tap.js"',
            "tap.js does not end as a HTML",
        ),
        (
            (),
            SCREENS.replace('html = "mask', 'audio = "mask'),
            'audio = "mask.html"',
            "mask.html does not end",
        ),
        ((), SCREENS.replace("wrapping", "colour"), 'attribute = "colour"', "there is no 'colour'"),
        ((), SCREENS.replace('"+"\nms = 500', '"+"'), "[[screens]]", "screens.0: give ms"),
        (
            (),
            SCREENS.replace("ms = 100", "sm = 100"),
            "sm = 100",
            "unknown key 'screens.2.sm'; known here: text, html",
        ),
        ((), SCREENS.replace("ms = 100", "ms = 1e9"), "ms = 1e9", "screens.2.ms"),
        ((), SCREENS.replace('"+"', '"+"\nimage = "a.png"'), "[[screens]]", "not text and image"),
        ((), SCREENS + PLUGIN, "[[screens]]", "the plugin presents trials in place of the page"),
        (MANY, "", "[attributes.worth]", "160 times of sounds, films and screens"),
        ((VOICES, LONG), "", f"[attributes.{'w' * 41}]", "its name has 41 characters"),
        ((), PLUGIN.replace("tap.js", "none.js"), 'file = "none.js"', "cannot read none.js"),
        (
            (),
            PLUGIN.split("[plugin.data.choice]")[0],
            "[plugin]",
            "the key 'plugin.data' is missing",
        ),
        ((), PLUGIN.replace('"choice"', '"answer"'), "[plugin]", "response = 'answer' is no field"),
        ((), PLUGIN.replace('"integer"', '"whole"'), 'type = "whole"', "plugin.data.taps.type"),
        (
            (),
            PLUGIN.replace("least = 0\nmost = 60000", ""),
            "[plugin]",
            "data.rt is a response time",
        ),
        ((), PLUGIN.replace("speed", "worth"), "worth = 2", "trials have a parameter of this name"),
    ],
)
def test_what_cannot_be_presented_is_refused_with_its_line(
    tmp_path: Path, changes: tuple[tuple[str, str], ...], add: str, line: str, words: str
) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    (tmp_path / "mask.html").write_text(MASK)
    (folder / "link.html").symlink_to(tmp_path / "mask.html")
    path = task(folder, *changes, add=add)
    number = path.read_text().split("\n").index(line) + 1
    with pytest.raises(TaskFileError, match=f"gifts.toml, line {number}: .*{re.escape(words)}"):
        read_task_file(path)


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.wav", sound(), ""),
        ("a.mp3", b"ID3\x04", ""),
        ("a.mp3", b"\xff\xfb\x90\x00", ""),
        ("a.ogg", b"OggS", ""),
        ("a.m4a", b"\0\0\0\x20ftypM4A ", ""),
        ("a.webm", b"\x1a\x45\xdf\xa3....webm", ""),
        ("a.mp3", sound(), "a.mp3 ends in .mp3, but its content is audio/wav"),
        ("a.wav", b"<html>", "a.wav ends in .wav, but its content is no MP3"),
        ("a.exe", sound(), "a.exe does not end as"),
        ("a", sound(), "does not end as"),
    ],
)  # fmt: skip
def test_a_sound_is_known_by_its_ending_and_its_content(name: str, data: bytes, words: str) -> None:
    if words:
        with pytest.raises(ValueError, match=words):
            check_kind("audio", name, data)
    else:
        assert check_kind("audio", name, data).startswith("audio/")


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("import { ParameterType as P } from 'jspsych';\nclass Tap {}", ""),
        ("\nimport x from 'https://a.b/c.js';", "tap.js, line 2: only names of jspsych"),
        ("const a = '</script>';", "holds '</script'"),
        ("const a = '<!-- x';", "holds '<!--'"),
    ],
)
def test_a_plugin_is_one_file(script: str, words: str) -> None:
    if words:
        with pytest.raises(ValueError, match=words):
            check_kind("plugin", "tap.js", script.encode())
    else:
        assert check_kind("plugin", "tap.js", script.encode()) == "text/javascript"


def test_a_fragment_is_written_anew_from_what_is_allowed() -> None:
    text = '<P title="a &quot;b&quot;">1 &lt; 2<br/><svg viewBox="0 0 1 1"><circle r=1 fill="red"/></svg></P><!-- x -->'
    clean = fragment(text)
    assert clean == (
        '<p title="a &quot;b&quot;">1 &lt; 2<br><svg viewbox="0 0 1 1"><circle r="1" fill="red"></circle></svg></p>'
    )
    assert fragment(clean) == clean


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<p>a</p>\n<script>alert(1)</script>", "line 2: <script> is not allowed"),
        ("<p>a</p>\n1 < 2", "line 2: < begins no element"),
        ("<p title='a", "line 1: < begins no element"),
        ("<p title='" * 5000, "line 1: < begins no element"),
        ("<!--> <p>a</p> -->", "line 1: the comment has no plain end"),
        ("<!-- x --\n<!-- y -->", "line 1: the comment has no plain end"),
        ("a\n<!--" * 5000, "line 2: the comment has no plain end"),
        ("<p onclick='x()'>a</p>", "the attribute onclick of <p>"),
        ("<img src='https://a.b/c.png' alt='x'>", "src is no image in the text"),
        ("<img src='data:image/svg+xml;base64,AAAA' alt='x'>", "src is no image in the text"),
        ("<img src='data:image/png;base64,AAAA'>", "needs alt"),
        ("<p style='background:url(//a.b)'>a</p>", "has an address"),
        ("<p style='background:image-set(\"//a.b\" 1x)'>a</p>", "has an address"),
        ("<p style='position:fixed'>a</p>", "has an address, a position"),
        ("<a href='x'>a</a>", "<a> is not allowed"),
        ("<iframe></iframe>", "<iframe> is not allowed"),
        ("<h1>a</h1>", "<h1> is not allowed"),
        ("<!doctype html><p>a</p>", "whole document"),
        ("<p>a", "line 1: <p> is not closed"),
        ("<p>a</div>", "ends an element"),
        ("<p id='main'>a</p>", "the attribute id"),
        ("<?php ?>", "instructions"),
        ("<p>a</p>\n<![if x]>", "line 2: marked sections"),
    ],
)
def test_a_fragment_with_anything_else_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        fragment(text)


def test_a_text_that_holds_half_a_character_is_refused() -> None:
    """Browsers send an emoji that was cut in half; it could be stored nowhere later."""
    field = RecordedField("text")
    assert field.read("nice \U0001f600") == "nice \U0001f600"
    with pytest.raises(ValueError, match="half a character"):
        field.read("nice \ud83d")
    question = PageQuestion.model_validate({"name": "why", "text": "Why?", "kind": "text"})
    with pytest.raises(ValueError, match="why holds half a character"):
        question.reply("\udc00")


def test_a_whole_number_beyond_all_limits_is_refused() -> None:
    with pytest.raises(ValueError, match="outside 0 to 100"):
        RecordedField("integer", least=0, most=100).read(10**400)


def test_a_field_of_a_plugin_has_no_name_of_the_page(tmp_path: Path) -> None:
    path = task(tmp_path, add=PLUGIN.replace("[plugin.data.taps]", "[plugin.data.failure]"))
    with pytest.raises(TaskFileError, match="'failure' is recorded by the page itself"):
        read_task_file(path)


def test_a_file_that_became_invalid_has_changed_and_one_that_is_gone_has_not(
    tmp_path: Path,
) -> None:
    file = read_task_file(task(tmp_path, VOICES))
    assert not is_changed(file)
    voice = tmp_path / "voices" / "red.wav"
    voice.write_bytes(b"<html>")
    assert is_changed(file)
    voice.unlink()
    assert not is_changed(file)


def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path) -> None:
    path = task(tmp_path, (VOICES[0], VOICES[1].replace("voices/", "voices\\u0000/")))
    with pytest.raises(TaskFileError, match=r"names no file"):
        read_task_file(path)


def test_a_fragment_that_reached_a_text_otherwise_is_refused_as_well(tmp_path: Path) -> None:
    text = read_task_file(task(tmp_path, add=SCREENS)).text
    bad = text.replace("PGRpdi", "PHNjcmlwdD4")
    assert bad != text
    with pytest.raises(TaskFileError, match=r"embedded: mask\.html"):
        DeclaredDomain(bad)


def test_the_line_of_a_key_is_found_in_lists_of_sections() -> None:
    text = "a = 1\n[[b]]\nc = 1\n[[b]]\nc = 2\n[d.e]\nf = 3"
    known = {"a": 1, "b": 2, "d": 6, "b 0 c": 3, "b 1 c": 5, "b 1 x": 4, "d e f": 7, "z": 0}
    assert {place: line_of(text, place.split(" ")) for place in known} == known
