"""Sounds, films, screens and plugins on the page: what is served, shown, recorded, and what a failure leaves."""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "domains" / "declared"))

from accessible import faults
from taking_part import asked, in_inbox, open_experiment, served
from test_presentation import FEEDBACK, PLUGIN, SCREENS, VOICES, sound, task

from lakatos.domains import open_domain
from lakatos.experiments.participants.web.app import create_app, create_desk
from lakatos.experiments.participants.web.lab import create_lab
from lakatos.experiments.participants.web.manner import PracticeTrials
from lakatos.experiments.participants.web.texts import texts_for_domain
from lakatos.experiments.presentation import presentation_of
from lakatos.traces.digest import digest_bytes
from lakatos.traces.errors import RecordError
from lakatos.traces.inbox import Inbox

WAIT_MS = 30_000
PRESS = """
import { ParameterType as Type } from "jspsych";

class Press {
  static info = {
    name: "press", version: "1", data: {},
    parameters: { choices: { type: Type.STRING, array: true }, pause: { type: Type.INT, default: 50 } },
  };
  constructor(jsPsych) { this.jsPsych = jsPsych; }
  trial(display, trial) {
    const began = performance.now();
    const send = (choice) => this.jsPsych.finishTrial({ choice, rt: performance.now() - began, taps: trial.pause });
    display.innerHTML = `<p>${trial.prompt}</p>`;
    trial.choices.forEach((label) => {
      const made = document.createElement("button");
      made.textContent = label;
      made.onclick = () => send(label);
      display.append(made);
    });
    const onKey = (keys, act) =>
      this.jsPsych.pluginAPI.getKeyboardResponse({ valid_responses: keys, callback_function: act });
    onKey(["a", "b"], ({ key }) => send(key));
    onKey(["l"], () => send("left"));
  }
}
export default Press;
"""
"""A plugin with a button for each option; the key ``l`` chooses the left one, and other keys send what is no option."""


@pytest.fixture
def page(chrome: Any) -> Iterator[Any]:
    """A participant's page on a telephone; the test fails if it complains of anything but a file that is not there."""
    context = chrome.new_context(viewport={"width": 390, "height": 800}, locale="en-GB")
    context.set_default_timeout(WAIT_MS)
    said: list[str] = []
    context.on("console", lambda message: said.append(message.text))
    context.on("weberror", lambda error: said.append(str(error.error)))
    made = context.new_page()
    yield made
    context.close()
    assert [
        text
        for text in said
        if not any(code in text for code in ("404", "409", "ERR_FAILED", "ERR_INTERNET"))
    ] == []


def plugin_task(folder: Path, script: str = PRESS, add: str = "") -> Path:
    """A task with a plugin that sends ``taps`` beside response and time."""
    path = task(folder, VOICES, add=PLUGIN.replace('class = "Tap"', 'class = "Press"') + add)
    (folder / "tap.js").write_text(script)
    return path


def begin(page: Any, url: str, file: Path) -> None:
    """Everything before the first trial."""
    page.goto(f"{url}/study/")
    begin_here(page, file)


def begin_here(page: Any, file: Path) -> None:
    """Everything from consent to the first trial."""
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("button", name="Continue to some questions").click()
    own = open_domain(str(file))
    for item in texts_for_domain(own)["en"]["domains"][own.name]["questions"]:
        page.get_by_role("group", name=item["text"]).get_by_role("radio").nth(item["right"]).check()
    page.get_by_role("button", name="Check my answers").click()


def answer(page: Any, n_trials: int) -> None:
    """Choose the first option of each trial."""
    for number in range(1, n_trials + 1):
        page.get_by_role("heading", name=f"Decision {number}", exact=True).wait_for(
            state="attached"
        )
        page.locator(".options button:not([disabled])").first.wait_for()
        page.wait_for_timeout(230)
        page.locator(".options button").first.click()
    page.locator(".code").wait_for()


def test_a_consent_text_states_what_is_recorded_of_what_is_presented(tmp_path: Path) -> None:
    open_experiment(tmp_path, str(task(tmp_path, VOICES)))
    client = asked(create_app(tmp_path))
    client.get("/study/")
    words = " ".join(client.get("/study/api/texts").json()["consent"]["paragraphs"])
    assert "when each part of a decision was shown or played" in words


def joined(folder: Path, file: Path, **settings: Any) -> Any:
    """A participant who is at the first trial, and the state of the session."""
    open_experiment(folder, str(file), n_trials=3, checks=0, **settings)
    client = asked(create_app(folder))
    return client, begin_without_page(client, file)


def begin_without_page(client: Any, file: Path) -> Any:
    """Everything before the first trial, and the state of the session there."""
    client.get("/study/")
    consent = client.get("/study/api/texts").json()["consent"]["digest"]
    client.post("/study/api/consent", json={"consent": consent, "language": "en"})
    own = open_domain(str(file))
    right = [
        item["right"] for item in texts_for_domain(own)["en"]["domains"][own.name]["questions"]
    ]
    state = client.post("/study/api/comprehension", json={"attempt": 0, "answers": right}).json()
    assert state["phase"] == "task"
    return state


def send(client: Any, position: int, **body: Any) -> Any:
    """Answer a step."""
    given = {"position": position, "response": None, "response_time_ms": 400.0, "onset_ms": 5.0}
    return client.post("/study/api/answers", json=given | body)


def test_files_are_served_to_participants_of_the_experiment_only(tmp_path: Path) -> None:
    client, _ = joined(tmp_path, task(tmp_path, VOICES))
    digest = digest_bytes(sound(level=1))
    assert digest in client.get("/study/api/texts").json()["flow"]["media"]
    found = client.get(f"/study/media/{digest}")
    assert found.content == sound(level=1)
    assert found.headers["content-type"] == "audio/wav"
    assert found.headers["cache-control"] == "private, max-age=86400, immutable"
    assert client.get(f"/study/media/{'0' * 64}").status_code == 404
    assert client.get("/study/media/..%2f..").status_code in (404, 422)
    assert asked(create_app(tmp_path)).get(f"/study/media/{digest}").status_code == 401


def test_times_are_recorded_within_their_limits_and_nothing_else_is(tmp_path: Path) -> None:
    client, _ = joined(tmp_path, task(tmp_path, VOICES, add=SCREENS.replace("wrapping", "worth")))
    times = {"screen_1_onset_ms": 10.0, "screen_1_offset_ms": 511.2, "wrapping_1_start_ms": 700.5}
    assert send(client, 0, response=1, recorded={**times, "secret": 1.0}).status_code == 409
    assert send(client, 0, response=1, recorded={"screen_1_onset_ms": "x"}).status_code == 409
    assert send(client, 0, response=1, recorded={"screen_1_onset_ms": [1]}).status_code == 422
    assert send(client, 0, response=1, recorded=times).json()["saved"]
    assert send(client, 1, failure="voices/red.wav: status 404").json()["saved"]
    assert send(client, 2, response=0).json()["saved"]
    (answers,) = in_inbox(tmp_path)
    assert answers.response == (1, 0)
    assert answers.recorded == {name: (value, None) for name, value in times.items()}
    assert answers.failures == ((answers.missed[0], "voices/red.wav: status 404"),)
    assert len(answers.missed) == 1


def test_screens_count_in_the_minutes_that_the_consent_text_states(tmp_path: Path) -> None:
    for place, (add, minutes) in enumerate((("", 3), (SCREENS.replace("= 500", "= 60000"), 6)), 1):
        folder = tmp_path / str(place)
        folder.mkdir()
        open_experiment(folder, str(task(folder, add=add)), n_trials=3, checks=0)
        client = asked(create_app(folder))
        client.get("/study/")
        consent = client.get("/study/api/texts").json()["consent"]["paragraphs"][0]
        assert f"about {minutes} minutes" in consent


def test_a_task_that_presents_pictures_only_records_nothing_more(tmp_path: Path) -> None:
    client, _ = joined(tmp_path, task(tmp_path))
    assert send(client, 0, response=1, recorded={"screen_1_onset_ms": 1.0}).status_code == 409
    assert send(client, 0, failure="a file").status_code == 409
    assert send(client, 0, response=1).status_code == 200


def test_data_of_a_plugin_are_a_response_or_are_refused_without_loss(tmp_path: Path) -> None:
    client, state = joined(tmp_path, plugin_task(tmp_path))
    step = state["steps"][0]
    assert step["picture"] == ""
    assert step["plugin"]["trial"]["choices"] == ["left", "right"]
    good = {"choice": "right", "rt": 512.5, "taps": 3}
    assert send(client, 0, recorded=good).json()["refused"] is False
    assert send(client, 1, recorded=good | {"taps": 1000}).json()["refused"] is True
    assert send(client, 2, recorded=good | {"choice": 0}).json()["refused"] is False
    (answers,) = in_inbox(tmp_path)
    assert answers.response == (1, 0)
    assert answers.response_time_ms == (512.5, 512.5)
    assert answers.recorded == {"taps": (3.0, 3.0)}
    assert answers.failures == ((answers.missed[0], "data: taps is 1000, outside 0 to 100"),)


def test_one_session_that_cannot_be_written_holds_up_no_other(tmp_path: Path) -> None:
    """A text with half a character, as an earlier version took it."""
    file = plugin_task(tmp_path)
    client, _ = joined(tmp_path, file)
    good = {"choice": "right", "rt": 512.5, "taps": 3}
    for position in (0, 1):
        assert send(client, position, recorded=good).status_code == 200
    store = client.app.state.store
    store._connection.execute(
        "UPDATE answer SET recorded = ?", ('{"choice": "\\ud83d", "rt": 1.0, "taps": 3.0}',)
    )
    store._connection.commit()
    other = asked(client.app)
    begin_without_page(other, file)
    for position in (0, 1, 2):
        send(other, position, recorded=good)
    send(client, 2, recorded=good)
    with pytest.raises(RecordError):
        store.deliver(Inbox(tmp_path / "inbox.sqlite"))
    (answers,) = in_inbox(tmp_path)
    assert answers.recorded == {"taps": (3.0, 3.0, 3.0)}


def test_an_attention_check_presents_no_file_that_could_fail(tmp_path: Path) -> None:
    file = task(tmp_path, VOICES)
    open_experiment(tmp_path, str(file), n_trials=3, checks=1)
    client = asked(create_app(tmp_path))
    state = begin_without_page(client, file)
    pictures = []
    for position in range(4):
        (step,) = [step for step in state["steps"] if step["position"] == position]
        pictures.append(step["picture"])
        state = send(client, position, response=0).json()["state"]
    (check,) = [picture for picture in pictures if "please choose" in picture]
    assert "data-medium" not in check
    assert sum("data-medium" in picture for picture in pictures) == 3


def test_practice_with_a_plugin_states_whether_the_response_was_right(tmp_path: Path) -> None:
    own = {"worth": [[1, 8]], "wrapping": [[0, 0]]}
    practice = PracticeTrials.model_validate({"own": own, "right": [1]})
    client, _ = joined(tmp_path, plugin_task(tmp_path), practice=practice)
    data = {"choice": "left", "rt": 500.0, "taps": 3}
    assert send(client, 0, recorded=data).json()["feedback"] == (
        "That is not right: the right answer is right."
    )


def test_a_plugin_cannot_be_passed_over_by_a_plain_response(tmp_path: Path) -> None:
    client, _ = joined(tmp_path, plugin_task(tmp_path))
    assert send(client, 0, response=1).json()["saved"]
    assert send(client, 1).status_code == 409  # no response, no failure, and time is not limited
    client.post("/study/api/stop", json={"keep": True})
    (answers,) = in_inbox(tmp_path)
    assert answers.response == ()
    assert answers.failures == ((answers.missed[0], "data: choice is missing"),)


def test_the_policy_of_a_plugin_gives_no_origin_no_requests_and_no_other_script(
    tmp_path: Path,
) -> None:
    file = plugin_task(tmp_path)
    client, state = joined(tmp_path, file)
    presentation = presentation_of(open_domain(str(file)))
    assert presentation is not None
    assert presentation.plugin is not None
    assert state["steps"][0]["plugin"]["frame"] == presentation.plugin.digest
    found = client.get(f"/study/plugin/{presentation.plugin.digest}")
    policy = found.headers["content-security-policy"].split("; ")
    assert policy[:2] == ["sandbox allow-scripts", "default-src 'none'"]
    assert [part.split(" ")[0] for part in policy if "sha256" in part] == ["script-src"]
    assert policy[2].count("'sha256-") == 2
    assert "'self'" not in policy[2]
    assert "frame-ancestors 'self'" in policy
    assert found.headers["x-frame-options"] == "SAMEORIGIN"
    assert "const { ParameterType : Type } = jsPsychModule;" in found.text
    assert "set-cookie" not in found.headers
    assert client.get(f"/study/plugin/{'0' * 64}").status_code == 404


def test_a_laboratory_s_server_gives_a_plugin_its_own_policy(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    file = plugin_task(tmp_path / "one")
    open_experiment(tmp_path / "one", str(file))
    presentation = presentation_of(open_domain(str(file)))
    assert presentation is not None
    assert presentation.plugin is not None
    with asked(create_lab(lambda name: tmp_path / name, lambda: ("one",))) as client:
        found = client.get(f"/study/one/plugin/{presentation.plugin.digest}")
    assert found.headers.get_list("content-security-policy") == [
        found.headers["content-security-policy"]
    ]
    assert found.headers["content-security-policy"].startswith("sandbox allow-scripts; ")


@pytest.mark.slow
def test_sounds_are_played_once_before_a_response_is_possible(
    page: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    file = task(tmp_path, VOICES)
    open_experiment(tmp_path, str(file), n_trials=2, checks=0)
    begin(page, serve(), file)
    page.locator(".options button[disabled]").first.wait_for()
    page.keyboard.press("1")
    assert page.get_by_role("heading", name="Decision 1").is_visible()
    answer(page, 2)
    (answers,) = in_inbox(tmp_path)
    assert answers.failures == ()
    recorded = {name: column[0] for name, column in answers.recorded.items()}
    start, end, ready = (recorded[f"wrapping_1_{event}_ms"] for event in ("start", "end", "ready"))
    assert recorded["wrapping_1_load_ms"] >= 0
    assert ready <= start
    assert 60 <= end - start < 2000  # a sound of 100 ms
    assert answers.onset_ms[0] + answers.response_time_ms[0] >= end
    assert answers.response_time_ms[0] >= 200


FILM = """async () => {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [64, 48];
  const brush = canvas.getContext("2d");
  const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: "video/webm" });
  const parts = [];
  recorder.ondataavailable = (event) => parts.push(event.data);
  const ended = new Promise((done) => { recorder.onstop = done; });
  recorder.start();
  for (let shade = 0; shade < 20; shade += 1) {
    brush.fillStyle = `rgb(${10 * shade}, 90, 90)`;
    brush.fillRect(0, 0, 64, 48);
    await new Promise((done) => setTimeout(done, 25));
  }
  recorder.stop();
  await ended;
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  return btoa(String.fromCharCode(...bytes));
}"""


@pytest.fixture
def film(chrome: Any) -> bytes:
    """A film of half a second, as the browser records it."""
    context = chrome.new_context()
    data = base64.b64decode(context.new_page().evaluate(FILM))
    context.close()
    return data


@pytest.mark.slow
def test_a_film_on_a_screen_is_played_to_its_end_and_sounds_may_be_answered_while_they_play(
    page: Any, film: bytes, serve: Callable[..., str], tmp_path: Path
) -> None:
    shown = '[[screens]]\nvideo = "film.webm"\n'
    first = ('name = "gifts"', 'wait_for_end = false\nname = "gifts"')
    file = task(tmp_path, VOICES, first, add=shown)
    (tmp_path / "film.webm").write_bytes(film)
    for level in ("plain", "red", "gold"):
        (tmp_path / "voices" / f"{level}.wav").write_bytes(sound(5000, len(level)))
    open_experiment(tmp_path, str(file), n_trials=1, checks=1, timeout_ms=20_000)
    begin(page, serve(), file)
    page.locator(".screen video").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    answer(page, 1)
    (answers,) = in_inbox(tmp_path)
    recorded = {name: column[0] for name, column in answers.recorded.items()}
    assert answers.failures == ()
    assert recorded["screen_1_medium_end_ms"] <= recorded["screen_1_offset_ms"]
    assert recorded["screen_1_onset_ms"] <= recorded["screen_1_medium_start_ms"] + 100
    assert recorded["wrapping_1_start_ms"] > recorded["screen_1_offset_ms"] - 50
    assert "wrapping_1_end_ms" not in recorded  # it lasts 5 s, and the response came before
    assert answers.response_time_ms[0] < 5000


@pytest.mark.slow
def test_a_time_limit_begins_when_a_response_is_possible(
    page: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    file = task(tmp_path, VOICES)
    for level in ("plain", "red", "gold"):
        (tmp_path / "voices" / f"{level}.wav").write_bytes(sound(900, len(level)))
    open_experiment(tmp_path, str(file), n_trials=2, checks=0, timeout_ms=1000)
    begin(page, serve(), file)
    page.locator(".options button:not([disabled])").first.wait_for()
    page.wait_for_timeout(400)
    page.locator(".options button").first.click()
    page.locator(".feedback", has_text="Too late").wait_for()
    page.locator(".code").wait_for()
    (answers,) = in_inbox(tmp_path)
    assert len(answers.response) == len(answers.missed) == 1
    assert answers.failures == ()
    assert answers.response_time_ms[0] < 1000


@pytest.mark.slow
def test_a_plugin_whose_time_is_over_is_missed_and_checks_are_read_on_the_page(
    page: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    file = plugin_task(tmp_path)
    open_experiment(tmp_path, str(file), n_trials=2, checks=1, timeout_ms=3000)
    begin(page, serve(), file)
    frame = page.frame_locator("iframe.plugin")
    frame.get_by_role("button", name="left").click()
    asked_for = page.get_by_text("Here, please choose")
    asked_for.wait_for()
    page.wait_for_timeout(230)
    label = asked_for.inner_text().split(": ")[1].rstrip(".")
    page.locator(".options").get_by_role("button", name=label).click()
    frame.get_by_role("button", name="left").wait_for()
    page.locator(".code").wait_for()  # after three seconds
    (answers,) = in_inbox(tmp_path)
    assert answers.response == (0,)
    assert answers.checks == (True,)
    assert len(answers.missed) == 1
    assert answers.failures == ()


@pytest.mark.slow
def test_what_is_loaded_is_presented_without_a_connection(
    page: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    file = task(tmp_path, VOICES, add=SCREENS)
    open_experiment(tmp_path, str(file), n_trials=3, checks=0)
    begin(page, serve(), file)
    page.locator(".options button:not([disabled])").first.wait_for()
    page.context.set_offline(True)
    page.wait_for_timeout(230)
    page.locator(".options button").first.click()
    page.get_by_role("heading", name="Decision 2", exact=True).wait_for()
    page.locator(".options button:not([disabled])").first.wait_for()
    page.context.set_offline(False)
    page.wait_for_timeout(230)
    page.locator(".options button").first.click()
    page.get_by_role("heading", name="Decision 3", exact=True).wait_for()
    page.locator(".options button:not([disabled])").first.wait_for()
    page.wait_for_timeout(230)
    page.locator(".options button").first.click()
    page.locator(".code").wait_for()
    (answers,) = in_inbox(tmp_path)
    assert answers.failures == ()
    assert len(answers.response) == 3


@pytest.mark.slow
def test_a_preview_presents_the_same(page: Any, serve: Callable[..., str], tmp_path: Path) -> None:
    file = plugin_task(tmp_path)
    open_experiment(tmp_path, str(file), n_trials=1, checks=0)
    app = create_desk(tmp_path)
    with served(app) as url:
        page.goto(f"{url}/preview/{app.state.preview_key}/")
        begin_here(page, file)
        page.frame_locator("iframe.plugin").get_by_role("button", name="left").click()
        page.locator(".code").wait_for()
    assert in_inbox(tmp_path) == []


@pytest.mark.slow
def test_screens_are_shown_for_their_time_and_then_the_options(
    page: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    file = task(tmp_path, add=SCREENS)
    open_experiment(tmp_path, str(file), n_trials=3, checks=0)
    begin(page, serve(), file)
    page.get_by_text("####").wait_for()
    page.locator(".options").wait_for()
    assert "Wrapping" not in page.locator(".picture").inner_text()
    assert faults(page) == []
    answer(page, 3)
    (answers,) = in_inbox(tmp_path)
    for place, wanted in enumerate((500, 250, 100), 1):
        for on, off in zip(
            answers.recorded[f"screen_{place}_onset_ms"],
            answers.recorded[f"screen_{place}_offset_ms"],
            strict=True,
        ):
            assert wanted - 40 <= off - on < wanted + 150
    assert answers.recorded["screen_1_offset_ms"] == answers.recorded["screen_2_onset_ms"]
    assert all(
        abs(shown - off) < 50
        for shown, off in zip(answers.onset_ms, answers.recorded["screen_3_offset_ms"], strict=True)
    )


@pytest.mark.slow
def test_a_file_that_does_not_load_is_stated_recorded_and_loses_no_earlier_response(
    page: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    file = task(tmp_path, VOICES)
    open_experiment(tmp_path, str(file), n_trials=6, checks=0)
    missing = digest_bytes(sound(level=1))
    page.route(f"**/media/{missing}", lambda route: route.fulfill(status=404, body=""))
    begin(page, serve(), file)
    n_failed = 0
    while not page.locator(".code").count():
        page.locator(".options button:not([disabled]), .problem, .code").first.wait_for()
        if page.locator(".problem").count():
            assert faults(page) == []
            assert (
                "the answers that you gave before are saved"
                in page.locator(".problem").inner_text()
            )
            n_failed += 1
            page.get_by_role("button", name="Go on without this decision").click()
            page.locator(".problem").wait_for(state="detached")
        elif page.locator(".options button:not([disabled])").count():
            page.wait_for_timeout(230)
            page.locator(".options button").first.click()
            page.wait_for_timeout(100)
    (answers,) = in_inbox(tmp_path)
    assert answers.status == "completed"
    assert n_failed == len(answers.failures) > 0
    assert len(answers.response) + n_failed == 6
    assert {words for _, words in answers.failures} == {"voices/red.wav: status 404"}


@pytest.mark.slow
def test_a_sound_that_cannot_be_played_is_a_failure(
    page: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    file = task(tmp_path, VOICES)
    for level in ("plain", "red", "gold"):
        (tmp_path / "voices" / f"{level}.wav").write_bytes(sound()[:12] + b"nothing that is played")
    open_experiment(tmp_path, str(file), n_trials=1, checks=0)
    begin(page, serve(), file)
    page.get_by_role("button", name="Go on without this decision").click()
    page.locator(".code").wait_for()
    (answers,) = in_inbox(tmp_path)
    assert answers.failures[0][1].endswith(".wav: cannot be played")


@pytest.mark.slow
def test_a_file_that_loads_the_second_time_is_presented(
    page: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    file = task(tmp_path, VOICES)
    open_experiment(tmp_path, str(file), n_trials=1, checks=0)
    page.route("**/media/*", lambda route: route.abort())
    begin(page, serve(), file)
    page.get_by_role("button", name="Try again").wait_for()
    page.unroute("**/media/*")
    page.get_by_role("button", name="Try again").click()
    answer(page, 1)
    (answers,) = in_inbox(tmp_path)
    assert answers.failures == ()
    assert len(answers.response) == 1


@pytest.mark.slow
def test_a_plugin_presents_trials_by_click_and_key_and_its_wrong_data_are_stated(
    page: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    file = plugin_task(tmp_path)
    open_experiment(tmp_path, str(file), n_trials=3, checks=0)
    begin(page, serve(), file)
    frame = page.frame_locator("iframe.plugin")
    assert page.locator("iframe.plugin").get_attribute("sandbox") == "allow-scripts"
    frame.get_by_role("button", name="right").wait_for()
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    frame.get_by_role("button", name="right").click()
    page.wait_for_function("() => document.querySelector('progress').value > 0.3")
    frame.get_by_role("button", name="right").wait_for()
    page.wait_for_timeout(200)
    page.keyboard.press("l")
    page.wait_for_function("() => document.querySelector('progress').value > 0.6")
    frame.get_by_role("button", name="right").wait_for()
    page.wait_for_timeout(200)
    page.keyboard.press("a")
    page.get_by_role("heading", name="could not be shown").wait_for()
    assert faults(page) == []
    page.get_by_role("button", name="Go on").click()
    page.locator(".code").wait_for()
    (answers,) = in_inbox(tmp_path)
    assert answers.response == (1, 0)
    assert answers.recorded == {"taps": (50.0, 50.0)}
    assert answers.failures == ((answers.missed[0], "data: choice is no option of the trial"),)
    assert all(0 < time < WAIT_MS for time in answers.response_time_ms)


@pytest.mark.slow
def test_a_step_with_feedback_is_shown_in_words_where_its_sounds_do_not_load(
    page: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    file = task(tmp_path, VOICES, add=SCREENS.replace("wrapping", "worth") + FEEDBACK)
    open_experiment(tmp_path, str(file), n_trials=4, checks=0)
    page.route("**/media/*", lambda route: route.fulfill(status=404, body=""))
    begin(page, serve(), file)
    page.get_by_role("button", name="Go on without it").click()
    picture = page.locator(".picture").inner_text()
    assert "♪ " in picture
    assert "Worth" in picture
    page.unroute("**/media/*")
    answer(page, 4)
    (answers,) = in_inbox(tmp_path)
    assert len(answers.response) == 4
    assert answers.missed == ()
    assert [trial for trial, _ in answers.failures] == [0]
    assert answers.recorded["failure"][0].endswith("status 404")
    assert answers.recorded["failure"][1:] == (None, None, None)
    assert answers.recorded["screen_1_onset_ms"][0] is None


@pytest.mark.slow
def test_a_plugin_is_followed_by_feedback_and_by_the_page_itself_where_its_data_are_wrong(
    page: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    file = plugin_task(tmp_path, add=FEEDBACK)
    open_experiment(tmp_path, str(file), n_trials=4, checks=0)
    begin(page, serve(), file)
    frame = page.frame_locator("iframe.plugin")
    frame.get_by_role("button", name="left").click()
    page.locator(".feedback", has_text="You won").wait_for()
    frame.get_by_role("button", name="left").wait_for()
    page.wait_for_timeout(200)
    page.keyboard.press("a")
    page.get_by_role("button", name="Go on without it").click()
    page.locator(".options button:not([disabled])").first.wait_for()
    page.wait_for_timeout(230)
    page.locator(".options button").nth(1).click()
    for _ in range(2):
        frame.get_by_role("button", name="left").click()
        page.locator(".feedback", has_text="You won").wait_for()
    page.locator(".code").wait_for()
    (answers,) = in_inbox(tmp_path)
    assert answers.response == (0, 1, 0, 0)
    assert answers.failures == ((1, "data: refused"),)
    assert answers.recorded["taps"] == (50.0, None, 50.0, 50.0)


REACHES = """
class Press {
  static info = { name: "press", parameters: {} };
  constructor(jsPsych) { this.jsPsych = jsPsych; }
  async trial(display, trial) {
    const tries = {
      origin: () => { if (origin === "null") throw 0; },
      cookie: () => document.cookie,
      storage: () => localStorage.length,
      parent: () => parent.document.title,
      code: () => eval("1"),
      network: () => fetch("../api/state"),
      script: () => import("data:text/javascript,export default 1"),
    };
    const open = [];
    for (const [name, act] of Object.entries(tries)) {
      try { await act(); open.push(name); } catch { /* as it should be */ }
    }
    return { choice: "left", rt: 1, taps: open.length };
  }
}
"""


@pytest.mark.slow
def test_a_plugin_reaches_nothing_outside_its_frame(
    chrome: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    file = plugin_task(tmp_path, REACHES)
    open_experiment(tmp_path, str(file), n_trials=1, checks=0)
    page = chrome.new_context(locale="en-GB").new_page()
    begin(page, serve(), file)
    page.locator(".code").wait_for()
    (answers,) = in_inbox(tmp_path)
    assert answers.recorded == {"taps": (0.0,)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "words"),
    [
        (
            "class Press { static info = {}; trial() { throw new Error('no luck'); } }",
            "plugin: no luck",
        ),
        ("class Other {}", "plugin: Uncaught ReferenceError: Press is not defined"),
        ("class Press {}", "plugin: the class has no static info or no trial"),
        (
            "class Press { static info = { parameters: { a: {} } }; trial() {} }",
            "plugin: the parameter a has no value",
        ),
        (
            "class Press { static info = {}; async trial() { return { choice: { a: 1 } }; } }",
            "data: choice is no",
        ),
    ],
)
def test_a_plugin_that_fails_is_recorded_and_the_study_goes_on(
    chrome: Any, serve: Callable[..., str], tmp_path: Path, script: str, words: str
) -> None:
    file = plugin_task(tmp_path, script)
    open_experiment(tmp_path, str(file), n_trials=1, checks=0)
    context = chrome.new_context(locale="en-GB")
    page = context.new_page()
    begin(page, serve(), file)
    page.get_by_role("button", name="Go on without this decision").click()
    page.locator(".code").wait_for()
    context.close()
    (answers,) = in_inbox(tmp_path)
    assert answers.response == ()
    assert answers.failures[0][1].startswith(words)


@pytest.mark.slow
def test_after_a_reload_a_sound_waits_for_a_click_where_the_browser_wants_one(
    page: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    file = task(tmp_path, VOICES)
    open_experiment(tmp_path, str(file), n_trials=1, checks=0)
    page.add_init_script(
        "const play = HTMLMediaElement.prototype.play; let clicked = false;"
        "addEventListener('click', () => { clicked = true; }, true);"
        "HTMLMediaElement.prototype.play = function () {"
        " return clicked ? play.call(this) : Promise.reject(new DOMException('', 'NotAllowedError')); };"
    )
    begin(page, serve(), file)
    page.locator(".options button:not([disabled])").first.wait_for()
    page.reload()
    page.get_by_role("button", name="Play").click()
    answer(page, 1)
    (answers,) = in_inbox(tmp_path)
    assert answers.failures == ()
    assert answers.recorded["wrapping_1_end_ms"][0] > answers.recorded["wrapping_1_start_ms"][0]
