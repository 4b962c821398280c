"use strict";
// A trial whose answer is a key with its time: a cross, a target, a press. Nothing on the page moves between the two, and
// fingers find the same buttons in the same place. Times are of one clock, `performance.now()`: from the frame in which the
// target was painted to the press as the browser stamped it. What the answer is worth, only the server decides.
// eslint-disable-next-line no-unused-vars
function timedTrial(page) {
  const { make, button, steps, away, queue, since, sleep } = page;
  const MOST_MISSED = 3; // in a row; then nothing goes on before somebody says to be there
  const FEEDBACK_MS = 700;
  let missedInRow = 0;

  /** Buttons for the keys, from the left, with the key that does the same. */
  function keysOf(step, own) {
    return step.options.map((option, place) => {
      const name = (own[place] ?? (step.options.length === 2 ? ["←", "→"][place] : String(place + 1))).toUpperCase();
      const made = make("button", { type: "button" }, option.label,
        make("kbd", { textContent: name, attributes: { "aria-hidden": "true" } }));
      made.setAttribute("aria-keyshortcuts", name);
      return made;
    });
  }

  return class TimedChoice {
    static info = { name: "lakatos-timed-choice", version: "1", parameters: {}, data: {} };

    async trial(display) {
      const flow = page.flow();
      const mine = page.position();
      const step = steps.get(mine);
      if (step.kind === "break") return page.rest(display, step, mine);
      const buttons = keysOf(step, flow.own_keys ?? []);
      const stage = make("div", { className: "stage" });
      const said = make("p", { className: "feedback", attributes: { "aria-live": "polite" } });
      const question = make("p", { className: "question", id: "question", textContent: step.question });
      const keys = make("div", { className: "options timed", attributes: { role: "group", "aria-labelledby": "question" } },
        ...buttons);
      // Seen in the practice only, where nothing depends on where the eyes are; for screen readers always.
      const heading = make("h1", { className: "trial", textContent: page.called(step) });
      const above = make("div", { className: "called" }, heading);
      heading.classList.toggle("spoken", step.kind !== "practice");
      display.replaceChildren(above, question, stage, said, keys);
      page.header();
      window.scrollTo(0, 0);
      document.activeElement?.blur(); // a button in focus would take the space bar

      const cross = make("p", { className: "cross", textContent: "+", attributes: { "aria-hidden": "true" } });
      await frames.after(await frames.painted(() => stage.replaceChildren(cross)), step.fixation_ms ?? flow.fixation_ms);
      if (page.moved(mine)) return {};

      const target = make("div", { className: "target" });
      target.innerHTML = step.picture; // made by the server from numbers and its own words
      const answer = this.press(buttons, step.timeout_ms ?? flow.timeout_ms, mine);
      const shown = await frames.painted(() => { stage.replaceChildren(target); answer.open(); });
      page.report(mine);
      const { place, when } = await answer.made;
      if (place === undefined) return {}; // another tab has answered, or the study has ended
      stage.replaceChildren();

      const time = Math.max(0, Math.round((when - shown) * 10) / 10);
      page.moveTo(mine + 1);
      const item = { position: mine, response: place, response_time_ms: time, onset_ms: since(shown), ...away.take() };
      const sent = queue.add(item).catch(page.fail);
      missedInRow = place === null ? missedInRow + 1 : 0;
      const tells = place === null || flow.tells_right === "all" || (flow.tells_right === "practice" && step.kind === "practice");
      if (tells) {
        said.textContent = place === null ? flow.too_late : await sent;
        await sleep(FEEDBACK_MS);
      }
      if (missedInRow >= MOST_MISSED) {
        missedInRow = 0;
        await page.untilThere(display);
      }
      return item;
    }

    /** The first press once it is open: a key of the keyboard, a finger or a mouse; none after the time limit. */
    press(buttons, limit, mine) {
      let timer = null;
      let finish = () => {};
      const onKey = (event) => {
        if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || page.paused()) return;
        const place = page.optionOf(event.key, buttons.length);
        if (place < 0) return;
        event.preventDefault();
        finish({ place, when: event.timeStamp });
      };
      const made = new Promise((done) => {
        finish = (found) => {
          clearTimeout(timer);
          removeEventListener("keydown", onKey);
          for (const item of buttons) item.onpointerdown = item.onclick = null;
          buttons[found.place]?.classList.add("chosen");
          page.wakeBy(() => {});
          done(found);
        };
      });
      const open = () => {
        addEventListener("keydown", onKey);
        buttons.forEach((item, place) => {
          item.onpointerdown = (event) => finish({ place, when: event.timeStamp });
          item.onclick = (event) => finish({ place, when: event.timeStamp }); // by a switch or a screen reader
        });
        page.wakeBy(() => { if (page.moved(mine)) finish({ place: undefined }); });
        if (limit) timer = setTimeout(() => finish({ place: null, when: performance.now() }), limit + 50);
      };
      return { open, made };
    }
  };
}
