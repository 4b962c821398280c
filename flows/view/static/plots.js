// Plots that can be zoomed and selected in: Apache ECharts draws the numbers that the page carries in `data-plot`.
// The library is fetched only where a page has a plot. Whatever has a name of a theory or a person is drawn as text.

const LIBRARY = "/static/vendor/echarts-6.1.0.esm.min.js";
const SYMBOLS = { circle: "circle", square: "rect", triangle: "triangle", diamond: "diamond" };
const NARROW = 560;

const zooms = new Map(); // by plot, so that a page that looks again keeps its place
let library = null;

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A colour of the page: a series, grey, or that of the text. */
function colourOf(number) {
  if (number < 0) return style("--ink");
  return number ? style(`--s${(number - 1) % 5 + 1}`) : style("--muted");
}

/** Draw what is not drawn yet. */
export async function drawPlots() {
  const places = [...document.querySelectorAll(".plot[data-plot]")].filter((place) => !place.dataset.drawn);
  if (!places.length) return;
  for (const place of places) place.dataset.drawn = "begun";
  try {
    library ??= await import(LIBRARY);
  } catch {
    return; // the words in the plot's place say where the numbers are
  }
  for (const place of places) if (place.isConnected) draw(place);
}

function draw(place) {
  const told = JSON.parse(place.dataset.plot);
  place.replaceChildren();
  offer(place, told);
  place.style.height = `${place.dataset.height}px`;
  place.classList.toggle("square", told.diagonal);
  const chart = library.init(place, null, { renderer: "canvas" });
  const show = () => {
    const kept = zooms.get(place.id);
    chart.setOption(optionOf(told, place.clientWidth < NARROW), true);
    if (kept) chart.dispatchAction({ type: "dataZoom", batch: kept });
  };
  show();
  if (told.selects && matchMedia("(pointer: fine)").matches) { // with a finger the page is moved, unless the tool is chosen
    chart.dispatchAction({ type: "takeGlobalCursor", key: "brush", brushOption: { brushType: "rect", brushMode: "single" } });
  }
  chart.on("datazoom", () => {
    zooms.set(place.id, chart.getOption().dataZoom.map((zoom, index) => (
      { dataZoomIndex: index, startValue: zoom.startValue, endValue: zoom.endValue })));
  });
  chart.on("restore", () => { zooms.delete(place.id); select(told.selects, null); });
  chart.on("click", (event) => { if (event.data?.link) location.assign(event.data.link); });
  if (told.selects) {
    chart.on("brushSelected", (event) => {
      const areas = event.batch[0]?.areas ?? [];
      select(told.selects, areas.length ? chosenIn(event.batch[0].selected, told.dots) : null);
    });
  }
  new ResizeObserver(() => {
    if (!place.isConnected) return chart.dispose();
    chart.resize();
    return undefined;
  }).observe(place);
  addEventListener("colours", () => { if (place.isConnected) show(); });
}

/** Links below a plot that save it as SVG, in the colours of light pages, and its numbers as CSV. */
function offer(place, told) {
  if (place.nextElementSibling?.classList.contains("download")) return;
  const line = document.createElement("p");
  line.className = "download";
  line.append("Download: ", saving("SVG", place.id, told.title, () => svgOf(told)), " ",
    saving("CSV", place.id, told.title, () => csvOf(told)));
  place.after(line);
}

function saving(kind, name, title, make) {
  const link = document.createElement("a");
  const ending = kind.toLowerCase();
  Object.assign(link, { textContent: kind, download: `${name}.${ending}`, href: "#", ariaLabel: `${title} as ${kind}` });
  link.addEventListener("click", () => { // made when it is wanted; the browser then saves what the link holds
    const type = kind === "SVG" ? "image/svg+xml" : "text/csv";
    link.href = `data:${type};charset=utf-8,${encodeURIComponent(make())}`;
  });
  return link;
}

function svgOf(told) {
  const root = document.documentElement;
  const kept = root.dataset.theme;
  root.dataset.theme = "light";
  try {
    const drawing = library.init(null, null, { renderer: "svg", ssr: true, width: 760, height: 420 });
    drawing.setOption({ ...optionOf(told, false), toolbox: undefined, brush: undefined, backgroundColor: "#fff" });
    return drawing.renderToSVGString();
  } finally {
    if (kept === undefined) delete root.dataset.theme;
    else root.dataset.theme = kept;
  }
}

function csvOf(told) {
  const cell = (value) => {
    const text = String(value ?? "");
    const safe = typeof value === "string" && /^[=+\-@\t\n]/.test(text) ? `'${text}` : text;
    return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const rows = [["series", told.x.name, told.y.name, "low", "high", "words"]];
  for (const line of told.lines) for (const [x, y] of line.points) rows.push([line.name, x, y]);
  for (const part of told.dots) for (const one of part.points) rows.push([part.name, one.x, one.y, one.low, one.high, one.words]);
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

/** Keys of the marks in a frame. */
function chosenIn(selected, dots) {
  return new Set(selected.flatMap(({ seriesName, dataIndex }) => {
    const part = dots.find((one) => one.name === seriesName);
    return part ? dataIndex.map((index) => part.points[index].key) : [];
  }));
}

/** Show the rows of a table that belong to the selected marks; all of them where nothing is selected. */
function select(table, keys) {
  const found = document.getElementById(table);
  if (!found) return;
  let shown = 0;
  for (const row of found.querySelectorAll("tr[data-key]")) {
    row.hidden = keys !== null && !keys.has(row.dataset.key);
    shown += !row.hidden;
  }
  const said = document.getElementById(`${table}-said`);
  if (said) said.textContent = keys === null ? "" : `${keys.size} selected, ${shown} of them in the table.`;
}

// --- what ECharts is told ---------------------------------------------------------------------------------------------

function optionOf(told, narrow) {
  const ink = style("--ink");
  const muted = style("--muted");
  const series = [...told.lines.map(lineOf), ...told.dots.flatMap((part) => [...whiskersOf(part), dotsOf(part)])];
  if (series.length && told.diagonal) series[0].markLine = diagonal(told, ink);
  if (series.length && told.marks.length) series[series.length - 1].markLine = upright(told.marks, ink);
  const names = [...told.lines, ...told.dots].map((part) => part.name);
  const tools = { dataZoom: { title: { zoom: "Zoom into a frame", back: "Back" }, filterMode: "none" }, restore: { title: "All" } };
  if (told.selects) tools.brush = { type: ["rect", "clear"], title: { rect: "Select in a frame", clear: "Select nothing" } };
  return {
    animation: false,
    textStyle: { color: ink, fontFamily: "sans-serif", fontSize: 13 },
    color: [ink],
    aria: { enabled: true },
    grid: { left: 64, right: 18, top: names.length > 1 && narrow ? 70 : 46, bottom: 46, containLabel: false },
    legend: names.length > 1
      ? { data: names, top: narrow ? 36 : 2, left: 0, right: narrow ? 0 : 190, type: "scroll", textStyle: { color: ink, fontSize: 13, width: narrow ? 130 : 300, overflow: "truncate" } }
      : undefined,
    toolbox: { right: 4, top: 0, itemSize: 18, itemGap: 12, feature: tools, iconStyle: { borderColor: muted },
      emphasis: { iconStyle: { borderColor: ink, textFill: ink, textPosition: "bottom", textAlign: "right" } } },
    brush: told.selects ? { toolbox: ["rect", "clear"], xAxisIndex: 0, yAxisIndex: 0, brushStyle: { color: "rgba(120,120,120,0.16)", borderColor: muted },
      outOfBrush: { colorAlpha: 0.25 } } : undefined,
    tooltip: { trigger: "item", renderMode: "richText", confine: true, backgroundColor: style("--card"), borderColor: style("--rule"),
      textStyle: { color: ink, fontSize: 13, width: narrow ? 220 : 420, overflow: "break" },
      formatter: ({ data, seriesName }) => data?.words || `${seriesName}: ${(data?.value ?? data)?.slice?.(0, 2).join(", ") ?? ""}` },
    xAxis: axisOf(told.x, told.x.log, muted, { nameGap: 28 }),
    yAxis: axisOf(told.y, false, muted, { nameGap: 46 }),
    dataZoom: [{ type: "inside", xAxisIndex: 0, zoomOnMouseWheel: "ctrl", moveOnMouseMove: false, moveOnMouseWheel: false, filterMode: "none", preventDefaultMouseMove: false }],
    series,
  };
}

function axisOf(axis, log, muted, more) {
  const rule = { lineStyle: { color: style("--rule") } };
  return { type: log ? "log" : "value", name: axis.name, nameLocation: "middle", nameTextStyle: { color: style("--ink"), fontSize: 13 },
    min: axis.least ?? undefined, max: axis.most ?? undefined, scale: true, axisLabel: { color: muted, fontSize: 13, hideOverlap: true, formatter: numberOf },
    axisLine: rule, splitLine: rule, axisTick: { show: false }, ...more };
}

const numberOf = (value) => String(Number(value.toPrecision(3))).replace("-", "−");

function lineOf(line) {
  const colour = colourOf(line.colour);
  return { type: "line", name: line.name, data: line.points, showSymbol: line.points.length < 30, symbolSize: 5, color: colour,
    lineStyle: { color: colour, width: 2, type: line.dashed ? "dashed" : "solid" }, itemStyle: { color: colour } };
}

function dotsOf(part) {
  const colour = colourOf(part.colour);
  return { type: "scatter", name: part.name, symbol: SYMBOLS[part.shape], symbolSize: part.points.length > 400 ? 6 : 10, color: colour,
    itemStyle: { color: colour, opacity: part.points.length > 400 ? 0.6 : 0.85, borderColor: style("--paper"), borderWidth: 1 },
    cursor: part.points.some((point) => point.link) ? "pointer" : "default",
    data: part.points.map((point) => ({ value: [point.x, point.y], words: point.words, link: point.link })), z: 4 };
}

/** Intervals as upright lines. */
function whiskersOf(part) {
  const points = part.points.filter((point) => point.low !== undefined);
  if (!points.length) return [];
  const stroke = colourOf(part.colour);
  const renderItem = (_, api) => {
    const [x, top] = api.coord([api.value(0), api.value(2)]);
    const [, bottom] = api.coord([api.value(0), api.value(1)]);
    return { type: "line", shape: { x1: x, y1: top, x2: x, y2: bottom }, style: { stroke, lineWidth: 1.6 } };
  };
  return [{ type: "custom", name: `${part.name}, interval`, renderItem, data: points.map((point) => [point.x, point.low, point.high]),
    encode: { x: 0, y: [1, 2] }, silent: true, clip: true, z: 3 }];
}

function diagonal(told, colour) {
  const all = told.dots.flatMap((part) => part.points.flatMap((point) => [point.x, point.y]));
  const low = told.x.least ?? Math.min(...all);
  const high = told.x.most ?? Math.max(...all);
  return { silent: true, symbol: "none", precision: -1, lineStyle: { color: colour, type: "dashed" }, label: { show: false },
    data: [[{ coord: [low, low] }, { coord: [high, high] }]] };
}

/** Marks of an axis, where they are: the library would round them to two decimals. */
function upright(marks, colour) {
  return { silent: true, symbol: "none", precision: -1, lineStyle: { color: colour, type: "dotted" },
    data: marks.map(([x, words]) => ({ xAxis: x, label: { formatter: words, color: colour, position: "insideEndTop" } })) };
}
