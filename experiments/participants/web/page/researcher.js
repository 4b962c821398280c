"use strict";
// How far collection is. The token stands behind the # of the address, which browsers do not send anywhere.
(() => {
  const token = decodeURIComponent(location.hash.slice(1));
  const at = (id) => document.getElementById(id);
  const words = {
    completed: "completed", active: "taking part", partial: "stopped answering", stopped: "stopped, answers kept",
    returned: "took answers back", timed_out: "timed out", screened_out: "screened out",
  };

  function make(tag, text = "", className = "", ...children) {
    const element = Object.assign(document.createElement(tag), { className });
    element.append(...(text === "" ? [] : [text]), ...children);
    return element;
  }

  function link(id, path) {
    const address = new URL(path, location.href.split("#")[0]).href;
    at(id).href = address;
    at(id).textContent = address;
  }

  const percent = (share) => (share === null || share === undefined ? "" : `${(100 * share).toFixed(share < 0.1 ? 1 : 0)}%`);

  /** A bar as long as a share, with its words. */
  function bar(label, value, of) {
    const meter = make("meter");
    Object.assign(meter, { max: Math.max(of, 1), value });
    meter.setAttribute("aria-label", `${label}: ${value}`);
    return make("li", "", "", make("span", label), meter, make("b", String(value)));
  }

  /** The share that stays, along the task. */
  function curve(staying) {
    const space = "http://www.w3.org/2000/svg";
    const drawing = document.createElementNS(space, "svg");
    drawing.setAttribute("viewBox", "0 0 100 40");
    drawing.setAttribute("preserveAspectRatio", "none");
    drawing.setAttribute("role", "img");
    const last = staying.at(-1);
    drawing.setAttribute("aria-label", `Of those who began and left or finished, ${percent(last)} made all decisions.`);
    const line = document.createElementNS(space, "polyline");
    const points = staying.map((share, place) => `${(100 * place) / (staying.length - 1)},${38 - 36 * share}`);
    line.setAttribute("points", points.join(" "));
    drawing.append(line);
    return drawing;
  }

  /** What is said of an experiment in a line each, where there is something. */
  function facts(item) {
    const lines = [];
    const { median, low, high } = item.minutes;
    if (median !== undefined) lines.push(`Finished in ${median} minutes (half of them in ${low} to ${high}).`);
    if (item.checks_failed !== null) lines.push(`${percent(item.checks_failed)} of attention checks failed.`);
    if (item.missed) lines.push(`${percent(item.missed)} of decisions missed their time limit.`);
    for (const [name, counts] of Object.entries(item.conditions)) {
      lines.push(`Condition ${name}: ${Object.entries(counts).map(([word, n]) => `${n} ${word}`).join(", ")}.`);
    }
    const { "in all": all, ...rules } = item.excluded;
    if (all) lines.push(`${all} of those who completed would be excluded by the preregistered rules:`);
    for (const [rule, n] of Object.entries(rules)) lines.push(`${n}: ${rule}`);
    return lines;
  }

  function card(item) {
    const { way } = item;
    const done = item.people.completed ?? 0;
    const others = Object.entries(words).filter(([name]) => name !== "completed" && item.people[name])
      .map(([name, word]) => `${item.people[name]} ${word}`);
    const title = make("h2", `Experiment ${item.name}${item.open ? "" : ", closed"}`);
    const progress = make("p", "", "progress", make("b", `${done} of ${item.wanted}`), ` completed${others.length ? `; ${others.join(", ")}` : ""}.`);
    const list = make("ul", "", "way", bar("Agreed", way.agreed, way.agreed), bar("Understood", way.understood, way.agreed),
      bar("Began", way.began, way.agreed), bar("Finished", way.finished, way.agreed));
    const shown = make("section", "", "card experiment", title, progress, list);
    if (item.staying.length) {
      shown.append(make("p", "Still there, from the first decision to the last:", "quiet small"), curve(item.staying));
    }
    const lines = facts(item);
    if (lines.length) shown.append(make("ul", "", "facts", ...lines.map((line) => make("li", line))));
    return shown;
  }

  async function refresh() {
    let problem = "";
    try {
      const response = await fetch("api/status", { headers: { Authorization: `Bearer ${token}` } });
      if (response.status === 401) {
        problem = "The token is missing or wrong. Open the researcher's link that was printed when the server started.";
      } else if (!response.ok) {
        problem = `The server answers ${response.status}.`;
      } else {
        const status = await response.json();
        at("experiments").replaceChildren(...status.experiments.map(card));
        const { due, paid } = status.pay;
        at("pay").hidden = !due;
        at("pay").textContent = due ? `Pay through the service, without its fees: ${due} due, ${paid} paid.` : "";
        at("links").hidden = false;
        at("looked").textContent = `As of ${new Date().toLocaleTimeString()}; invitations: ${status.invitations.used} of ${status.invitations.made} used.`;
        link("study-link", status.study);
        link("preview-link", `..${status.preview}`); // beside this page, wherever that is
      }
    } catch {
      problem = "The server does not answer.";
    }
    at("problem").textContent = problem;
    setTimeout(refresh, 5000);
  }

  refresh();
})();
