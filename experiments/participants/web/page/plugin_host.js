"use strict";
// What a jsPsych 8 plugin needs of jsPsych, in the frame in which it runs. The page sends a trial; the plugin's data go
// back. The frame has no origin, and the policy blocks its requests. This is no wall against a hostile plugin: browsers
// do not block connections of WebRTC by policy, so the plain ways to them are removed here.
(() => {
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection"]) delete globalThis[name];
  const TYPES = ["BOOL", "STRING", "INT", "FLOAT", "FUNCTION", "KEY", "KEYS", "SELECT", "HTML_STRING", "IMAGE", "AUDIO",
    "VIDEO", "OBJECT", "COMPLEX", "TIMELINE"];
  const ParameterType = Object.fromEntries(TYPES.flatMap((name, number) => [[name, number], [number, name]]));
  const post = (kind, value = {}) => parent.postMessage({ ...value, lakatos: kind }, "*");
  const fail = (error) => post("failed", { words: String(error?.message ?? error).slice(0, 150) });
  addEventListener("error", (event) => fail(event.message));
  addEventListener("unhandledrejection", (event) => fail(event.reason));

  const timers = new Set();
  const listeners = new Set();
  const sameKey = (one, other) => String(one).toLowerCase() === String(other).toLowerCase();

  const pluginAPI = {
    setTimeout(act, ms) {
      const timer = setTimeout(() => { timers.delete(timer); act(); }, ms);
      timers.add(timer);
      return timer;
    },
    clearAllTimeouts() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
    compareKeys: (one, other) => one !== null && other !== null && sameKey(one, other),
    getKeyboardResponse({ callback_function, valid_responses = "ALL_KEYS", persist = false, allow_held_key = false,
      minimum_valid_rt = 0 }) {
      const began = performance.now();
      const valid = (key) => valid_responses === "ALL_KEYS"
        || (valid_responses !== "NO_KEYS" && [valid_responses].flat().some((item) => sameKey(item, key)));
      const listener = (event) => {
        const rt = event.timeStamp - began;
        if ((event.repeat && !allow_held_key) || rt < minimum_valid_rt || !valid(event.key)) return;
        event.preventDefault();
        if (!persist) pluginAPI.cancelKeyboardResponse(listener);
        callback_function({ key: event.key.length === 1 ? event.key.toLowerCase() : event.key, rt });
      };
      addEventListener("keydown", listener);
      listeners.add(listener);
      return listener;
    },
    cancelKeyboardResponse(listener) {
      removeEventListener("keydown", listener);
      listeners.delete(listener);
    },
    cancelAllKeyboardResponses() {
      for (const listener of [...listeners]) pluginAPI.cancelKeyboardResponse(listener);
    },
  };

  const display = () => document.getElementById("jspsych-content");
  let finished = false;
  const jsPsych = {
    pluginAPI,
    getDisplayElement: display,
    version: () => "8",
    finishTrial(data = {}) {
      if (finished) return;
      finished = true;
      pluginAPI.clearAllTimeouts();
      pluginAPI.cancelAllKeyboardResponses();
      display().replaceChildren();
      try {
        post("finished", { data: JSON.parse(JSON.stringify(data)) });
      } catch (error) {
        fail(error);
      }
    },
  };

  /** A trial with the defaults of parameters that it does not give. */
  function withDefaults(info, trial) {
    for (const [name, item] of Object.entries(info.parameters ?? {})) {
      if (trial[name] !== undefined) continue;
      if (item.default === undefined) throw new Error(`the parameter ${name} has no value and no default`);
      trial[name] = item.default;
    }
    return trial;
  }

  async function start(Plugin, message) {
    const trial = { ...message.trial, type: Plugin, files: {} };
    for (const [name, files] of Object.entries(message.files)) {
      trial.files[name] = files.map((file) => (file instanceof Blob ? URL.createObjectURL(file) : file));
    }
    const given = withDefaults(Plugin.info, trial);
    const made = new Plugin(jsPsych).trial(display(), given, () => {});
    requestAnimationFrame(() => requestAnimationFrame(() => post("shown")));
    const data = await made;
    if (data !== undefined && data !== null) jsPsych.finishTrial(data);
  }

  globalThis.jsPsychModule = { ParameterType };
  globalThis.lakatosHost = {
    begin(Plugin) {
      if (typeof Plugin?.prototype?.trial !== "function" || !Plugin.info) {
        fail("the class has no static info or no trial");
        return;
      }
      addEventListener("message", (event) => {
        if (event.source === parent && event.data?.lakatos === "trial") start(Plugin, event.data).catch(fail);
      });
      new ResizeObserver(() => post("size", { height: document.body.scrollHeight })).observe(document.body);
      post("ready");
    },
  };
})();
