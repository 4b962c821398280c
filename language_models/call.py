"""Calls that are steps of the trace: recorded once, within the budget, tried again where that can help.

A recorded call is never made again. One that a crash cut short is repeated, and what was reserved for it stays
charged. Make the calls of a stage first and record its result with their digests as inputs: then whatever falls with
an erased call falls with it. A call inside another step works as well and is found again when that step is repeated,
but the outer record does not depend on it unless it names it among its inputs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from lakatos.language_models.client import LanguageModel, ModelCompletion, ModelRequest
from lakatos.language_models.clients import CLIENTS
from lakatos.language_models.errors import BudgetExhaustedError, LanguageModelError, TransientError
from lakatos.language_models.ledger import (
    BudgetLedger,
    BudgetReservation,
    SpentAmount,
    cost,
    worst_case,
)
from lakatos.language_models.limit import InFlight, RetryPolicy, Sleep, wait_s
from lakatos.language_models.outcome import outcome_of
from lakatos.language_models.record import LanguageModelCalled
from lakatos.language_models.settings import ModelSettings, Price
from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.digest import Digest, digest_of
from lakatos.traces.step import StepContext, Trace

STEP: Final = "ask"
TRY: Final = SpentAmount(requests=1)
"""Cost of a try that was turned down."""
_SHOWN: Final = 300
_SEEDS: Final = 2**31


@dataclass(frozen=True)
class RecordedCall:
    """A call of a language model as the trace holds it, with its answer."""

    record: LanguageModelCalled
    digest: Digest
    """Digest of the record, for what is derived from it."""
    completion: ModelCompletion
    """Completion without latency, cached tokens and refused requests, so that it is the same whenever it is read."""


class ModelCaller:
    """Asks one language model within one run."""

    def __init__(
        self,
        model: LanguageModel,
        trace: Trace,
        ledger: BudgetLedger,
        *,
        price: Price | None = None,
        retry: RetryPolicy | None = None,
        most_in_flight: int = 16,
        earlier: Sequence[str] = (),
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """Ask ``model``; nothing is sent yet.

        Args:
            model: Who is asked.
            trace: Must list `language_models.record.RECORDS` among its types.
            ledger: Ledger of the run; several callers share one.
            price: What tokens cost; nothing by default, as on one's own machine.
            retry: Rules by which a failed call is made again.
            most_in_flight: Calls at once.
            earlier: Versions of models that were asked under this name before; what they answered is not asked again.
            sleep: Waits between tries.
        """
        self.model, self.trace, self.ledger = model, trace, ledger
        self._price, self._retry = price or Price(), retry or RetryPolicy()
        self._in_flight, self._sleep = InFlight(most_in_flight), sleep
        self._earlier = tuple(earlier)

    @classmethod
    def of(
        cls,
        settings: ModelSettings,
        trace: Trace,
        ledger: BudgetLedger,
        *,
        retry: RetryPolicy | None = None,
    ) -> Self:
        """The caller of the model that a study describes."""
        return cls(
            CLIENTS[settings.client](settings),
            trace,
            ledger,
            price=settings.price,
            retry=retry,
            most_in_flight=settings.most_in_flight,
        )

    async def ask(
        self,
        request: ModelRequest,
        *,
        role: str,
        position: Mapping[str, int | str] | None = None,
        inputs: Sequence[Digest] = (),
    ) -> RecordedCall:
        """The answer to ``request``, from the trace if it was given before.

        Args:
            request: A seed of 0 is replaced by one that follows from the campaign's seed and the place of the call.
            role: What the model is asked as.
            position: Place in the campaign: cycle, sample number. The same request asked twice at one position is one
                call.
            inputs: Records and artifacts from which the request was made.

        Raises:
            BudgetExhaustedError: Nothing was sent.
            TransientError: All tries failed; resume later.
            RequestRefusedError: The server does not answer this request.
        """
        artifacts = self.trace.artifacts
        stored = await asyncio.to_thread(artifacts.put_json, request.model_dump(mode="json"))
        place = {**(position or {}), "role": role, "model": self.model.version}
        cited = (stored, *inputs)
        for version in (self.model.version, *self._earlier):
            found = self.trace.recorded(STEP, cited, {**place, "model": version})
            if found is not None and isinstance(found.record, LanguageModelCalled):
                return await _read(artifacts, found.record, found.digest)
        async with self._in_flight.one():
            return await self._step(request, stored, role, cited, place)

    async def _step(
        self,
        request: ModelRequest,
        asked: Digest,
        role: str,
        cited: Sequence[Digest],
        place: Mapping[str, int | str],
    ) -> RecordedCall:
        worst, purpose = worst_case(self._price, request), f"asking {self.model.name!r} as {role}"
        reservations: list[BudgetReservation] = []

        def reserve() -> dict[str, Any]:
            reservations.append(self.ledger.reserve(worst, purpose))
            return reservations[-1].note()

        async def call(context: StepContext) -> LanguageModelCalled:
            seed = request.seed or int(context.rng.integers(1, _SEEDS))
            sent = request.model_copy(update={"seed": seed})
            completion = await self._tried(sent, context, reservations, worst, purpose)
            kept = _without_measures(completion)
            return LanguageModelCalled(
                role=role,
                model=self.model.name,
                model_version=self.model.version,
                model_name=completion.model_name,
                server=completion.server,
                request=asked,
                sampling=request.sampling,
                seed=seed,
                completion=await asyncio.to_thread(
                    context.artifacts.put_json, kept.model_dump(mode="json")
                ),
                finish_reason=completion.finish_reason,
                outcome=outcome_of(completion),
                n_prompt_tokens=completion.usage.n_prompt_tokens,
                n_completion_tokens=completion.usage.n_completion_tokens,
                withheld=completion.withheld,
            )

        try:
            done = await self.trace.step(
                STEP, call, returns=LanguageModelCalled, inputs=cited, position=place, note=reserve
            )
        finally:
            # Whatever is still open was cut short; the trace says the same.
            for reservation in reservations:
                reservation.settle()
        return await _read(self.trace.artifacts, done.record, done.digest)

    async def _tried(
        self,
        request: ModelRequest,
        context: StepContext,
        reservations: list[BudgetReservation],
        worst: SpentAmount,
        purpose: str,
    ) -> ModelCompletion:
        """Ask until there is an answer; each try reserves and settles."""
        # Waits have a generator of their own: how often a server failed must not change what is drawn after it.
        (jitter,) = context.rng.spawn(1)
        n_tries = 0
        while True:
            n_tries += 1
            try:
                completion = await self.model.complete(request)
            except LanguageModelError as error:
                spent = worst if isinstance(error, TransientError) and error.may_have_cost else TRY
                failed = {"try": n_tries, "problem": f"{type(error).__name__}: {error}"[:_SHOWN]}
                settled = failed | {"spent": spent.model_dump()}
                wait = self._wait_s(error, n_tries, jitter)
                if wait is not None:
                    await self._sleep(wait)
                reservations[-1].settle(spent)
                if wait is None:
                    context.note(settled)
                    raise
                try:
                    reservations.append(self.ledger.reserve(worst, purpose))
                except BudgetExhaustedError:
                    context.note(settled)
                    raise
                context.note(settled | reservations[-1].note())
                continue
            # A server that does not count is charged the worst.
            spent = (
                cost(self._price, completion.usage) if completion.usage.n_prompt_tokens else worst
            )
            spent += SpentAmount(requests=completion.n_refused)
            reservations[-1].settle(spent)
            measured = {
                "try": n_tries,
                "latency_s": round(completion.latency_s, 6),
                "n_cached_tokens": completion.usage.n_cached_tokens,
            } | ({"n_refused": completion.n_refused} if completion.n_refused else {})
            context.last_note(measured | {"spent": spent.model_dump()})
            return completion

    def _wait_s(self, error: LanguageModelError, n_tries: int, rng: Any) -> float | None:
        """Seconds until the next try; None if there is none."""
        if not isinstance(error, TransientError) or n_tries >= self._retry.most_tries:
            return None
        if (error.retry_after_s or 0.0) > self._retry.longest_retry_after_s:
            return None
        return wait_s(self._retry, n_tries, rng, error.retry_after_s)


def _without_measures(completion: ModelCompletion) -> ModelCompletion:
    usage = completion.usage.model_copy(update={"n_cached_tokens": 0})
    return completion.model_copy(update={"usage": usage, "latency_s": 0.0, "n_refused": 0})


async def _read(
    artifacts: ArtifactStore, record: LanguageModelCalled, digest: Digest
) -> RecordedCall:
    kept = await asyncio.to_thread(artifacts.get, record.completion)
    return RecordedCall(record, digest, ModelCompletion.model_validate_json(kept))


def served_version(record: LanguageModelCalled) -> Digest:
    """Return the identity of the served model: a server that was changed under the same name is another model."""
    return digest_of([record.model_version, record.model_name, record.server])


class RecordedModel:
    """A caller as a language model, for what asks one thing after another: each completion is a recorded call.

    Calls are told apart by their number, so ask in an order that does not depend on the hour.
    """

    def __init__(
        self,
        caller: ModelCaller,
        *,
        role: str,
        position: Mapping[str, int | str] | None = None,
        inputs: Sequence[Digest] = (),
    ) -> None:
        """Ask as ``role`` from ``position``; ``inputs`` are cited by every call."""
        self._caller, self._role, self._position, self._inputs = (
            caller,
            role,
            dict(position or {}),
            tuple(inputs),
        )
        self.calls: list[Digest] = []
        """Records of the calls so far, to be cited by what is derived from them."""
        self._n_asked = 0

    @property
    def name(self) -> str:
        """Name of the model that answers behind it."""
        return self._caller.model.name

    @property
    def version(self) -> str:
        """Version of the model that answers behind it."""
        return self._caller.model.version

    async def complete(self, request: ModelRequest) -> ModelCompletion:
        """The answer, from the trace if it was given before; errors as of `ModelCaller.ask`."""
        self._n_asked += 1
        place = {**self._position, "call": self._n_asked}
        called = await self._caller.ask(
            request, role=self._role, position=place, inputs=self._inputs
        )
        self.calls.append(called.digest)
        return called.completion
