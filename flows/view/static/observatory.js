// Colours, keys, parts that come later, and looking again while a run goes on. Pages can be read without any of it.

import { drawPlots } from "/static/plots.js";

const SOON_MS = 1500;
const LATER_MS = 10000;
const CHOICES = ["", "light", "dark"];
const WORDS = { "": "as the system has them", light: "light", dark: "dark" };

const root = document.documentElement;
const theme = document.getElementById("theme");

function nameTheme() {
  theme?.setAttribute("aria-label", `Colours: ${WORDS[root.dataset.theme ?? ""]}`);
}

function turnTheme() {
  const next = CHOICES[(CHOICES.indexOf(root.dataset.theme ?? "") + 1) % CHOICES.length];
  if (next) root.dataset.theme = next;
  else delete root.dataset.theme;
  try { localStorage.setItem("lakatos-colours", next); } catch { /* the choice holds for this page only */ }
  nameTheme();
  dispatchEvent(new Event("colours"));
}

theme?.addEventListener("click", turnTheme);
nameTheme();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => dispatchEvent(new Event("colours")));

// --- keys -----------------------------------------------------------------------------------------------------------

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, select, textarea, [contenteditable]");
  if (event.key === "Escape" && typing) typing.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") {
    const field = document.getElementById("find") ?? document.querySelector("input[type=search]");
    if (field) { field.focus(); event.preventDefault(); }
  } else if (event.key === "t") {
    turnTheme();
  } else if (event.key === "[" || event.key === "]") {
    const links = [...document.querySelectorAll("nav.sections a")];
    const here = links.findIndex((link) => link.hasAttribute("aria-current"));
    const next = links[here + (event.key === "]" ? 1 : -1)];
    if (here >= 0 && next) location.assign(next.href);
  }
});

// --- parts that are made after the page -----------------------------------------------------------------------------

async function fillLater(within = document) {
  for (const place of within.querySelectorAll("[data-later]")) {
    const url = place.dataset.later;
    place.removeAttribute("data-later");
    try {
      const answer = await fetch(url);
      if (!answer.ok) throw new Error(String(answer.status));
      place.replaceChildren(...parsed(await answer.text()).body.childNodes);
      drawPlots();
    } catch {
      place.dataset.failed = "";
    }
  }
}

function parsed(text) {
  return new DOMParser().parseFromString(text, "text/html");
}

// --- looking again --------------------------------------------------------------------------------------------------

const frame = document.querySelector("[data-watch]");

function busy() {
  const selection = document.getSelection();
  const field = document.activeElement?.matches?.("main input, main select");
  return field || (selection && !selection.isCollapsed);
}

/** Put a fresh copy of every live part in place; what was open stays open, and the focus stays where it was. */
function renew(fresh) {
  const opened = new Map([...document.querySelectorAll("details[id]")].map((item) => [item.id, item.open]));
  const focused = document.activeElement;
  const link = focused?.closest?.("[data-live]") ? focused.getAttribute("href") : null;
  for (const part of document.querySelectorAll("[data-live]")) {
    const other = fresh.querySelector(`[data-live="${part.dataset.live}"]`);
    if (other && (other.innerHTML !== part.innerHTML || other.className !== part.className)) {
      for (const [place, old] of keptParts(part, other)) place.replaceWith(old);
      part.replaceChildren(...other.childNodes);
      part.className = other.className;
    }
  }
  for (const [id, open] of opened) {
    const item = document.getElementById(id);
    if (item) item.open = open;
  }
  if (link && !document.contains(focused)) {
    [...document.querySelectorAll("[data-live] a")].find((item) => item.getAttribute("href") === link)?.focus();
  }
}

/** Parts that came later stay shown until they have come again. */
function keptParts(part, other) {
  const old = [...part.querySelectorAll(".later")];
  return [...other.querySelectorAll(".later")].map((place, number) => {
    const kept = old[number]?.cloneNode(true);
    if (!kept) return [place, place.cloneNode(true)];
    kept.dataset.later = place.dataset.later;
    return [place, kept];
  });
}

let failures = 0;

async function look() {
  let wait = LATER_MS;
  try {
    if (!document.hidden) {
      const answer = await fetch(frame.dataset.watch);
      if (!answer.ok) throw new Error(String(answer.status));
      const news = await answer.json();
      wait = news.progress === "concluded" ? LATER_MS : SOON_MS;
      if (news.now) {
        for (const place of document.querySelectorAll("[data-now]")) {
          if (place.textContent.toLowerCase() !== news.now.toLowerCase()) place.textContent = news.now;
        }
      }
      if (news.version !== frame.dataset.version && !busy()) {
        const page = await fetch(location.href);
        const fresh = parsed(await page.text());
        const other = fresh.querySelector("[data-watch]");
        if (page.ok && other) {
          renew(fresh);
          frame.dataset.version = other.dataset.version;
          drawPlots();
          await fillLater();
        }
      }
      failures = 0;
    }
    root.removeAttribute("data-lost");
  } catch {
    failures += 1;
    root.dataset.lost = "";
    wait = Math.min(LATER_MS * failures, 60000);
  }
  setTimeout(look, wait);
}

document.addEventListener("visibilitychange", () => { if (!document.hidden) failures = 0; });

drawPlots();
fillLater();
if (frame) setTimeout(look, SOON_MS);

// --- the token ------------------------------------------------------------------------------------------------------

const enter = document.getElementById("enter");

function enterByAddress() {
  if (!enter || location.hash.length < 2) return;
  enter.elements.token.value = decodeURIComponent(location.hash.slice(1));
  history.replaceState(null, "", location.pathname);
  enter.submit();
}

addEventListener("hashchange", enterByAddress);
enterByAddress();
