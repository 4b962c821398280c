"""Calls as steps of the trace: made once, tried again, paid for, and the same after a crash."""

import asyncio
import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lakatos.language_models.call import STEP, ModelCaller, RecordedModel, served_version
from lakatos.language_models.client import (
    ChatMessage,
    ModelCompletion,
    ModelRequest,
    TokenSampling,
    TokenUsage,
)
from lakatos.language_models.clients.openai import OpenAIModel
from lakatos.language_models.clients.scripted import ScriptedModel
from lakatos.language_models.errors import (
    BudgetExhaustedError,
    KeyRefusedError,
    RateLimitedError,
    ServerFailedError,
    SlowServerError,
    TransientError,
    UnreachableError,
)
from lakatos.language_models.ledger import (
    Budget,
    BudgetLedger,
    SpentAmount,
    cost,
    spending_of,
    worst_case,
)
from lakatos.language_models.limit import RetryPolicy, wait_s
from lakatos.language_models.preflight import preflight
from lakatos.language_models.probe import probe_request
from lakatos.language_models.record import RECORDS, LanguageModelCalled
from lakatos.language_models.serving.app_thread import free_port
from lakatos.language_models.settings import ModelSettings, Price
from lakatos.traces.digest import digest_of
from lakatos.traces.fold import canonical_form
from lakatos.traces.journal import INTENT
from lakatos.traces.step import Trace
from lakatos.traces.verify import verify
from tests.rehearsal.app import RehearsalSettings
from tests.rehearsal.fault import TRANSIENT, ServerMisbehaviour
from tests.rehearsal.serve import running, running_process

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).parent / "campaign.py"
PRICE = Price(input=1.0, cached_input=0.1, output=4.0)
QUESTION = ModelRequest(
    messages=(ChatMessage(role="user", content="What do people choose?"),),
    sampling=TokenSampling(max_tokens=9),
)

spec = importlib.util.spec_from_file_location("calls_campaign", SCRIPT)
campaign = importlib.util.module_from_spec(spec)
spec.loader.exec_module(campaign)


class Failing:
    """Fails as told, one error after another, then answers."""

    name, version = "failing", digest_of("failing")

    def __init__(self, *errors):
        self.errors, self.requests = list(errors), []

    async def complete(self, request):
        self.requests.append(request)
        if self.errors and (error := self.errors.pop(0)) is not None:
            raise error
        usage = TokenUsage(n_prompt_tokens=6, n_cached_tokens=2, n_completion_tokens=3)
        return ModelCompletion(
            content="the larger one",
            finish_reason="stop",
            model_name="f",
            usage=usage,
            latency_s=0.1,
        )


@pytest.fixture
def trace(tmp_path):
    with Trace.create(tmp_path / "run", seed=3, types=RECORDS) as made:
        yield made


@pytest.fixture
def waits():
    return []


@pytest.fixture
def caller_of(trace, waits):
    async def sleep(seconds):
        waits.append(seconds)

    def make(model, ledger=None, **given):
        return ModelCaller(
            model, trace, ledger or BudgetLedger(Budget()), price=PRICE, sleep=sleep, **given
        )

    return make


def ask(caller, request=QUESTION, **given):
    return asyncio.run(caller.ask(request, role="advocate", **given))


def notes(trace):
    return [
        event.body["note"]
        for event in trace.journal.events()
        if event.kind == INTENT and "note" in event.body
    ]


def ends_where_its_trace_ends(ledger, trace):
    return ledger.total == spending_of(trace.journal.events()).total


def test_a_recorded_call_is_not_made_again(trace, caller_of):
    caller = caller_of(ScriptedModel(["first", "second"]))
    first, again, other = ask(caller), ask(caller), ask(caller, position={"number": 2})
    assert (first.completion.content, other.completion.content) == ("first", "second")
    assert again == first
    assert [record.record for record in trace.records(LanguageModelCalled)] == [
        first.record,
        other.record,
    ]


def test_the_record_names_all_that_decided_the_answer(trace, caller_of):
    cited = trace.artifacts.put_json("why it was asked")
    called = ask(caller_of(Failing()), inputs=[cited])
    record = called.record
    assert ModelRequest.model_validate(trace.artifacts.get_json(record.request)) == QUESTION
    assert (
        ModelCompletion.model_validate(trace.artifacts.get_json(record.completion))
        == called.completion
    )
    assert (record.role, record.model, record.model_name, record.outcome) == (
        "advocate",
        "failing",
        "f",
        "answered",
    )
    assert (record.sampling, record.n_prompt_tokens, record.n_completion_tokens) == (
        QUESTION.sampling,
        6,
        3,
    )
    (event,) = (event for event in trace.journal.events() if event.kind != INTENT)
    assert event.inputs == (record.request, cited)
    report = verify(trace.journal.path.parent, RECORDS, unsigned=True)
    assert report.ok, report.failures


def test_what_depends_on_the_hour_is_in_the_notes_and_not_in_the_record(trace, caller_of):
    called = ask(caller_of(Failing()))
    assert (called.completion.latency_s, called.completion.usage.n_cached_tokens) == (0.0, 0)
    assert {name: notes(trace)[-1][name] for name in ("try", "latency_s", "n_cached_tokens")} == {
        "try": 1,
        "latency_s": 0.1,
        "n_cached_tokens": 2,
    }


def test_the_seed_follows_from_campaign_and_place(tmp_path):
    seeds = []
    for number, position in enumerate([{"n": 1}, {"n": 1}, {"n": 2}]):
        model = Failing()
        with Trace.create(tmp_path / str(number), seed=3, types=RECORDS) as made:
            called = ask(ModelCaller(model, made, BudgetLedger(Budget())), position=position)
        assert model.requests[0].seed == called.record.seed
        seeds.append(called.record.seed)
    assert seeds[0] == seeds[1] != seeds[2]
    assert 0 not in seeds


def test_a_seed_that_was_given_is_kept(caller_of):
    assert ask(caller_of(Failing()), QUESTION.model_copy(update={"seed": 17})).record.seed == 17


def test_what_can_help_is_tried_again_with_growing_waits(trace, caller_of, waits):
    errors = [
        ServerFailedError("a"),
        UnreachableError("b", may_have_cost=False),
        RateLimitedError("c"),
    ]
    ledger = BudgetLedger(Budget())
    called = ask(caller_of(Failing(*errors), ledger, retry=RetryPolicy(first_wait_s=1.0)))
    assert called.completion.content == "the larger one"
    assert len(waits) == 3
    assert all(0 <= wait <= most for wait, most in zip(waits, (1.0, 2.0, 4.0), strict=True))
    assert [note["problem"] for note in notes(trace) if "problem" in note] == [
        "ServerFailedError: a",
        "UnreachableError: b",
        "RateLimitedError: c",
    ]
    # What may have been worked on is charged in full, what was turned down as a request, the answer as it was counted.
    counted = cost(PRICE, TokenUsage(n_prompt_tokens=6, n_cached_tokens=2, n_completion_tokens=3))
    assert ledger.total == worst_case(PRICE, QUESTION) + SpentAmount(requests=2) + counted
    assert ends_where_its_trace_ends(ledger, trace)


def test_a_server_that_says_how_long_to_wait_is_obeyed(caller_of, waits):
    ask(
        caller_of(
            Failing(RateLimitedError("a", retry_after_s=9.0)), retry=RetryPolicy(first_wait_s=0.5)
        )
    )
    assert 9.0 <= waits[0] <= 9.5


def test_a_server_that_asks_for_too_long_is_given_up(caller_of, waits):
    with pytest.raises(RateLimitedError):
        ask(caller_of(Failing(RateLimitedError("a", retry_after_s=3600.0))))
    assert waits == []


def test_what_cannot_help_is_not_tried_again(trace, caller_of, waits):
    ledger, model = BudgetLedger(Budget()), Failing(KeyRefusedError("no"), None)
    caller = caller_of(model, ledger)
    with pytest.raises(KeyRefusedError):
        ask(caller)
    assert (waits, len(model.requests), ledger.total) == ([], 1, SpentAmount(requests=1))
    assert ends_where_its_trace_ends(ledger, trace)
    assert ask(caller).completion.content == "the larger one"


def test_tries_end_and_the_run_can_go_on_later(trace, caller_of):
    ledger = BudgetLedger(Budget())
    model = Failing(*[SlowServerError(str(number)) for number in range(3)])
    caller = caller_of(model, ledger, retry=RetryPolicy(most_tries=3))
    with pytest.raises(SlowServerError, match="2"):
        ask(caller)
    assert ledger.total.requests == 3
    assert ends_where_its_trace_ends(ledger, trace)
    assert ask(caller).completion.content == "the larger one"
    assert ends_where_its_trace_ends(ledger, trace)


def test_the_budget_stops_before_anything_is_sent(trace, caller_of):
    most = worst_case(PRICE, QUESTION).tokens
    model, ledger = Failing(), BudgetLedger(Budget(tokens=most - 1))
    with pytest.raises(
        BudgetExhaustedError,
        match=rf"may take {most} tokens, but of the budget of {most - 1} tokens",
    ):
        ask(caller_of(model, ledger))
    assert model.requests == []
    assert list(trace.journal.events()) == []
    assert ask(caller_of(model, BudgetLedger(Budget(tokens=most)))).completion.content


def test_a_retry_that_the_budget_does_not_cover_is_not_made(trace, caller_of):
    model, ledger = Failing(RateLimitedError("a"), None), BudgetLedger(Budget(requests=1))
    with pytest.raises(BudgetExhaustedError, match="1 requests are spent"):
        ask(caller_of(model, ledger))
    assert len(model.requests) == 1
    assert ends_where_its_trace_ends(ledger, trace)


def test_money_stops_too(caller_of):
    worst = worst_case(PRICE, QUESTION).millionths
    with pytest.raises(BudgetExhaustedError, match="of money"):
        ask(caller_of(Failing(), BudgetLedger(Budget(money=(worst - 1) / 1e6))))
    ask(caller_of(Failing(), BudgetLedger(Budget(money=worst / 1e6))))


def test_a_server_that_does_not_count_is_charged_the_worst(caller_of):
    class Silent(Failing):
        async def complete(self, request):
            return (await super().complete(request)).model_copy(update={"usage": TokenUsage()})

    ledger = BudgetLedger(Budget())
    ask(caller_of(Silent(), ledger))
    assert ledger.total == worst_case(PRICE, QUESTION)


def test_a_call_that_is_cancelled_stays_charged(trace, caller_of):
    begun = asyncio.Event()

    class Endless(Failing):
        async def complete(self, request):
            begun.set()
            await asyncio.sleep(60)

    ledger = BudgetLedger(Budget())

    async def cut():
        asking = asyncio.create_task(caller_of(Endless(), ledger).ask(QUESTION, role="advocate"))
        await begun.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    asyncio.run(cut())
    assert ledger.total == worst_case(PRICE, QUESTION)
    assert ends_where_its_trace_ends(ledger, trace)


def test_no_more_calls_than_allowed_are_in_flight(trace):
    class Counting(Failing):
        now = most = 0

        async def complete(self, request):
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(0.005)
            self.now -= 1
            return await super().complete(request)

    model = Counting()
    caller = ModelCaller(model, trace, BudgetLedger(Budget()), most_in_flight=5)

    async def everything():
        await asyncio.gather(
            *(caller.ask(QUESTION, role="advocate", position={"n": n}) for n in range(23))
        )

    asyncio.run(everything())
    assert model.most == 5


def test_concurrent_calls_never_overdraw_the_budget(trace):
    worst = worst_case(PRICE, QUESTION)
    ledger = BudgetLedger(Budget(tokens=10 * worst.tokens))
    model = Failing()
    caller = ModelCaller(model, trace, ledger, price=PRICE, most_in_flight=64)

    async def everything():
        calls = (caller.ask(QUESTION, role="advocate", position={"n": n}) for n in range(200))
        return await asyncio.gather(*calls, return_exceptions=True)

    found = asyncio.run(everything())
    assert {type(item) for item in found if isinstance(item, Exception)} <= {BudgetExhaustedError}
    assert 10 <= len(model.requests) <= 200
    assert ledger.total.tokens <= 10 * worst.tokens
    assert ends_where_its_trace_ends(ledger, trace)


@pytest.mark.slow
def test_sixty_four_in_flight_against_a_misbehaving_server_all_end_the_same(tmp_path):
    rates = {fault: 0.05 for fault in TRANSIENT if fault != "slow"}
    forms = []
    for number, misbehaviour in enumerate(
        [ServerMisbehaviour(), ServerMisbehaviour(rates=rates, retry_after_s=0)]
    ):
        with (
            running(RehearsalSettings(misbehaviour=misbehaviour)) as server,
            Trace.create(tmp_path / str(number), seed=1, types=RECORDS) as trace,
        ):
            settings = ModelSettings(
                name="a", base_url=server.base_url, model=server.model, price=PRICE
            )
            ledger = BudgetLedger(Budget())
            retry = RetryPolicy(most_tries=12, first_wait_s=0.001)
            model = OpenAIModel(settings)
            caller = ModelCaller(model, trace, ledger, price=PRICE, most_in_flight=64, retry=retry)

            async def everything(caller=caller):
                await asyncio.gather(
                    *(caller.ask(QUESTION, role="advocate", position={"n": n}) for n in range(64))
                )

            asyncio.run(everything())
            assert ends_where_its_trace_ends(ledger, trace)
            n_tries = sum("spent" in note for note in notes(trace))
            assert n_tries == 64 if number == 0 else n_tries > 64
            forms.append(canonical_form(trace.journal.events()))
    assert forms[0] == forms[1]


def test_a_caller_can_stand_where_a_language_model_is_wanted(trace, caller_of):
    caller = caller_of(ScriptedModel(["first", "second"]))

    async def talk():
        model = RecordedModel(caller, role="arbiter", position={"cycle": 1})
        return [(await model.complete(QUESTION)).content for _ in range(2)], model.calls

    told, again = asyncio.run(talk()), asyncio.run(talk())
    assert (
        told
        == again
        == (["first", "second"], [item.digest for item in trace.records(LanguageModelCalled)])
    )


def test_a_probe_within_a_run_is_recorded_and_paid_for(trace, served):
    settings = ModelSettings(name="a", base_url=served.base_url, model=served.model)
    ledger = BudgetLedger(Budget())
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    request = probe_request(schema, 100, TokenSampling(max_tokens=64))

    async def check():
        caller = ModelCaller.of(settings, trace, ledger)
        probe = RecordedModel(caller, role="probe")
        return await preflight(
            OpenAIModel(settings), ledger=ledger, probe=request, ask=probe.complete
        )

    first = asyncio.run(check()).probe
    assert first is not None
    assert first.enforces
    assert asyncio.run(check()).probe == first
    assert ledger.total.requests == 1
    assert ends_where_its_trace_ends(ledger, trace)


def test_a_changed_server_is_another_version(caller_of):
    record = ask(caller_of(Failing())).record
    assert served_version(record) != served_version(
        record.model_copy(update={"server": "vllm-0.33.0"})
    )


def start(folder, base_url, *death):
    folder.mkdir(exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(SCRIPT), str(folder), base_url, *map(str, death)]
    return subprocess.run(command, env=environment, check=False, timeout=120).returncode


def form_of(folder):
    report = verify(folder, campaign.TYPES, unsigned=True)
    assert report.ok, report.failures
    with Trace.open(folder, campaign.TYPES, read_only=True) as trace:
        return canonical_form(trace.journal.events())


@pytest.fixture(scope="module")
def served():
    with running() as server:
        yield server


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory, served):
    folder = tmp_path_factory.mktemp("whole") / "run"
    asyncio.run(campaign.run(_made(folder), served.base_url))
    return form_of(folder)


def _made(folder):
    folder.mkdir(exist_ok=True)
    return folder


# Four calls of two writes each, and a step around one of them: 10 writes.
def test_a_run_killed_in_its_calls_resumes_to_the_same_form(tmp_path, served, uninterrupted):
    assert start(tmp_path / "run", served.base_url, "after", 8) == -signal.SIGKILL
    asyncio.run(campaign.run(tmp_path / "run", served.base_url))
    assert form_of(tmp_path / "run") == uninterrupted


@pytest.mark.long
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("write", range(1, 11))
def test_a_run_killed_at_any_write_resumes_to_the_same_form(
    tmp_path, served, uninterrupted, when, write
):
    assert start(tmp_path / "run", served.base_url, when, write) == -signal.SIGKILL
    asyncio.run(campaign.run(_made(tmp_path / "run"), served.base_url))
    assert form_of(tmp_path / "run") == uninterrupted


@pytest.mark.slow
def test_a_server_killed_in_the_middle_of_a_call_leaves_a_run_that_resumes(tmp_path):
    port = free_port()
    slow = RehearsalSettings(overhead_s=0.4)

    async def cut(caller, process):
        asking = asyncio.create_task(caller.ask(QUESTION, role="advocate"))
        await asyncio.sleep(0.2)
        process.kill()
        with pytest.raises(TransientError):
            await asking

    settings = ModelSettings(name="a", base_url=f"http://127.0.0.1:{port}/v1", model="rehearsal")
    forms = []
    for name, killed in (("whole", False), ("cut", True)):
        with Trace.create(tmp_path / name, seed=1, types=RECORDS) as trace:
            if killed:
                with running_process(slow, port) as server:
                    ledger = BudgetLedger(Budget())
                    retry = RetryPolicy(most_tries=2, first_wait_s=0.01)
                    asyncio.run(
                        cut(ModelCaller.of(settings, trace, ledger, retry=retry), server.process)
                    )
                    assert ledger.total.tokens >= worst_case(PRICE, QUESTION).tokens
                    assert ends_where_its_trace_ends(ledger, trace)
            with running(slow, port=port):
                ledger = BudgetLedger.of(Budget(), trace.journal.events())
                called = ask(ModelCaller.of(settings, trace, ledger))
            assert trace.recorded(
                STEP, (called.record.request,), {"role": "advocate", "model": settings.version}
            )
            forms.append(canonical_form(trace.journal.events()))
    assert forms[0] == forms[1]


def test_the_wait_is_uniform_up_to_a_bound_that_doubles():
    policy, rng = RetryPolicy(first_wait_s=0.5, longest_wait_s=6.0), np.random.default_rng(2)
    for n_tries, most in ((1, 0.5), (2, 1.0), (4, 4.0), (5, 6.0), (60, 6.0)):
        drawn = np.array([wait_s(policy, n_tries, rng) for _ in range(2000)])
        assert drawn.min() >= 0
        assert drawn.max() <= most
        # Mean of a uniform variable, with its standard error.
        assert abs(drawn.mean() - most / 2) < 4 * most / np.sqrt(12 * 2000)
