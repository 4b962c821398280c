"""What a sampler says of its duration."""

from __future__ import annotations

from lakatos.theories.engine.fitting.sampling_progress import SamplingProgress, duration


def test_the_time_left_is_in_proportion_and_stated_now_and_then() -> None:
    said: list[str] = []
    now = [0.0]
    progress = SamplingProgress(said.append, lambda: now[0])
    for done, seconds in ((0, 0.0), (5, 4.0), (10, 10.0), (20, 20.0), (50, 50.0)):
        now[0] = seconds
        progress(done, 1000)
    assert said == [
        "1% of sampling done, about 16 minutes left",
        "5% of sampling done, about 16 minutes left",
    ]
    assert [duration(x) for x in (0.2, 60, 600, 7200)] == [
        "1 seconds",
        "60 seconds",
        "10 minutes",
        "2.0 hours",
    ]
