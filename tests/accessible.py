"""What automatic checkers of accessibility find on a page: contrast (WCAG 1.4.3), names, headings and languages."""

from __future__ import annotations

from typing import Any

FAULTS = """() => {
  const parts = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const over = (front, share, back) => front.map((v, i) => v * share + back[i] * (1 - share));
  /** The colour behind an element, through everything that is transparent. */
  const ground = (item) => {
    const layers = [];
    for (; item; item = item.parentElement) {
      const [r, g, b, a = 1] = parts(getComputedStyle(item).backgroundColor);
      if (a > 0) layers.push([[r, g, b], a]);
      if (a === 1) break;
    }
    return layers.reverse().reduce((back, [front, a]) => over(front, a, back), [255, 255, 255]);
  };
  const opacity = (item) => {
    let found = 1;
    for (; item; item = item.parentElement) found *= Number(getComputedStyle(item).opacity);
    return found;
  };
  const named = (item) => item.textContent.trim() || item.getAttribute("aria-label") || item.getAttribute("alt")
    || item.labels?.length || document.getElementById(item.getAttribute("aria-labelledby"))?.textContent;
  const found = [];
  for (const item of document.querySelectorAll("body *")) {
    if (!item.checkVisibility() || item.closest("[disabled], option, script, title, .spoken")) continue;
    if (![...item.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
    const style = getComputedStyle(item);
    const back = ground(item);
    const [r, g, b, a = 1] = parts(item.closest("svg") ? style.fill : style.color);
    const front = over([r, g, b], a * opacity(item), back);
    const [one, two] = [light(front), light(back)];
    const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) found.push(`contrast ${ratio.toFixed(2)}: ${item.textContent.trim().slice(0, 40)}`);
  }
  for (const item of document.querySelectorAll("button, input, select, textarea, a[href], img, [role=img]")) {
    if (item.checkVisibility() && !named(item)) found.push(`without a name: ${item.outerHTML.slice(0, 80)}`);
  }
  const headings = [...document.querySelectorAll("h1, h2, h3, h4")].filter((item) => item.checkVisibility());
  const levels = headings.map((item) => Number(item.tagName[1]));
  const first = levels.filter((level) => level === 1).length;
  if (first !== 1) found.push(`headings of the first level: ${first}`);
  levels.forEach((level, place) => {
    if (place && level > levels[place - 1] + 1) found.push(`no level before: ${headings[place].textContent}`);
  });
  const ids = [...document.querySelectorAll("[id]")].map((item) => item.id);
  for (const id of new Set(ids.filter((id, place) => ids.indexOf(id) !== place))) found.push(`twice: #${id}`);
  for (const item of document.querySelectorAll("[aria-labelledby]")) {
    const label = document.getElementById(item.getAttribute("aria-labelledby"));
    if (item.checkVisibility() && !label) found.push(`no label: ${item.outerHTML.slice(0, 80)}`);
  }
  if (!document.documentElement.lang) found.push("no language");
  if (!document.title.trim()) found.push("no title");
  return found;
}"""


def faults(page: Any) -> list[str]:
    """What is wrong with a page as it is shown now, in light and then in dark colours."""
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += [f"{scheme}: {fault}" for fault in page.evaluate(FAULTS)]
    return found
