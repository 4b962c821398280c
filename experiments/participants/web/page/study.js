"use strict";
// What a participant's browser does: pages before and after, the task as a jsPsych timeline, and a queue of answers that
// outlives reloads and lost connections. Which step is asked, and what follows, only the server decides.
(() => {
  const LOCKED_MS = 200; // after a step appears; the second half of a double click must not answer it
  const FEEDBACK_MS = 900;
  const FIXATION = "+";
  const MOST_MISSED = 3; // in a row; then nothing goes on before somebody says to be there
  const TIMEOUT_MS = 15000;
  const LONGEST_WAIT_MS = 15000;
  const VISITOR = document.documentElement.dataset.visitor; // two people in one browser are told apart by their addresses
  const SHELF = "lakatos answer";
  const MOST_KEPT = 20; // the server lets nobody be more than a few steps ahead
  const KEPT_MS = 30 * 86400 * 1000; // as long as the cookie that opens a session

  const at = (id) => document.getElementById(id);
  const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
  const fill = (text, places) => text.replace(/\{(\w+)\}/g, (whole, name) => places[name] ?? whole);
  const query = new URLSearchParams(location.search);

  let texts = null;
  let state = null;

  // Elements --------------------------------------------------------------------------------------------------------

  function make(tag, properties = {}, ...children) {
    const { attributes = {}, ...own } = properties;
    const element = Object.assign(document.createElement(tag), own);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children.filter((child) => child !== null));
    return element;
  }

  const paragraphs = (lines, className = "") => lines.map((line) => make("p", { textContent: line, className }));

  function button(label, act, className = "") {
    return make("button", { type: "button", textContent: label, className, onclick: act });
  }

  /** Show a page and let its heading be read. */
  function show(heading, ...children) {
    const title = make("h1", { textContent: heading, tabIndex: -1 });
    at("main").replaceChildren(title, ...children.filter((child) => child !== null));
    document.title = `${heading} · ${texts.page.title}`;
    window.scrollTo(0, 0);
    title.focus({ preventScroll: true });
  }

  const banner = (text) => { if (at("banner").textContent !== text) at("banner").textContent = text; };
  const say = (text) => { at("spoken").textContent = text; };

  // The server ------------------------------------------------------------------------------------------------------

  /** Ask once; null where no answer came, or one that says to ask again. */
  async function attempt(path, body) {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), TIMEOUT_MS);
    try {
      const request = { signal: stop.signal, credentials: "same-origin", cache: "no-store", headers: {} };
      Object.assign(request.headers, shared.headers());
      if (body !== undefined) {
        Object.assign(request, { method: "POST", body: JSON.stringify(body) });
        request.headers["Content-Type"] = "application/json";
      }
      const response = await fetch(path, request);
      if (response.status >= 500 || [408, 429].includes(response.status)) return { again: response.status };
      return { status: response.status, value: await response.json() };
    } catch {
      return { again: 0 };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ask until there is an answer, waiting longer each time, less when the browser says that it is online again. */
  async function ask(path, body) {
    let lost = false;
    for (let tries = 0; ; tries += 1) {
      const answer = await attempt(path, body);
      if (answer.again === undefined) {
        if (lost) {
          banner(texts ? texts.page.online : "");
          setTimeout(() => { if (texts && at("banner").textContent === texts.page.online) banner(""); }, 3000);
        }
        return answer;
      }
      lost = true;
      if (texts && tries >= 1) banner(answer.again === 429 ? texts.page.slow : texts.page.offline);
      const wait = Math.min(LONGEST_WAIT_MS, 400 * 2 ** Math.min(tries, 10)) * (0.5 + Math.random() / 2);
      await Promise.race([sleep(wait), new Promise((done) => addEventListener("online", done, { once: true }))]);
    }
  }

  // Answers that are not known to be saved yet ------------------------------------------------------------------------

  /** Where they outlive this tab: each under the name of its session and its step, so that nobody else here sends it. */
  const shelf = {
    name: (item) => `${SHELF} ${state.session} ${item.position}`,
    put(item) {
      try {
        if (localStorage.getItem(this.name(item)) !== null) return; // another tab's answer, which was the first one
        localStorage.setItem(this.name(item), JSON.stringify({ kept: Date.now(), item }));
      } catch { /* memory has it */ }
    },
    drop(item) {
      try { localStorage.removeItem(this.name(item)); } catch { /* nothing is kept */ }
    },
    /** The answers of this session in order; what is too old or cannot be read is removed, whoever's it is. */
    answers() {
      const found = [];
      try {
        for (const name of Object.keys(localStorage).filter((key) => key.startsWith(`${SHELF} `))) {
          const { kept, item } = this.read(name);
          if (!(Math.abs(Date.now() - kept) < KEPT_MS)) localStorage.removeItem(name);
          else if (name === this.name(item)) found.push(item);
        }
      } catch { /* nothing is kept */ }
      return found.sort((one, other) => one.position - other.position);
    },
    read(name) {
      try {
        const { kept, item } = JSON.parse(localStorage.getItem(name));
        if (Number.isInteger(item.position)) return { kept, item };
      } catch { /* not ours */ }
      return { kept: NaN };
    },
  };

  const queue = {
    items: [],
    sending: null,
    refused: false, // whether the answer sent last was
    load() {
      this.items = shelf.answers();
      for (const item of this.items.splice(MOST_KEPT)) shelf.drop(item);
    },
    add(item) {
      this.items.push(item);
      shelf.put(item);
      return this.send();
    },
    clear() {
      for (const item of this.items.splice(0)) shelf.drop(item);
    },
    /** Send everything in order; resolves to what followed the last answer. */
    send() {
      this.sending ??= this.drain().finally(() => { this.sending = null; });
      return this.sending;
    },
    async drain() {
      let feedback = "";
      while (this.items.length) {
        const { status, value } = await ask("api/answers", this.items[0]);
        if (status === 200) {
          shelf.drop(this.items.shift());
          feedback = value.saved ? value.feedback : "";
          this.refused = value.refused === true;
          take(value.state);
        } else {
          this.clear(); // the study ended, or this person is not known any more: the server knows what is asked now
          await refresh();
          this.refused = !ended();
        }
      }
      return feedback;
    },
  };

  addEventListener("beforeunload", (event) => { if (queue.items.length) event.preventDefault(); });
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  // The task ----------------------------------------------------------------------------------------------------------

  const steps = new Map();
  let position = 0;
  let wake = () => {}; // tells what waits for a step, or shows one that another tab has answered, to look again

  /** Take over what the server says. */
  function take(now) {
    state = now;
    for (const step of now.steps ?? []) steps.set(step.position, step);
    if (now.elapsed_ms !== undefined && now.phase === "task") origin ??= performance.now() - now.elapsed_ms;
    if (now.position !== undefined) position = Math.max(position, now.position);
    wake();
  }

  const ended = () => state.phase !== "task";

  // When steps appear, since the task began, whatever was reloaded on the way; and how often this page was left -----------

  let origin = null; // of the task, on this page's clock
  const since = (when) => Math.max(0, Math.round((when - (origin ?? when)) * 10) / 10);

  const away = {
    losses: 0,
    ms: 0,
    left: null,
    leave() {
      if (this.left !== null) return;
      this.left = performance.now();
      this.losses += 1;
    },
    back() {
      if (this.left === null || document.hidden) return;
      this.ms += performance.now() - this.left;
      this.left = null;
    },
    /** What happened since this was asked last. */
    take() {
      const now = performance.now();
      if (this.left !== null) [this.ms, this.left] = [this.ms + now - this.left, now];
      const told = { focus_losses: this.losses, away_ms: Math.round(this.ms) };
      [this.losses, this.ms] = [0, 0];
      return told;
    },
  };
  addEventListener("blur", () => away.leave());
  addEventListener("focus", () => away.back());
  document.addEventListener("visibilitychange", () => (document.hidden ? away.leave() : away.back()));

  /** Whether a key chooses an option: one of the study's own keys, else 1, 2, ... and for two options the arrows. */
  function optionOf(key, nOptions) {
    const own = texts.flow?.own_keys ?? [];
    if (own.length) return own.findIndex((item) => item.toLowerCase() === key.toLowerCase());
    const arrows = { ArrowLeft: 0, ArrowRight: 1 };
    if (nOptions === 2 && key in arrows) return arrows[key];
    return nOptions <= 9 && /^[1-9]$/.test(key) ? Number(key) - 1 : -1; // of more, no key is one option's number
  }

  /** A step to be answered, or the end; waits for whichever comes. */
  class Waiting {
    static info = { name: "lakatos-waiting", version: "1", parameters: {}, data: {} };
    async trial(display) {
      const saving = setTimeout(() => {
        display.replaceChildren(make("p", { className: "quiet", textContent: texts.page.saving }));
      }, 400);
      while (!ended() && !steps.has(position)) {
        await new Promise((done) => {
          wake = done;
          if (queue.items.length) queue.send().catch(fail);
          else if (!queue.sending) refresh().catch(fail);
        });
      }
      clearTimeout(saving);
      return {};
    }
  }

  /** A cross before a step to be chosen in, where the study has one. */
  class Fixation {
    static info = { name: "lakatos-fixation", version: "1", parameters: {}, data: {} };
    async trial(display) {
      const coming = steps.get(position);
      const ms = coming?.fixation_ms ?? texts.flow?.fixation_ms ?? 0;
      if (!ms || ["break", "study"].includes(coming?.kind)) return {};
      display.replaceChildren(make("p", { className: "fixation", textContent: FIXATION, attributes: { "aria-hidden": "true" } }));
      window.scrollTo(0, 0);
      header();
      await sleep(ms);
      return {};
    }
  }

  /** A line over the options that can be chosen. It has no place before it is touched, so that none is suggested. */
  function slider(step, act) {
    const free = step.options.flatMap((option, place) => (option.available ? [place] : []));
    const labelOf = (at) => step.options[free[at]].label;
    const range = make("input", { type: "range", min: 0, max: free.length - 1, step: 1, className: "untouched" });
    range.setAttribute("aria-labelledby", "question");
    range.setAttribute("aria-valuetext", "–");
    const confirm = make("button", { type: "button", disabled: true, textContent: fill(texts.flow.confirm, { option: "…" }) });
    confirm.onclick = (event) => act(free[range.valueAsNumber], event.timeStamp);
    range.oninput = () => {
      const label = labelOf(range.valueAsNumber);
      range.className = "";
      range.setAttribute("aria-valuetext", label);
      confirm.textContent = fill(texts.flow.confirm, { option: label });
      confirm.disabled = false;
    };
    range.onpointerup = range.oninput; // a touch right where the line begins moves nothing
    const ends = make("p", { className: "ends" }, make("span", { textContent: labelOf(0) }),
      make("span", { textContent: labelOf(free.length - 1) }));
    return [make("div", { className: "slider" }, range, ends, make("div", { className: "row" }, confirm)), [range, confirm]];
  }

  /** An item that is studied. The server knows of it before it is shown, so that none is shown twice without a record. */
  async function study(display, step, mine) {
    const heading = make("h1", { className: "spoken", textContent: step.question });
    const recorded = {};
    const stage = make("div", { className: "picture card screen" });
    stage.innerHTML = step.picture; // made by the server
    const made = await stimulus.players(stage, recorded);
    display.replaceChildren(heading);
    header();
    window.scrollTo(0, 0);
    const { status } = await ask("api/onset", { position: mine });
    if (status !== 200) await refresh();
    if (shared.moved(mine)) return stimulus.silence(made);
    const shown = await frames.painted(() => display.replaceChildren(heading, stage));
    const played = stimulus.play(made, recorded, () => shared.moved(mine));
    await Promise.all([frames.after(shown, step.shown_ms), played]);
    stimulus.silence(made);
    const gone = await frames.painted(() => display.replaceChildren(heading));
    if (shared.moved(mine)) return;
    position = Math.max(position, mine + 1);
    const time = Math.round((gone - shown) * 10) / 10;
    const times = { response_time_ms: time, onset_ms: since(shown), ...away.take() };
    queue.add({ position: mine, response: 0, ...times, ...(made.length ? { recorded } : {}) }).catch(fail);
    await frames.after(gone, step.gap_ms);
  }

  /** A break: people go on when they like, where it has a shortest time after that. */
  function rest(display, step, mine) {
    const heading = make("h1", { tabIndex: -1, textContent: step.question });
    const shown = performance.now();
    return new Promise((done) => {
      const next = button(step.options[0].label, (event) => {
        if (event.timeStamp - shown < LOCKED_MS) return;
        next.disabled = true;
        wake = () => {};
        position = Math.max(position, mine + 1);
        const times = { response_time_ms: Math.round(event.timeStamp - shown), onset_ms: since(shown), ...away.take() };
        queue.add({ position: mine, response: 0, ...times }).catch(fail);
        done({});
      });
      display.replaceChildren(heading, ...paragraphs(step.notices), make("div", { className: "row" }, next));
      if (step.wait_ms) {
        next.disabled = true;
        setTimeout(() => { next.disabled = false; }, step.wait_ms);
      }
      header();
      window.scrollTo(0, 0);
      heading.focus({ preventScroll: true });
      wake = () => { if (position !== mine || ended()) done({}); };
    });
  }

  let missedInRow = 0;

  /** Wait until somebody is there again, or has read a sentence. */
  function untilThere(display, words = texts.flow.still_there) {
    const heading = make("h1", { tabIndex: -1, textContent: words });
    return new Promise((done) => {
      display.replaceChildren(heading, make("div", { className: "row" }, button(texts.flow.go_on, done)));
      heading.focus({ preventScroll: true });
    });
  }

  /** Go on without a response to a step of which something could not be shown. */
  function goWithout(mine, failure) {
    position = Math.max(position, mine + 1);
    return queue.add({ position: mine, response: null, response_time_ms: 0, failure: failure.slice(0, 200), ...away.take() });
  }

  /** A step that a researcher's own plugin presents; the server knows which of its data is the response. */
  async function byPlugin(display, step, mine) {
    const limit = step.timeout_ms ?? texts.flow.timeout_ms;
    const whenMoved = (act) => { wake = () => { if (position !== mine || ended()) act(); }; };
    const answer = await stimulus.plugin(display, step, limit, whenMoved);
    if (answer === null) return;
    position = Math.max(position, mine + 1);
    const time = Math.round((performance.now() - answer.shown) * 10) / 10;
    const own = answer.data === null ? {} : { recorded: answer.data };
    const words = await queue.add({
      position: mine, response: null, response_time_ms: time, onset_ms: since(answer.shown), ...away.take(), ...own });
    if (!queue.refused) {
      if (!words) return;
      display.replaceChildren(make("p", { className: "feedback", textContent: words }));
      say(words);
      await sleep(FEEDBACK_MS);
      return;
    }
    if (!texts.flow.skips) throw new stimulus.Failure("data: refused");
    await untilThere(display, texts.flow.not_loaded);
    if (position === mine && !ended()) await goWithout(mine, "data: refused"); // so large or odd that the server did not read them
  }

  /** One step: what is shown, a button for each option, and keys for them. */
  class Choice {
    static info = { name: "lakatos-choice", version: "1", parameters: {}, data: {} };
    async trial(display) {
      const mine = position; // what the server says may move `position` while this step is shown
      const step = steps.get(mine);
      if (step.kind === "break") return rest(display, step, mine);
      for (;;) {
        try {
          if (step.kind === "study") {
            await study(display, step, mine);
            return {};
          }
          if (step.plugin) {
            await byPlugin(display, step, mine);
            return {};
          }
          const recorded = {};
          const gone = await stimulus.screens(display, step, recorded, () => shared.moved(mine));
          return gone === null ? {} : await this.choice(display, step, mine, recorded, gone);
        } catch (error) {
          if (!(error instanceof stimulus.Failure)) throw error;
          if (await stimulus.failed(display, step)) continue;
          if (!texts.flow.skips) return this.choice(display, step, mine, {}, () => {}, error.message);
          goWithout(mine, error.message).catch(fail);
          return {};
        }
      }
    }

    async choice(display, step, mine, recorded, gone, failure = "") {
      const flow = texts.flow ?? {};
      const called = step.kind === "practice" ? flow.practice : texts.page.trial;
      const heading = make("h1", { tabIndex: -1, className: "trial", textContent: fill(called, { step: step.number }) });
      const notices = paragraphs(step.notices, "notice");
      const question = make("p", { className: "question", textContent: step.question, id: "question" });
      const buttons = step.options.map((option, place) => {
        const name = (flow.own_keys?.[place] ?? String(place + 1)).toUpperCase();
        const key = make("kbd", { textContent: name, attributes: { "aria-hidden": "true" } });
        const hasKey = flow.own_keys?.length || step.options.length <= 9;
        const made = make("button", { type: "button", disabled: !option.available, hidden: !option.offered }, option.label, ...(hasKey ? [key] : []));
        if (hasKey) made.setAttribute("aria-keyshortcuts", name);
        return made;
      });
      const feedback = make("p", { className: "feedback", hidden: true });
      let choose = () => {};
      const [line, controls] = flow.slider ? slider(step, (place, when) => choose(place, when)) : [null, buttons];
      const shownAs = line ?? buttons;
      const options = make(
        "div", { className: line ? "" : "options", attributes: { role: "group", "aria-labelledby": "question" } },
        ...[shownAs].flat());
      const picture = make("div", { className: "picture card", hidden: !step.picture });
      picture.innerHTML = failure ? step.whole : step.picture; // made by the server, of numbers, words and read fragments
      picture.hidden = !picture.innerHTML;
      for (const part of [picture, options]) part.classList.toggle("four", buttons.length > 2);
      picture.classList.toggle("stacked", picture.querySelector("table") !== null);
      picture.setAttribute("role", "group");
      picture.setAttribute("aria-labelledby", "question");
      const made = failure ? [] : await stimulus.players(picture, recorded); // else words stay in their places
      const put = () => {
        display.replaceChildren(heading, ...notices, picture, question, options, feedback,
          make("p", {
            className: "keys quiet small",
            hidden: !line && !flow.own_keys?.length && buttons.length > 9,
            textContent: line ? flow.slide : flow.keys || texts.page.keys,
          }));
        header();
        window.scrollTo(0, 0);
      };
      if (step.screens?.length && !failure) gone(await frames.painted(put));
      else put();
      if (shared.moved(mine)) { // another tab has answered while files were loaded
        stimulus.silence(made);
        return {};
      }

      let shown = performance.now(); // when a response became possible
      let onset = shown;
      requestAnimationFrame((now) => { if (onset === shown) onset = shown = Math.max(shown, now); });
      let waiting = Boolean(step.wait && made.length);
      const free = controls.filter((item) => !item.disabled);

      return new Promise((done, refuse) => {
        const told = async (words) => {
          feedback.textContent = words;
          feedback.hidden = false;
          say(words);
          await sleep(FEEDBACK_MS);
        };
        choose = async (place, when) => {
          const time = when - shown;
          const missed = place === null;
          if (!missed && (waiting || time < LOCKED_MS || buttons[place] === undefined || buttons[place].disabled)) return;
          leave();
          const item = {
            position: mine, response: place, response_time_ms: Math.round(time * 10) / 10, onset_ms: since(onset),
            ...away.take(), ...(Object.keys(recorded).length ? { recorded } : {}),
            ...(failure ? { failure: failure.slice(0, 200) } : {}),
          };
          position = Math.max(position, mine + 1);
          if (!missed) {
            buttons[place].classList.add("chosen");
            buttons[place].setAttribute("aria-pressed", "true");
          }
          for (const other of controls) other.disabled = true;
          const sent = queue.add(item).catch(fail);
          missedInRow = missed ? missedInRow + 1 : 0;
          if (missed) {
            await told(flow.too_late);
            if (missedInRow >= MOST_MISSED) await untilThere(display);
            missedInRow %= MOST_MISSED;
          } else if (!steps.has(position) || step.kind === "practice") {
            const words = await sent; // what comes next depends on this answer
            if (words) await told(words);
          }
          done(item);
        };
        const limit = step.timeout_ms ?? flow.timeout_ms;
        const begin = () => (limit ? setTimeout(() => choose(null, performance.now()), limit) : null);
        let timer = waiting ? null : begin();
        let left = false;
        const leave = () => {
          left = true;
          clearTimeout(timer);
          stimulus.silence(made);
          removeEventListener("keydown", press);
          choose = () => {};
          for (const item of buttons) item.onclick = null;
          wake = () => {};
        };
        const press = (event) => {
          if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || at("dialog").open) return;
          if (line && event.key.startsWith("Arrow")) controls[0].focus(); // the next press moves it
          const place = line ? -1 : optionOf(event.key, buttons.length);
          if (place < 0) return;
          event.preventDefault();
          choose(place, event.timeStamp);
        };
        buttons.forEach((item, place) => { item.onclick = (event) => choose(place, event.timeStamp); });
        addEventListener("keydown", press);
        wake = () => {
          if (position === mine && !ended()) return;
          leave();
          done({});
        };
        queueMicrotask(() => heading.focus({ preventScroll: true }));
        if (!made.length) return;
        if (waiting) for (const item of free) item.disabled = true;
        stimulus.play(made, recorded, () => left).then(() => {
          if (left || !waiting) return;
          waiting = false;
          for (const item of free) item.disabled = false;
          shown = performance.now();
          timer = begin();
        }).catch((error) => {
          if (left) return;
          leave();
          refuse(error);
        });
      });
    }
  }

  /** What trials whose answers are keys with their times share with all others. */
  const shared = {
    make, button, steps, away, queue, since, sleep, fill, optionOf, rest, untilThere, fail, paragraphs,
    headers: () => (VISITOR ? { "Lakatos-Visitor": VISITOR } : {}),
    flow: () => texts.flow ?? {},
    called: (step) => fill(step.kind === "practice" ? texts.flow.practice : texts.page.trial, { step: step.number }),
    header: () => header(),
    position: () => position,
    moveTo: (next) => { position = Math.max(position, next); },
    moved: (mine) => position !== mine || ended(),
    wakeBy: (act) => { wake = act; },
    paused: () => at("dialog").open,
    /** Tell the server that a target has just appeared; it is told once, and nothing waits for it. */
    report: (mine) => { attempt("api/onset", { position: mine }); },
  };

  const stimulus = presentation(shared);

  async function task() {
    position = Math.max(state.position, ...queue.items.map((item) => item.position + 1));
    document.title = texts.page.title;
    at("main").replaceChildren();
    header();
    await stimulus.preload(at("main"));
    const jsPsych = initJsPsych({ display_element: at("main"), use_webaudio: false });
    const asked = texts.flow?.timed ? [timedTrial(shared)] : [Fixation, Choice];
    const parts = asked.map((type) => ({ timeline: [{ type }], conditional_function: () => !ended() }));
    await jsPsych.run([{ timeline: [{ type: Waiting }, ...parts], loop_function: () => !ended() }]);
    at("main").removeAttribute("tabindex");
    page();
  }

  // Pages before and after --------------------------------------------------------------------------------------------

  function header() {
    const running = state.phase === "task";
    at("preview").hidden = !state.preview;
    at("preview").textContent = texts.page.preview;
    if (state.preview) at("preview").append(" ", button(texts.page.again, again, "plain small"));
    at("progress").hidden = !running;
    if (running) {
      const words = fill(texts.page.progress, { step: Math.min(position + 1, state.n_steps), of: state.n_steps });
      const bar = at("progress").querySelector("progress");
      bar.value = position / state.n_steps;
      bar.setAttribute("aria-label", words);
      at("progress").querySelector("span").textContent = words;
    }
    at("header").hidden = !running && !state.preview;
    at("footer").hidden = !["task", "instructions", "questions"].includes(state.phase);
    at("stop").textContent = texts.page.stop;
  }

  async function again() {
    queue.clear();
    await ask("api/again", {});
    location.reload();
  }

  function prolific() {
    const given = ["PROLIFIC_PID", "STUDY_ID", "SESSION_ID"].map((name) => query.get(name) ?? "");
    if (!given.every((value) => /^[A-Za-z0-9_-]{1,64}$/.test(value))) return null;
    return { participant: given[0], study: given[1], submission: given[2] };
  }

  function invitation() {
    const given = query.get("invitation") ?? "";
    return /^[A-Za-z0-9_-]{1,64}$/.test(given) ? given : null;
  }

  const sender = () => ({ prolific: prolific(), invitation: invitation() });

  /** What is told of browser and hour, where the text that was agreed to says so. */
  function aboutBrowser() {
    if (!texts.flow?.notes_browser) return {};
    const touch = matchMedia("(pointer: coarse)").matches;
    return { browser: { width: innerWidth, height: innerHeight, touch, hour: new Date().getHours() } };
  }

  function consentPage() {
    const words = texts.consent;
    const agreed = make("input", { type: "checkbox", id: "agree" });
    const ticks = (words.ticks ?? []).map((item) => [item, make("input", { type: "checkbox", name: `tick-${item.name}` })]);
    const problem = make("p", { className: "problem", attributes: { role: "alert" } });
    const start = button(words.start, async () => {
      const needed = [...ticks.filter(([item]) => !item.optional).map(([, box]) => box), agreed];
      const open = needed.find((box) => !box.checked);
      if (open) {
        problem.textContent = words.unticked;
        open.focus();
        return;
      }
      start.disabled = true;
      const ticked = Object.fromEntries(ticks.map(([item, box]) => [item.name, box.checked]));
      const body = { consent: words.digest, language: texts.language, ...sender(), ...aboutBrowser(), ticks: ticked };
      const { status, value } = await ask("api/consent", body);
      if (status === 200) {
        await read(texts.language); // what is read from here on may depend on who reads it
        take(value);
        await goOn();
      } else if (status === 401) {
        fail(texts.page.cookies);
      } else {
        await begin(); // the text was changed while it was read
      }
    });
    const decline = button(words.decline, async () => {
      decline.disabled = true;
      const { value } = await ask("api/decline", { language: texts.language, ...sender() });
      show(words.heading, ...paragraphs([words.declined]), ...wayBack(value));
    }, "plain");
    show(words.heading, languages(), make("div", { className: "card" }, ...paragraphs(words.paragraphs)),
      ...ticks.map(([item, box]) => make("label", { className: "tick" }, box,
        make("span", { textContent: item.optional ? `${item.text} ${texts.questionnaire?.optional ?? ""}` : item.text }))),
      make("label", { className: "tick" }, agreed, make("span", { textContent: words.agree })), problem,
      make("div", { className: "row" }, start, decline));
  }

  function languages() {
    const names = Object.entries(texts.languages);
    if (names.length < 2) return null;
    const select = make("select", { id: "language" },
      ...names.map(([code, name]) => make("option", { value: code, textContent: name, lang: code })));
    select.value = texts.language;
    select.onchange = async () => {
      await read(select.value);
      page();
      at("language").focus();
    };
    return make("div", { className: "language" }, make("label", { htmlFor: "language", textContent: texts.page.language }), select);
  }

  function instructionsPage() {
    const words = texts.instructions;
    const wrong = state.attempts
      ? make("p", {
        className: "problem", textContent: fill(texts.comprehension.wrong, { step: state.attempts_left }),
        attributes: { role: "alert" } })
      : null;
    show(words.heading, wrong, make("div", { className: "card" }, ...paragraphs(words.paragraphs)),
      make("div", { className: "row" }, button(words.start, comprehensionPage)));
  }

  function comprehensionPage() {
    const words = texts.comprehension;
    const problem = make("p", { className: "problem", attributes: { role: "alert" } });
    const fields = texts.questions.map((item, number) =>
      make("fieldset", {}, make("legend", { textContent: item.text }), ...item.answers.map((answer, place) =>
        make("label", { className: "tick" }, make("input", { type: "radio", name: `question-${number}`, value: place }),
          make("span", { textContent: answer })))));
    const submit = make("button", { type: "submit", textContent: words.submit });
    const form = make("form", { noValidate: true }, ...fields, problem, make("div", { className: "row" }, submit,
      button(words.back, instructionsPage, "plain")));
    form.onsubmit = async (event) => {
      event.preventDefault();
      const chosen = fields.map((field) => field.querySelector("input:checked"));
      const missing = chosen.indexOf(null);
      if (missing >= 0) {
        problem.textContent = words.missing;
        fields[missing].querySelector("input").focus();
        return;
      }
      submit.disabled = true;
      const body = { attempt: state.attempts, answers: chosen.map((input) => Number(input.value)) };
      const { status, value } = await ask("api/comprehension", body);
      if (status !== 200) return fail();
      take(value);
      page();
    };
    show(words.heading, ...paragraphs([words.paragraph]), form);
  }

  /** The control of a question about the person, and a function that reads it: undefined where nothing can be read. */
  function control(item) {
    const name = `reply-${item.name}`;
    const ticks = (type, labels) => labels.map(([label, value]) => make("label", { className: "tick" },
      make("input", { type, name, value }), make("span", { textContent: label })));
    if (item.kind === "text") {
      const area = make("textarea", { name, rows: 3, maxLength: 2000 });
      return [[area], () => area.value.trim()];
    }
    if (item.kind === "number") {
      const limits = { min: item.least ?? "", max: item.most ?? "" };
      const field = make("input", { type: "number", name, step: "any", inputMode: "decimal", ...limits });
      return [[field], () => (field.validity.valid ? (field.value === "" ? "" : field.valueAsNumber) : undefined)];
    }
    let labels = item.answers.map((label, place) => [label, place]);
    if (item.kind === "scale") {
      const n = item.most - item.least + 1;
      labels = Array.from({ length: n }, (_, place) => [String(item.least + place), item.least + place]);
      labels[0][0] += ` ${item.answers[0]}`;
      labels[n - 1][0] += ` ${item.answers[1]}`;
    }
    const made = ticks(item.kind === "choices" ? "checkbox" : "radio", labels);
    const chosen = () => made.map((label) => label.querySelector("input")).filter((input) => input.checked)
      .map((input) => Number(input.value));
    return [made, () => (item.kind === "choices" ? chosen() : chosen()[0] ?? "")];
  }

  function questionsPage() {
    const words = texts.questionnaire;
    const asked = words[state.block];
    const problem = make("p", { className: "problem", attributes: { role: "alert" } });
    const controls = asked.map(control);
    const fields = asked.map((item, place) => make("fieldset", { className: item.kind },
      make("legend", { textContent: item.optional ? `${item.text} ${words.optional}` : item.text }), ...controls[place][0]));
    const submit = make("button", { type: "submit", textContent: words.submit });
    const form = make("form", { noValidate: true }, ...fields, problem, make("div", { className: "row" }, submit));
    form.onsubmit = async (event) => {
      event.preventDefault();
      const values = controls.map(([, read]) => read());
      const wrong = asked.findIndex((item, place) =>
        values[place] === undefined || (values[place] === "" && !item.optional));
      if (wrong >= 0) {
        problem.textContent = words.missing;
        fields[wrong].querySelector("input, textarea").focus();
        return;
      }
      submit.disabled = true;
      const answers = Object.fromEntries(asked.map((item, place) => [item.name, values[place] === "" ? null : values[place]]));
      const { status, value } = await ask("api/replies", { block: state.block, answers });
      if (status !== 200) return fail();
      take(value);
      page();
    };
    show(words.heading, ...paragraphs([words.paragraph]), form);
  }

  /** What a recruitment service is to be told: a code and a button, or that the place there should be given back. */
  function wayBack(end) {
    const words = texts.end;
    if (end?.code) return [...paragraphs([words.back]), codeCard(end)];
    const silent = ["completed", "closed", "again", ...(prolific() ? [] : ["declined"])];
    return silent.includes(end?.status) ? [] : paragraphs([words.place]);
  }

  function codeCard(end) {
    const words = texts.end;
    const code = make("p", { className: "code", textContent: end.code });
    const copy = button(words.copy, async () => {
      try {
        await navigator.clipboard.writeText(end.code);
        copy.textContent = words.copied;
        say(words.copied);
      } catch {
        getSelection().selectAllChildren(code);
      }
    }, "plain");
    const finish = end.finish
      ? make("a", { href: end.finish, className: "button", textContent: words.finish, rel: "noreferrer" }) : null;
    return make("div", { className: "card" }, make("p", { textContent: words.code, className: "quiet" }), code,
      make("div", { className: "row" }, finish, copy));
  }

  function endPage() {
    const words = texts.end;
    const goOn = state.next ? make("div", { className: "row" }, button(words.next, next)) : null;
    if (state.status === "completed") {
      show(words.heading_completed, ...paragraphs(words.completed), codeCard(state), goOn);
    } else {
      show(words.heading_ended, ...paragraphs([words[state.status]]), ...wayBack(state), goOn);
    }
  }

  async function next() {
    await ask("api/next", { language: texts.language });
    location.reload();
  }

  function stopDialog() {
    const words = texts.stop;
    const dialog = at("dialog");
    const stop = async (keep) => {
      dialog.close();
      if (keep) await queue.send(); else queue.clear();
      const { status, value } = await ask("api/stop", { keep });
      if (status !== 200) return fail();
      queue.clear();
      const outside = state.phase !== "task";
      take(value);
      if (outside) page(); else location.reload();
    };
    dialog.replaceChildren(
      make("h1", { textContent: words.heading, id: "dialog-heading" }), ...paragraphs([words.paragraph]),
      make("div", { className: "row" }, button(words.back, () => dialog.close()),
        button(words.keep, () => stop(true), "plain"), button(words.delete, () => stop(false), "plain")));
    dialog.showModal();
  }

  function fail(message) {
    show(texts?.page.title ?? document.title, ...paragraphs([typeof message === "string" ? message : texts?.page.error ?? ""]));
    if (message instanceof Error) throw message;
  }

  // Where to go ---------------------------------------------------------------------------------------------------------

  function page() {
    header();
    const pages = { consent: consentPage, instructions: instructionsPage, questions: questionsPage, task, end: endPage };
    const shown = pages[state.phase]();
    if (shown instanceof Promise) shown.catch(fail);
  }

  async function read(language) {
    texts = (await ask(`api/texts?language=${encodeURIComponent(language)}`)).value;
    document.documentElement.lang = texts.language;
  }

  async function refresh() {
    const { status, value } = await ask("api/state");
    if (status !== 200) throw new Error(`state ${status}`);
    if (!queue.items.length) position = value.position ?? position;
    take(value);
  }

  async function begin() {
    const language = document.documentElement.lang || "en";
    const { status, value } = await ask(`api/state?language=${encodeURIComponent(language)}`);
    await read(status === 200 ? value.language : language);
    if (status !== 200 || !texts.page) {
      at("main").replaceChildren(...paragraphs([texts.page?.cookies ?? texts.detail ?? ""]));
      return;
    }
    take(value);
    await goOn();
  }

  /** Send what an earlier tab could not, then show the first step that is not answered. */
  async function goOn() {
    queue.load();
    if (state.phase !== "task") queue.clear();
    await queue.send();
    page();
  }

  at("stop").onclick = stopDialog;
  begin();
})();
