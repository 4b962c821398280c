"""People who take part on the page in Chromium, each in a browser context of its own, with what goes wrong for people.

Who takes part looks at the page and does what it asks, step by step, so that a reload, another browser or a server that
is gone for a while needs nothing of its own here. Choices are made from what the page shows.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

SHOWN = """() => {
    const words = part => part.innerText.replace(/\\s+/g, ' ');
    const main = document.querySelector('main'), open = '.options button:not(.chosen):not([disabled])';
    if (!main || !main.firstChild) return {what: 'nothing'};
    if (main.querySelector('.code')) return {what: 'code', code: main.querySelector('.code').innerText};
    if (main.querySelector('#agree')) return {what: 'consent'};
    if (main.querySelector('input[name^=question-]')) return {what: 'comprehension'};
    if (main.querySelector('[name^=reply-]')) return {what: 'questions'};
    const said = main.querySelector('h1.trial')?.innerText.match(/\\d+/);
    if (said && main.querySelector(open)) return {what: 'choice', number: Number(said[0]),
        picture: [...main.querySelectorAll('.notice, .picture')].map(words).join(' '),
        lang: document.documentElement.lang};
    if (document.querySelector('#progress:not([hidden])')) return {what: 'nothing'};
    return {what: main.querySelector('.row button') ? 'page' : 'nothing', heading: main.querySelector('h1')?.innerText};
}"""
"""What a person sees, of the pages that a study can have."""
PAUSE_MS = 230
"""What comes sooner after a step has appeared is no answer to it."""
LONGEST_S = 600.0
"""Of a visit, however often the server is gone."""
Choose = Callable[[str, int], int]
"""From the words of the notices and of the picture and the number of the decision to the place of an option."""


@dataclass
class Visit:
    """What one person saw and did."""

    person: int
    language: str
    mishaps: list[str]
    choices: dict[int, int] = field(default_factory=dict)
    """By number of the decision; the last one made, where a reload asked for it again."""
    shown_again: int = 0
    """Decisions that stood on the page again after the next one had been shown."""
    code: str = ""
    arrivals: int = 0
    """How often the address was opened, until it answered."""
    seconds: float = 0.0
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def planned_mishaps(rng: random.Random, n_steps: int) -> dict[int, str]:
    """What goes wrong for a person, by the number of the decision before which it does."""
    kinds = [
        "reload",
        "closed tab",
        "another browser",
        "lost connection",
        "double click",
        "back button",
    ]
    chosen = [kind for kind in kinds if rng.random() < 0.25]
    return dict(
        zip(rng.sample(range(2, n_steps + 1), min(len(chosen), n_steps - 1)), chosen, strict=False)
    )


async def open_page(context: Any, link: str, visit: Visit) -> Any:
    """A tab with the study; asked again while the server is gone, as people do."""
    page = await context.new_page()
    while True:
        visit.arrivals += 1
        try:
            await page.goto(link)
            return page
        except Exception as error:
            if "interrupted by another navigation" in str(error):  # the browser looked again itself
                return page
            if "ERR_CONNECTION" not in str(error) and "ERR_EMPTY" not in str(error):
                raise
            await asyncio.sleep(1)


class PagePerson:
    """One person on the way through a study."""

    def __init__(
        self,
        browser: Any,
        link: str,
        visit: Visit,
        choose: Choose,
        right: Sequence[int],
        mishaps: Mapping[int, str],
    ) -> None:
        """A person with a link, who knows the right answers about the instructions."""
        self.browser, self.link, self.visit = browser, link, visit
        self.choose, self.right, self.mishaps = choose, right, dict(mishaps)
        self.context: Any = None
        self.page: Any = None
        self.confirmed = 0
        """Number of the last decision behind which another one was shown."""

    async def new_browser(self) -> None:
        """Go on in a browser that knows nothing."""
        if self.context is not None:
            await self.context.close()
        size = (
            {"width": 390, "height": 800}
            if self.visit.person % 3 == 0
            else {"width": 1100, "height": 800}
        )
        self.context = await self.browser.new_context(viewport=size, locale=self.visit.language)
        self.context.set_default_timeout(300_000)
        self.page = await open_page(self.context, self.link, self.visit)

    async def take_part(self) -> None:
        """From the link to the completion code."""
        begun = time.monotonic()
        try:
            await self.new_browser()
            while not self.visit.code:
                if time.monotonic() - begun > LONGEST_S:
                    raise TimeoutError(f"no code after {LONGEST_S:g} s")
                try:
                    shown = await self.page.evaluate(SHOWN)
                except Exception as error:  # a page that is just being left
                    if "context was destroyed" not in str(error) and "navigat" not in str(error):
                        raise
                    shown = {"what": "nothing"}
                await self.do(shown)
        except Exception as error:
            self.visit.problem = f"{type(error).__name__}: {str(error)[:300]}"
        finally:
            self.visit.seconds = round(time.monotonic() - begun, 1)
            await self.context.close()

    async def do(self, shown: dict[str, Any]) -> None:
        """What the page asks for."""
        page, what = self.page, shown["what"]
        if what == "code":
            self.visit.code = shown["code"]
        elif what == "consent":
            await page.locator("#agree").check()
            await page.locator("main .row button").first.click()
            await page.locator("#agree").wait_for(state="detached")
        elif what == "comprehension":
            for place, answer in enumerate(self.right):
                await page.locator(f"input[name=question-{place}]").nth(answer).check()
            await self.hand_in()
        elif what == "questions":  # numbers alone; who is asked something else needs an answer here
            for field in await page.locator("main input[type=number]").all():
                await field.fill(str(20 + self.visit.person % 50))
            await self.hand_in()
        elif what == "page":
            await page.locator("main .row button").first.click()
        elif what == "choice":
            await self.decide(shown)
        else:
            await asyncio.sleep(0.1)

    async def hand_in(self) -> None:
        """Send the form that is shown, and wait until this one is gone: another one may stand in its place."""
        form = await self.page.wait_for_selector("main form")
        await self.page.locator("main form button[type=submit]").click()
        await form.wait_for_element_state("hidden")

    async def decide(self, shown: dict[str, Any]) -> None:
        """Choose, unless something goes wrong first."""
        number = shown["number"]
        mishap = self.mishaps.pop(number, "")
        if number in self.visit.choices and number <= self.confirmed:
            self.visit.shown_again += 1
        self.confirmed = max(self.confirmed, number - 1)
        if mishap:
            self.visit.mishaps.append(mishap)
        if mishap in ("reload", "closed tab", "another browser", "back button"):
            await self.leave(mishap)
            return
        if mishap == "lost connection":
            await self.context.set_offline(True)
        await asyncio.sleep(PAUSE_MS / 1000)
        option = self.choose(shown["picture"], number)
        self.visit.choices[number] = option
        button = self.page.locator(".options button").nth(option)
        await (button.dblclick() if mishap == "double click" else button.click())
        if mishap == "lost connection":
            await asyncio.sleep(1)
            await self.context.set_offline(False)
        moved = (
            "number => document.querySelector('.code') || (document.querySelector('.options button.chosen') === null "
            "&& Number(document.querySelector('h1.trial')?.innerText.match(/\\d+/)?.[0] ?? 0) !== number)"
        )
        await self.page.wait_for_function(moved, arg=number, timeout=300_000)

    async def leave(self, mishap: str) -> None:
        """Go away and come back."""
        if mishap == "another browser":
            await self.new_browser()
        elif mishap == "closed tab":
            await self.page.close()
            self.page = await open_page(self.context, self.link, self.visit)
        elif mishap == "back button":
            await self.page.goto("about:blank")
            self.page = await open_page(self.context, self.link, self.visit)
        else:
            while True:
                try:
                    await self.page.reload()
                    return
                except Exception as error:
                    if "ERR_" not in str(error):
                        raise
                    await asyncio.sleep(1)


async def drive(
    links: Mapping[int, str],
    choose: Callable[[int], Choose],
    right: Sequence[int],
    *,
    chromium: str,
    at_once: int,
    n_steps: int,
    seed: int,
    german_share: float = 0.0,
    finished: Callable[[Visit], None],
) -> None:
    """Send people through a study, so many at once; each is handed to ``finished``."""
    from playwright.async_api import async_playwright

    waiting = list(links.items())

    async def take_turns(browser: Any) -> None:
        while waiting:
            number, link = waiting.pop(0)
            rng = random.Random(f"{seed} {number}")
            language = "de-DE" if rng.random() < german_share else "en-GB"
            visit = Visit(number, language, [])
            mishaps = planned_mishaps(rng, n_steps)
            await PagePerson(browser, link, visit, choose(number), right, mishaps).take_part()
            finished(visit)

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--disable-quic"]
        )
        await asyncio.gather(*(take_turns(browser) for _ in range(at_once)))
        await browser.close()


def parity(text: str, number: int) -> int:
    """A choice by the numbers shown alone, in any language: an answer kept for another trial is found out."""
    return sum(map(int, re.findall(r"\d", text))) % 2
