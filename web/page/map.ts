/** The map of all items: their two principal components, with the items of a set marked. */

import { Chart, LinearScale, PointElement, ScatterController, Tooltip, type ChartDataset, type Plugin } from "chart.js";
import { nameOf, type Data } from "./data";
import { byId, make } from "./dom";
import { shorten, textOf, thousands } from "./table";

Chart.register(LinearScale, PointElement, ScatterController, Tooltip);

/** Points that are drawn; the map of more shows every second, third, … item. */
const MOST = 6000;
/** Classes that have a colour of their own, and a line in the legend. */
const COLOURS = 10;

interface Point {
  x: number;
  y: number;
  item: number;
}

const canvas = byId("map", HTMLCanvasElement);
const legend = byId("legend", HTMLUListElement);
const caption = byId("map-caption", HTMLElement);

const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const classColour = (at: number) => colour(`--class-${at % COLOURS}`);

/** Writes the label of every marked item beside it. */
const labels: Plugin<"scatter"> = {
  id: "labels",
  afterDatasetsDraw({ ctx, width }) {
    ctx.font = "600 13px system-ui, sans-serif";
    ctx.fillStyle = colour("--text");
    ctx.strokeStyle = colour("--surface");
    ctx.lineWidth = 3;
    marked.forEach((item, at) => {
      const element = chart.getDatasetMeta(0).data[at];
      const text = shorten(labelOf(item), 12);
      if (!element || text === "") return;
      const right = element.x + 8;
      const size = ctx.measureText(text).width;
      const left = right + size < width ? right : element.x - 8 - size;
      ctx.strokeText(text, left, element.y - 6);
      ctx.fillText(text, left, element.y - 6);
    });
  },
};

const axis = (text: string) => ({ ticks: { display: false }, title: { display: true, text } });

const chart = new Chart(canvas, {
  type: "scatter",
  data: { datasets: [] },
  plugins: [labels],
  options: {
    animation: false,
    maintainAspectRatio: false,
    layout: { padding: { right: 16, top: 12 } },
    scales: { x: axis("first principal component"), y: axis("second principal component") },
    plugins: { tooltip: { callbacks: { label: ({ raw }) => described((raw as Point).item) } } },
  },
});

let shown: { data: Data; points: Float32Array } | undefined;
let marked: number[] = [];

function labelOf(item: number): string {
  const { table, roles } = shown?.data ?? {};
  const column = roles?.label == null ? undefined : table?.columns[roles.label];
  return column ? textOf(column, item) : "";
}

function described(item: number): string {
  const label = labelOf(item);
  return shown ? nameOf(shown.data, item) + (label === "" ? "" : `, class ${label}`) : "";
}

function pointOf(item: number): Point {
  const points = shown?.points ?? [];
  return { x: points[2 * item] ?? 0, y: points[2 * item + 1] ?? 0, item };
}

/** The items of every class, few enough to draw. */
function groups({ parts, rows, table }: Data): Point[][] {
  const places = new Map(parts.map(({ name }, at) => [name, at]));
  const grouped: Point[][] = Array.from({ length: Math.max(parts.length, 1) }, () => []);
  const step = Math.ceil(table.rows / MOST);
  for (let item = 0; item < table.rows; item += step) {
    grouped[places.get(rows.labels?.[item] ?? "") ?? 0]?.push(pointOf(item));
  }
  return grouped;
}

function dataset(points: Point[], at: number): ChartDataset<"scatter"> {
  return { data: points, backgroundColor: `${classColour(at)}99`, borderWidth: 0, pointRadius: 2.5 };
}

function markedSet(data: Data): ChartDataset<"scatter"> {
  const places = new Map(data.parts.map(({ name }, at) => [name, at]));
  const colours = marked.map((item) => classColour(places.get(labelOf(item)) ?? 0));
  return {
    data: marked.map(pointOf),
    backgroundColor: colours,
    borderColor: colour("--text"),
    borderWidth: 2,
    pointRadius: 7,
    pointHoverRadius: 8,
  };
}

function draw(): void {
  if (!shown) return;
  const { data } = shown;
  // The first is on top.
  chart.data.datasets = [markedSet(data), ...groups(data).map(dataset)];
  for (const scale of [chart.options.scales?.x, chart.options.scales?.y]) {
    if (!scale) continue;
    scale.grid = { color: colour("--line"), drawTicks: false };
    Object.assign((scale as { title: object }).title, { color: colour("--muted") });
  }
  chart.update();
}

function showLegend({ parts }: Data): void {
  const named = parts.slice(0, COLOURS).map(({ name }, at) => {
    const swatch = make("span", { className: "swatch", ariaHidden: "true" });
    swatch.style.background = classColour(at);
    return make("li", {}, swatch, name);
  });
  const more = parts.length - named.length;
  legend.replaceChildren(...named, ...(more > 0 ? [make("li", { textContent: `and ${more} more` })] : []));
}

/** Shows the map of data. */
export function showMap(data: Data, points: Float32Array): void {
  shown = { data, points };
  const { rows } = data.table;
  const step = Math.ceil(rows / MOST);
  caption.textContent = step > 1 ? `The map shows one of ${step} items, of ${thousands(rows)}, and all marked ones.` : "";
  showLegend(data);
  draw();
}

/** Removes the map of other data. */
export function clearMap(): void {
  shown = undefined;
  marked = [];
  chart.data.datasets = [];
  chart.update();
}

/** Marks the items of a set. */
export function mark(items: number[], name: string): void {
  marked = items;
  canvas.ariaLabel = `Map of all items. Marked: the ${items.length} items of the ${name}; the table below lists them.`;
  draw();
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  if (shown) showLegend(shown.data);
  draw();
});
