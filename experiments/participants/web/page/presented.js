"use strict";
// What a trial presents beside its picture: sounds and films, screens before the options, and a researcher's own plugin.
// Files are loaded before the first trial. Times are of the page's clock, since the task began.

/** Changes that are made at a frame of the screen, and the times at which frames begin. */
const frames = {
  next: () => new Promise((done) => requestAnimationFrame(done)),

  /** Change the page in one frame; resolves to when the next one began, which is when that frame was painted. */
  async painted(change) {
    await frames.next();
    change();
    return frames.next();
  },

  /** Wait until a frame begins that is as near to the end of `ms` after `start` as a frame can be. */
  async after(start, ms) {
    let now = start;
    let length = 1000 / 60;
    while (now - start < ms - 2.5 * length) { // the change is made in the next frame and painted by the one after it
      const before = now;
      now = await frames.next();
      length = Math.min(length, Math.max(now - before, 4));
    }
  },
};

// eslint-disable-next-line no-unused-vars
function presentation(page) {
  const { make, button, fill, since, sleep, paragraphs } = page;
  const TRIES = 3;
  const LOAD_MS = 60_000;
  const AT_ONCE = 4; // files that are loaded at the same time
  const READY_MS = 3000; // some telephones do not say that a file is ready before it is played
  const START_MS = 15_000; // for a plugin to begin
  const MOST_BYTES = 30000; // of a plugin's data

  const files = new Map(); // by digest: { blob, url, ms }
  const nameOf = (digest) => page.flow().media?.[digest] ?? digest.slice(0, 8);

  /** What could not be shown, in words for the researcher. */
  class Failure extends Error {}

  async function fetched(digest) {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), LOAD_MS);
    try {
      const response = await fetch(`media/${digest}`, { signal: stop.signal, credentials: "same-origin", headers: page.headers() });
      if (!response.ok) throw new Failure(`${nameOf(digest)}: status ${response.status}`);
      return await response.blob();
    } catch (error) {
      throw error instanceof Failure ? error : new Failure(`${nameOf(digest)}: not loaded`);
    } finally {
      clearTimeout(timer);
    }
  }

  /** A file, loaded once. */
  async function load(digest) {
    for (let tries = 1; !files.has(digest); tries += 1) {
      const began = performance.now();
      try {
        const blob = await fetched(digest);
        files.set(digest, { blob, url: URL.createObjectURL(blob), ms: performance.now() - began });
      } catch (error) {
        if (tries >= TRIES) throw error;
        await sleep(300 * 2 ** tries);
      }
    }
    return files.get(digest);
  }

  /** Load everything before the first trial; what fails is tried again in the trial that needs it. */
  async function preload(display) {
    const wanted = Object.keys(page.flow().media ?? {});
    if (!wanted.length) return;
    const words = make("h1", { className: "trial" });
    display.replaceChildren(words);
    const left = [...wanted];
    let loaded = 0;
    const count = () => { words.textContent = fill(page.flow().loading_files, { step: loaded, of: wanted.length }); };
    const loadSome = async () => {
      while (left.length) {
        await load(left.shift()).catch(() => {});
        loaded += 1;
        count();
      }
    };
    count();
    await Promise.all(Array.from({ length: AT_ONCE }, loadSome));
    display.replaceChildren();
  }

  /** Players in the places that a text has for them; fails if a file cannot be loaded or played. */
  async function players(part, recorded) {
    const made = [];
    for (const place of part.querySelectorAll(".medium[data-medium]")) {
      const { medium, name } = place.dataset;
      const { url, blob, ms } = await load(medium);
      const element = make(blob.type.startsWith("video/") ? "video" : "audio", { preload: "auto", playsInline: true });
      element.disableRemotePlayback = true;
      element.setAttribute("aria-label", place.getAttribute("aria-label"));
      const ready = new Promise((done, refuse) => {
        element.oncanplaythrough = () => {
          recorded[`${name}_ready_ms`] ??= since(performance.now());
          done();
        };
        element.onerror = () => refuse(new Failure(`${nameOf(medium)}: cannot be played`));
        setTimeout(done, READY_MS);
      });
      recorded[`${name}_load_ms`] = Math.round(ms * 10) / 10;
      element.src = url;
      await ready;
      place.replaceChildren(element.tagName === "AUDIO" ? make("span", { textContent: "♪", className: "sound" }) : element);
      made.push({ element, name, medium, place });
    }
    // The same sound or film for all options is played once.
    return made.filter((one, number) => made.findIndex((other) => other.medium === one.medium) === number);
  }

  /** Play one after another; resolves when the last one has ended or `stopped` says so. */
  async function play(made, recorded, stopped) {
    for (const { element, name, place, medium } of made) {
      if (stopped()) return;
      const ended = new Promise((done, refuse) => {
        element.onplaying = () => { recorded[`${name}_start_ms`] ??= since(performance.now()); };
        element.onended = () => { recorded[`${name}_end_ms`] = since(performance.now()); done(); };
        element.onerror = () => refuse(new Failure(`${nameOf(medium)}: cannot be played`));
        element.onemptied = done;
      });
      ended.catch(() => {});
      place.classList.add("playing");
      try {
        await element.play();
      } catch {
        if (stopped()) return;
        await byHand(place, element, medium); // the browser wants a click before it plays anything
      }
      await ended;
      place.classList.remove("playing");
    }
  }

  function byHand(place, element, medium) {
    return new Promise((done, refuse) => {
      const start = button(page.flow().play, () => {
        start.remove();
        element.play().then(done, () => refuse(new Failure(`${nameOf(medium)}: cannot be played`)));
      });
      place.append(start);
    });
  }

  function silence(made) {
    for (const { element } of made) {
      element.pause();
      element.removeAttribute("src");
      element.load(); // ends what waits for its end
    }
  }

  /** Screens before the options; resolves to what notes when the last one disappeared, or null where the step is over. */
  async function screens(display, step, recorded, moved) {
    let gone = () => {};
    for (const [number, screen] of (step.screens ?? []).entries()) {
      const stage = make("div", { className: "picture card screen" });
      stage.innerHTML = screen.html; // made by the server, and of fragments read by its allow-list
      const made = await players(stage, recorded);
      const heading = make("h1", { className: "spoken", textContent: page.called(step) });
      const shown = await frames.painted(() => display.replaceChildren(heading, stage));
      gone(shown);
      recorded[`screen_${number + 1}_onset_ms`] = since(shown);
      gone = (when) => { recorded[`screen_${number + 1}_offset_ms`] = since(when); };
      let over = false;
      const played = play(made, recorded, () => over || moved());
      if (screen.ms) {
        played.catch(() => {});
        await frames.after(shown, screen.ms);
      } else {
        await played;
      }
      over = true;
      silence(made);
      if (moved()) return null;
    }
    return gone;
  }

  /** A sentence about what could not be shown, with two ways on; resolves to whether to try again. */
  function failed(display, step) {
    const heading = make("h1", { tabIndex: -1, className: "trial", textContent: page.called(step) });
    return new Promise((done) => {
      display.replaceChildren(heading, ...paragraphs([page.flow().not_loaded], "problem"), make("div", { className: "row" },
        button(page.flow().try_again, () => done(true)),
        button(page.flow().skips ? page.flow().go_without : page.flow().go_plain, () => done(false), "plain")));
      heading.focus({ preventScroll: true });
    });
  }

  /** A plugin's trial in a frame of its own; resolves to its data and when it was shown, or null where the step is over. */
  async function plugin(display, step, limit, whenMoved) {
    const given = {};
    for (const [name, list] of Object.entries(step.plugin.trial.files ?? {})) {
      given[name] = [];
      for (const file of list) given[name].push(page.flow().media?.[file] ? (await load(file)).blob : file);
    }
    const frame = make("iframe", { className: "plugin", title: page.flow().frame, src: `plugin/${step.plugin.frame}` });
    frame.setAttribute("sandbox", "allow-scripts");
    const heading = make("h1", { className: "spoken", textContent: page.called(step) });
    let shown = performance.now();
    const answer = await new Promise((done, refuse) => {
      const late = setTimeout(() => refuse(new Failure("plugin: did not begin")), START_MS);
      let timer = null;
      const finish = (act, value) => {
        clearTimeout(late);
        clearTimeout(timer);
        removeEventListener("message", hear);
        whenMoved(() => {});
        act(value);
      };
      const hear = (event) => {
        if (event.source !== frame.contentWindow || event.origin !== "null") return;
        const { lakatos, data, height, words } = event.data ?? {};
        if (lakatos === "ready") {
          clearTimeout(late);
          frame.contentWindow.postMessage({ lakatos: "trial", trial: step.plugin.trial, files: given }, "*");
          frame.focus();
        } else if (lakatos === "shown") {
          shown = performance.now();
          clearTimeout(timer);
          if (limit) timer = setTimeout(() => finish(done, { data: null, shown }), limit);
        } else if (lakatos === "size" && Number.isFinite(height)) {
          frame.style.height = `${Math.min(Math.max(height, 120), 3000)}px`;
        } else if (lakatos === "failed") {
          finish(refuse, new Failure(`plugin: ${String(words).slice(0, 150)}`));
        } else if (lakatos === "finished") {
          const plain = (value) => value === null || ["number", "string", "boolean"].includes(typeof value);
          const nested = Object.keys(data ?? {}).find((name) => !plain(data[name]));
          if (nested !== undefined) finish(refuse, new Failure(`data: ${nested.slice(0, 40)} is no plain value`));
          else if (new TextEncoder().encode(JSON.stringify(data ?? {})).length > MOST_BYTES) finish(refuse, new Failure("data: too large"));
          else finish(done, { data: data ?? {}, shown });
        }
      };
      addEventListener("message", hear);
      whenMoved(() => finish(done, null));
      display.replaceChildren(heading, frame);
      page.header();
    });
    display.replaceChildren();
    return answer;
  }

  return { preload, players, play, silence, screens, failed, plugin, Failure };
}
