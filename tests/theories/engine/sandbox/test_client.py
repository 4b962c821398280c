import asyncio
import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import time
import tracemalloc

import numpy as np
import pytest

from lakatos.theories.engine.sandbox import session
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.sandbox.doctor import KNOWN_LAYERS, probe
from lakatos.theories.engine.sandbox.limits import SandboxLimits
from lakatos.theories.errors import (
    SandboxUnavailableError,
    TheoryError,
    TheoryLintError,
    TheoryProbabilityError,
    TheoryRaisedError,
    TheoryResourceError,
    TheoryShapeError,
    TheoryTimeoutError,
)

DRAWS = {"w": np.array([0.2, 0.4, 0.9])}
X = [{"x": np.zeros((5, 2))}]


def body(text):
    """A theory from the lines of its ``choose``."""
    return "def choose(parameters, trials, xp):\n    " + "\n    ".join(text.splitlines()) + "\n"


def test_honest_theory_equals_the_same_arithmetic_here(sandbox, honest):
    assert honest(sandbox)


def test_all_options_may_be_returned(sandbox):
    source = body(
        "w = parameters['w'] + 0 * trials['x'][:, 0]\nreturn xp.stack([w / 2, w / 2, 1 - w], axis=-1)"
    )
    (answer,) = sandbox.probabilities(source, DRAWS, X, n_options=3)
    assert answer.shape == (3, 5, 3)
    assert np.allclose(answer[1], [0.2, 0.2, 0.6])


@pytest.mark.parametrize(
    "source",
    [
        body("return [float(parameters['w']) for trial in range(len(trials['x']))]"),
        body("return [parameters['w'][0, 0] for trial in range(len(trials['x']))]"),
        body("if parameters['w'] > 0.3:\n    return xp.full(5, 0.75)\nreturn xp.full((5, 2), 0.5)"),
    ],
)
def test_theory_that_does_not_broadcast_runs_draw_by_draw_and_says_so(sandbox, source):
    with sandbox.open_session(source, X) as session:
        (answer,) = session.probabilities(DRAWS)
        assert not session.broadcasts
        (alone,) = session.probabilities({"w": DRAWS["w"][1:2]})
    assert answer.shape == (3, 5, 2)
    assert np.array_equal(answer[1:2], alone)


def test_draws_that_are_answered_otherwise_among_others_are_refused(sandbox):
    source = body(
        "return xp.tile(parameters['w'].reshape(-1), (len(parameters['w']), 3 // len(parameters['w'])))"
    )
    with (
        sandbox.open_session(source, [{"x": np.zeros(3)}]) as session,
        pytest.raises(TheoryShapeError, match="draw 0 is answered otherwise among other draws"),
    ):
        session.probabilities(DRAWS)


def test_parameters_and_trials_are_read_by_key_or_attribute(sandbox):
    (answer,) = sandbox.probabilities(body("return parameters.w + 0 * trials.x[:, 0]"), DRAWS, X)
    assert np.allclose(answer[:, 0, 1], DRAWS["w"])


def test_theory_without_parameters_has_one_draw(sandbox):
    (answer,) = sandbox.probabilities(body("return xp.full(len(trials['x']), 0.5)"), {}, X)
    assert answer.shape == (1, 5, 2)


def test_session_answers_again_and_sessions_may_be_interleaved(sandbox):
    first, second = (
        body("return parameters['w'] + 0 * trials['x'][:, 0]"),
        body("return xp.full((len(parameters['w']), 5), 0.5)"),
    )
    with sandbox.open_session(first, X) as one, sandbox.open_session(second, X) as two:
        for w in (0.1, 0.6):
            assert one.probabilities({"w": np.full(2, w)})[0][1, 2, 1] == pytest.approx(w)
            assert two.probabilities({"w": np.full(7, w)})[0].shape == (7, 5, 2)


def test_session_survives_an_exception_of_its_theory(sandbox):
    source = body(
        "if parameters['w'].max() > 1:\n    raise ValueError('too large')\nreturn parameters['w'] + 0 * trials.x[:, 0]"
    )
    with sandbox.open_session(source, X) as session:
        with pytest.raises(
            TheoryRaisedError, match="ValueError at line 3 of the source: too large"
        ):
            session.probabilities({"w": np.array([2.0, 3.0])})
        assert session.probabilities(DRAWS)[0].shape == (3, 5, 2)


def test_numbers_truth_values_and_text_arrive_as_they_are(sandbox):
    arrays = {
        "n": np.arange(3),
        "flag": np.array([True, False, True]),
        "label": np.array(["a", "bcd", "é"]),
    }
    source = body(
        "ok = trials['n'].dtype == int and trials['flag'].dtype == bool\n"
        "ok = ok and list(trials['label']) == ['a', 'bcd', 'é']\n"
        "return xp.full((3,), 1.0 if ok and trials['flag'][2] and not trials['flag'].flags.writeable else 0.0)"
    )
    (answer,) = sandbox.probabilities(source, {"w": np.ones(1)}, [arrays])
    assert (answer[..., 1] == 1).all()


def test_answers_do_not_depend_on_the_process_or_on_earlier_calls(sandbox):
    source = body(
        "names = {str(i) for i in range(50)}\n"
        "first = float(next(iter(names))) / 100 + xp.random.random() / 4 + xp.random.default_rng(1).random() / 4\n"
        "return xp.full((5,), first)"
    )
    with Sandbox(bwrap=False) as fresh:
        once = fresh.probabilities(source, DRAWS, X)[0]
    with sandbox.open_session(source, X) as session:
        again = [session.probabilities(DRAWS)[0] for _ in range(2)]
    assert np.array_equal(once, again[0])
    assert np.array_equal(once, again[1])


def test_linear_algebra_special_functions_and_random_generators_work(sandbox):
    source = """from dataclasses import dataclass
import numpy as np
from scipy.special import ndtr
@dataclass
class Weights:
    matrix: object
def choose(parameters, trials, xp):
    matrix = Weights(xp.random.default_rng(0).normal(size=(200, 200))).matrix
    solved = np.linalg.solve(matrix @ matrix.T + xp.eye(200), xp.ones(200))
    np.fft.fft(solved), np.linalg.svd(matrix), np.sort(matrix), np.einsum("ij,jk", matrix, matrix), str(solved)
    return ndtr(parameters["w"]) + 0 * trials["x"][:, 0]
"""
    (answer,) = sandbox.probabilities(source, DRAWS, X)
    assert answer[0, 0, 1] == pytest.approx(0.579259709)


def test_large_answers_come_back_whole(sandbox):
    stimuli = [{"x": np.linspace(0, 1, 4000)[:, None]}]
    with sandbox.open_session(
        body("return parameters['w'] * trials['x'][:, 0]"), stimuli
    ) as session:
        w = np.linspace(0, 1, 500)
        (answer,) = session.probabilities({"w": w})
    assert np.allclose(answer[..., 1], np.outer(w, stimuli[0]["x"]))


@pytest.mark.parametrize("n_trials", [5, 2000, 20_000])
def test_pipe_serves_where_there_is_no_memory_to_share(monkeypatch, n_trials):
    stimuli = [{"x": np.linspace(0, 1, n_trials), "label": np.full(n_trials, "é")}]
    source = body("return parameters['w'] * trials['x']")
    with Sandbox(bwrap=False) as sandbox:
        with sandbox.open_session(source, stimuli) as session:
            if session._child._shared is None:
                pytest.skip("this system has no memory that can be sealed")
            shared = session.probabilities(DRAWS)[0]
        monkeypatch.delattr(os, "memfd_create")
        with sandbox.open_session(source, stimuli) as session:
            assert session._child._shared is None
            piped = session.probabilities(DRAWS)[0]
    assert np.array_equal(shared, piped)
    assert np.allclose(piped[..., 1], np.outer(DRAWS["w"], stimuli[0]["x"]))


def test_arrays_that_a_theory_keeps_from_step_to_step_stay_as_they_were(sandbox):
    source = """
def start(parameters, trials, xp):
    return [trials["x"], trials["x"].sum()]
def choose(parameters, trials, xp, state):
    kept = state[0].sum() == state[1] and not state[0].flags.writeable
    return xp.full((1, len(trials["x"])), 0.75 if kept else 0.25)
def learn(parameters, trials, xp, state, response, feedback):
    kept = response[0, :, 1].sum() == len(trials["x"])
    return [trials["x"], trials["x"].sum()] if state[0].sum() == state[1] and kept else [trials["x"], -1.0]
"""
    n = 5000  # so many that they are laid down in shared memory
    with sandbox.open_session(source, []) as session:
        session.begin({"w": np.ones(1)})
        for step in range(4):
            response = None if step == 0 else np.ones((1, n), dtype=int)
            answer = session.step({"x": np.full(n, 1.0 + step)}, response=response)
            assert (answer[..., 1] == 0.75).all()


def test_processor_time_goes_on_where_walks_begin_in_processes_of_their_own(sandbox):
    source = """
def start(parameters, trials, xp):
    return 0.0
def choose(parameters, trials, xp, state):
    return xp.full((1, len(trials["x"])), 0.5)
def learn(parameters, trials, xp, state, response, feedback):
    return state
"""
    used = []
    with sandbox.open_session(source, []) as session:
        for n_steps in (40, 1, 1):
            session.begin({"w": np.ones(1)})
            for step in range(n_steps):
                session.step(X[0], response=np.ones((1, 5), dtype=int) if step else None)
            used.append(session.processor_seconds)
    assert 0 < used[0] < used[1] < used[2]


def test_tiny_departures_are_normalised(sandbox):
    for text in ("xp.full((5, 2), [-1e-9, 1 + 2e-7])", "xp.full(5, 1 + 2e-7)", "xp.full(5, -2e-7)"):
        (answer,) = sandbox.probabilities(body(f"return {text}"), {"w": np.ones(1)}, X)
        assert (answer >= 0).all()
        assert np.allclose(answer.sum(-1), 1, atol=1e-15)


@pytest.mark.parametrize(
    ("source", "error", "match"),
    [
        (body("return parameters['w'] / xp.zeros(5) * 0"), TheoryProbabilityError, r"nan.* draw 0 \(w=0.2\), trial 0"),
        (body("return parameters['w'] + xp.full(5, 1.5)"), TheoryProbabilityError, "15 of 15 answers are no prob"),
        (body("return xp.ones((len(parameters.w), 5, 2))"), TheoryProbabilityError, "sum to 1"),
        (body("return xp.inf + parameters['w'] + xp.zeros(5)"), TheoryProbabilityError, "finite"),
        (body("return xp.zeros((2, 7))"), TheoryShapeError, r"shape \(2, 7\); it must be \(1, 5, 2\)"),
        (body("return 'yes'"), TheoryShapeError, "returned str of dtype"),
        (body("return [[1], [1, 2]]"), TheoryShapeError, "lists of unequal length"),
        (body("return None"), TheoryShapeError, "NoneType"),
        ("x = 1\n", TheoryShapeError, "defines no function `choose"),
        (body("x = 1\nreturn parameters['q']"), TheoryRaisedError, "KeyError at line 3 .*no 'q' here; there are 'w'"),
        (body("return trials.y"), TheoryRaisedError, "AttributeError at line 2 .*there are 'x'"),
        ("x = 1\n1 / 0\n", TheoryRaisedError, "ZeroDivisionError at line 2"),
        ("def choose(:\n", TheoryRaisedError, "SyntaxError at line 1"),
        (body("raise SystemExit(3)"), TheoryRaisedError, "SystemExit at line 2"),
        (body("raise RuntimeError('\\x1b[31mred' + 'y' * 5000)"), TheoryRaisedError, r"RuntimeError.*: \?\[31mredy"),
        (body("return choose(parameters, trials, xp)"), TheoryRaisedError, "RecursionError at line 2"),
        (body("return xp.ones(1 << 29).reshape(-1, 1)"), TheoryResourceError, "ran out of memory at line 2"),
    ],
)  # fmt: skip
def test_each_failure_has_its_own_error(sandbox, honest, source, error, match):
    with pytest.raises(error, match=match) as caught:
        sandbox.probabilities(source, DRAWS, X, lint=False)
    assert len(str(caught.value)) < 2500
    assert honest(sandbox)


def test_endless_theory_is_stopped_by_the_clock(sandbox, honest):
    start = time.monotonic()
    with pytest.raises(TheoryTimeoutError, match=r"took longer than 0\.5 s"):
        sandbox.probabilities(
            body("while True:\n    pass"), DRAWS, X, limits=SandboxLimits(wall_seconds=0.5)
        )
    assert time.monotonic() - start < 10
    assert honest(sandbox)


def test_endless_theory_is_stopped_by_its_processor_time(sandbox, honest):
    with pytest.raises(TheoryTimeoutError, match=r"more than 0.3 s of processor time"):
        sandbox.probabilities(
            body("while True:\n    pass"),
            DRAWS,
            X,
            limits=SandboxLimits(wall_seconds=60, cpu_seconds=0.3),
        )
    assert honest(sandbox)


def test_session_is_over_after_a_time_out(sandbox):
    source = body(
        "while parameters['w'][0, 0] > 0:\n    pass\nreturn xp.zeros((len(parameters['w']), 5))"
    )
    with sandbox.open_session(source, X, limits=SandboxLimits(wall_seconds=0.3)) as session:
        assert session.probabilities({"w": np.zeros(2)})[0].shape == (2, 5, 2)
        with pytest.raises(TheoryTimeoutError):
            session.probabilities({"w": np.ones(2)})
        with pytest.raises(TheoryResourceError, match="session has ended"):
            session.probabilities({"w": np.zeros(2)})


def test_more_output_than_allowed_is_refused_before_it_is_computed(sandbox):
    with pytest.raises(TheoryResourceError, match="Ask for fewer draws"):
        sandbox.probabilities(
            body("while True: pass"), DRAWS, X, limits=SandboxLimits(output_bytes=100)
        )


def test_lint_comes_first(sandbox):
    with pytest.raises(TheoryLintError, match="line 1 imports 'os'"):
        sandbox.probabilities("import os\n" + body("return 0"), DRAWS, X)
    with pytest.raises(TheoryLintError, match="at most 20"):
        sandbox.probabilities(body("return 0"), DRAWS, X, limits=SandboxLimits(source_bytes=20))


@pytest.mark.parametrize(
    ("parameters", "stimuli", "match"),
    [
        ({"w": np.ones(2), "v": np.ones(3)}, X, "one value per draw"),
        ({"w": np.ones((2, 1))}, X, "one value per draw"),
        ({"w": np.array([None])}, X, "dtype object"),
        (DRAWS, [{"x": np.ones(3), "y": np.ones(4)}], "set 0 has shapes"),
        (DRAWS, [{}], "set 0 has shapes"),
        (DRAWS, [{"x": np.array([print, print])}], "dtype object"),
    ],
)
def test_wrong_arguments_are_the_callers_error(sandbox, parameters, stimuli, match):
    with pytest.raises(ValueError, match=match):
        sandbox.probabilities(body("return 0"), parameters, stimuli)


def test_missing_layer_that_is_required_refuses_to_run():
    with (
        Sandbox(require=frozenset({"moat"})) as sandbox,
        pytest.raises(SandboxUnavailableError, match=r"must run with moat.*lakatos doctor"),
    ):
        sandbox.probabilities(body("return 0"), DRAWS, X)


def wait_for_end(session):
    """Children follow their zygote in their own time."""
    poll = select.poll()
    poll.register(session._child._answers, select.POLLIN)
    assert poll.poll(10_000)


@pytest.mark.skipif(
    not shutil.which("setarch"), reason="needs setarch to pretend to be an unknown architecture"
)
def test_layer_that_the_machine_lacks_is_left_out_and_can_be_required():
    program = f"""
import sys
sys.path.insert(0, {os.getcwd()!r})
import numpy as np
from lakatos.theories.errors import SandboxUnavailableError
from lakatos.theories.engine.sandbox.client import Sandbox
source, data = "def choose(p, t, xp): return xp.full(2, 0.5)", [{{"x": np.zeros(2)}}]
with Sandbox() as sandbox:
    print(sandbox.probabilities(source, {{}}, data)[0].shape, sandbox.level.layers)
try:
    Sandbox(require=frozenset({{"seccomp"}})).probabilities(source, {{}}, data)
except SandboxUnavailableError as error:
    print("refused:", error)
"""
    told = subprocess.run(
        ["setarch", "i686", sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout
    assert "(1, 2, 2)" in told
    assert "'seccomp'" not in told
    assert "refused: theories must run with seccomp" in told


def test_bubblewrap_that_does_not_work_is_left_out_and_noted(honest, tmp_path, monkeypatch):
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho no namespaces here >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with Sandbox() as sandbox:
        assert honest(sandbox)
        assert "bwrap" not in sandbox.level.layers
        assert "no namespaces here" in sandbox.level.notes[0]
    with (
        Sandbox(require=frozenset({"bwrap"})) as sandbox,
        pytest.raises(SandboxUnavailableError, match=r"bwrap, which.*no namespaces here"),
    ):
        sandbox.probabilities(body("return 0"), DRAWS, X)


def test_lost_zygote_is_started_again(honest):
    with Sandbox() as sandbox:
        session = sandbox.open_session(body("return parameters['w'] + 0 * trials['x'][:, 0]"), X)
        os.killpg(sandbox._zygote._process.pid, signal.SIGKILL)
        sandbox._zygote._process.wait()
        wait_for_end(session)
        with pytest.raises(TheoryResourceError, match="gave no answer"):
            session.probabilities(DRAWS)
        session.close()
        assert honest(sandbox)


def test_nothing_is_left_behind_when_the_sandbox_closes():
    sandbox = Sandbox()
    session = sandbox.open_session(body("return parameters['w'] + 0 * trials['x'][:, 0]"), X)
    process = sandbox._zygote._process
    sandbox.close()
    assert process.poll() is not None
    with pytest.raises(TheoryResourceError):
        session.probabilities(DRAWS)
    session.close()


def test_no_descriptor_is_leaked(sandbox, honest):
    honest(sandbox)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        honest(sandbox)
        with pytest.raises(TheoryRaisedError):
            sandbox.probabilities("1 / 0", DRAWS, X)
    assert len(os.listdir("/proc/self/fd")) == before


def test_threads_may_share_a_sandbox(sandbox, honest):
    async def together():
        return await asyncio.gather(*(asyncio.to_thread(honest, sandbox) for _ in range(8)))

    assert all(asyncio.run(together()))


def test_doctor_names_only_known_layers():
    found = probe()
    assert found["works"], found["problem"]
    assert set(found["layers"]) | set(found["missing"]) == set(KNOWN_LAYERS)
    assert found["theory_ms"] > found["call_ms"] > 0


def test_many_draws_on_many_trials_are_asked_in_parts_that_fit_into_memory(sandbox, monkeypatch):
    """At once, 4,000 draws of 5 trials would take 320 MB."""
    source = body(
        "many = xp.ones((len(parameters['w']), 5, 2000)) * parameters['w'][..., None]\n"
        "return many.mean(axis=-1)"
    )
    draws, limits = {"w": np.linspace(0, 1, 4000)}, SandboxLimits(memory_bytes=128 * 2**20)
    monkeypatch.setattr(session, "MOST_CELLS", 1000)
    (parts,) = sandbox.probabilities(source, draws, X, limits=limits)
    (alone,) = sandbox.probabilities(source, {"w": draws["w"][[0, 3999]]}, X, limits=limits)
    np.testing.assert_array_equal(parts[[0, 3999]], alone)
    monkeypatch.setattr(session, "MOST_CELLS", 10**9)  # found out by running out of memory
    (again,) = sandbox.probabilities(source, draws, X, limits=limits)
    np.testing.assert_array_equal(again, parts)


SLOW = """n = 1
for size in xp.broadcast_shapes(parameters['w'].shape, (1, 5)):
    n *= size
for _ in range(n):
    total = 0
    for number in range({}):
        total += number
return parameters['w'] ** 1.7 * xp.linspace(0, 1, 5)"""


@pytest.mark.parametrize("cells", [100, 4])
def test_draws_that_take_too_long_together_are_asked_in_parts(sandbox, monkeypatch, cells):
    """Sixty draws take longer than the limit, and one of them a small part of it."""
    draws = {"w": np.linspace(0, 1, 60)}
    expected = sandbox.probabilities(body(SLOW.format(1)), draws, X)[0]
    monkeypatch.setattr(session, "CELLS_IN_TIME", cells)
    limits = SandboxLimits(cpu_seconds=0.3, wall_seconds=60.0)
    with sandbox.open_session(body(SLOW.format(60_000)), X, limits=limits) as asked:
        for _ in range(2):
            np.testing.assert_array_equal(asked.probabilities(draws)[0], expected)
        assert asked.processor_seconds > 0.5


@pytest.mark.parametrize("cells", [100, 4])
def test_draws_that_take_too_much_memory_together_are_asked_in_parts(sandbox, monkeypatch, cells):
    """Each draw takes 8 MiB, and the limit is that of some ten draws."""
    wide = "return (parameters['w'][..., None] * xp.linspace(0, 1, 5)[:, None] * xp.ones({})).mean(axis=-1)"
    draws = {"w": np.linspace(0, 1, 60)}
    expected = sandbox.probabilities(body(wide.format(1)), draws, X)[0]
    monkeypatch.setattr(session, "CELLS_IN_TIME", cells)
    source, limits = body(wide.format(200_000)), SandboxLimits(memory_bytes=320 * 2**20)
    (parts,) = sandbox.probabilities(source, draws, X, limits=limits)
    np.testing.assert_allclose(parts, expected, rtol=1e-12)
    with pytest.raises(TheoryResourceError, match="ran out of memory"):
        sandbox.probabilities(body(wide.format(20_000_000)), draws, X, limits=limits)


def test_a_theory_that_takes_too_long_for_one_draw_fails(sandbox):
    limits = SandboxLimits(cpu_seconds=0.3, wall_seconds=60.0)
    with pytest.raises(TheoryTimeoutError, match=r"0\.3 s of processor time"):
        sandbox.probabilities(body(SLOW.format(10_000_000)), DRAWS, X, limits=limits)


def test_a_step_of_a_walk_has_time_for_all_its_draws(sandbox, monkeypatch):
    source = (
        "def start(parameters, trials, xp):\n    return 0.0 * parameters['w']\n"
        "def learn(parameters, trials, xp, state, response, feedback):\n    return state\n"
        "def choose(parameters, trials, xp, state):\n"
        "    for _ in range(4_000_000 * len(parameters['w'])):\n        pass\n"
        "    return 0.5 + 0.0 * (parameters['w'] + trials['x'])"
    )
    limits = SandboxLimits(cpu_seconds=0.3, wall_seconds=60.0)

    def walk() -> None:
        with sandbox.open_session(source, [], limits=limits) as asked:
            asked.begin({"w": np.linspace(0, 1, 20)})
            assert asked.step({"x": np.zeros(3)}).shape == (20, 3, 2)

    with pytest.raises(TheoryTimeoutError, match=r"0\.3 s of processor time"):
        walk()
    monkeypatch.setattr(session, "CELLS_IN_TIME", 1)
    walk()


def test_answers_in_parts_are_equal_to_answers_at_once_and_are_held_once(sandbox, monkeypatch):
    source = body("return parameters['w'] ** 1.7 * xp.linspace(0, 1, 5)")
    draws = {"w": np.linspace(0, 1, 100_000)}
    at_once = sandbox.probabilities(source, draws, X)[0]
    monkeypatch.setattr(session, "MOST_CELLS", 35_000)
    tracemalloc.start()
    try:
        (parts,) = sandbox.probabilities(source, draws, X)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    np.testing.assert_allclose(parts, at_once, rtol=1e-15)
    assert peak < 1.5 * parts.nbytes


def test_a_theory_that_is_slow_or_overflows_in_a_corner_of_its_range_ends_alone(sandbox):
    """The sandbox goes on, and says of each what was wrong."""
    corner = "if parameters['w'].max() > 0.9:\n    {}\nreturn 0.0 * parameters['w'] + xp.zeros(5)"
    limits = SandboxLimits(cpu_seconds=0.3, wall_seconds=60.0)
    slow = corner.format("while True: pass")
    huge = corner.format("return xp.exp(1e3 * parameters['w']) * xp.zeros(5)")
    for text, error in ((slow, TheoryTimeoutError), (huge, TheoryError)):
        with sandbox.open_session(body(text), X, limits=limits) as session:
            assert session.probabilities({"w": np.full(2, 0.5)})[0].shape == (2, 5, 2)
            with pytest.raises(error):
                session.probabilities({"w": np.array([0.5, 1.0])})
    assert sandbox.probabilities(body("return 0.0 * parameters['w'] + xp.zeros(5)"), DRAWS, X)


def test_processes_of_closed_sessions_are_cleared_away(sandbox, honest):
    for _ in range(3):
        honest(sandbox)
    zygote = sandbox._zygote
    for _ in range(100):
        zygote.ask(b"time", -1)  # any command clears away what has ended by then
        if not dead_below(zygote._process.pid):
            return
        time.sleep(0.05)
    pytest.fail(f"still there: {dead_below(zygote._process.pid)}")


def dead_below(pid: int) -> list[str]:
    """Processes below one that have ended and that nobody has asked about."""
    found, waiting = [], [str(pid)]
    while waiting:
        parent = waiting.pop()
        for thread in os.listdir(f"/proc/{parent}/task"):
            with open(f"/proc/{parent}/task/{thread}/children", encoding="utf-8") as file:
                children = file.read().split()
            for child in children:
                with (
                    contextlib.suppress(FileNotFoundError),
                    open(f"/proc/{child}/stat", encoding="utf-8") as file,
                ):
                    found += [child] if file.read().rpartition(")")[2].split()[0] == "Z" else []
            waiting += children
    return found
