/** The items of a set: as images, as a table, and as a file. */

import { drawImage, nameOf, type Data } from "./data";
import { byId, button, make, tableHead, tableRow } from "./dom";
import { textOf, thousands, type Column, type Numbers } from "./table";

/** Rows and columns that the page shows; the file has all. */
const ROWS = 500;
const COLUMNS = 12;

const images = byId("images", HTMLElement);
const table = byId("chosen", HTMLTableElement);
const note = byId("chosen-note", HTMLElement);

let chosen: { data: Data; items: number[] } | undefined;

function image(data: Data, pixels: Numbers, item: number): HTMLElement {
  const label = data.rows.labels?.[item] ?? "";
  const canvas = make("canvas", { role: "img", ariaLabel: `Digit ${label}, ${nameOf(data, item)}` });
  drawImage(pixels, item, canvas);
  return make("figure", {}, canvas, make("figcaption", {}, make("strong", {}, label), ` ${nameOf(data, item)}`));
}

/** The items in the order of their classes. */
function byClass({ parts, rows }: Data, items: number[]): number[] {
  const places = new Map(parts.map(({ name }, at) => [name, at]));
  const place = (item: number) => places.get(rows.labels?.[item] ?? "") ?? 0;
  return [...items].sort((one, other) => place(one) - place(other) || one - other);
}

function showImages(data: Data, items: number[]): void {
  const { pixels } = data.table;
  byId("images-section", HTMLElement).hidden = !pixels;
  images.classList.toggle("few", items.length <= 10);
  images.replaceChildren(...(pixels ? byClass(data, items).map((item) => image(data, pixels, item)) : []));
}

/** The columns of single cells, the id and the label first. */
function columnsOf({ table: { columns }, roles }: Data): Column[] {
  const first = [roles.id, roles.label, roles.score].flatMap((index) => (index === null ? [] : index));
  const rest = columns.map((_, index) => index).filter((index) => !first.includes(index));
  const ordered = [...new Set(first), ...rest].map((index) => columns[index] as Column);
  return ordered.filter(({ width }) => width === 1);
}

/** A cell, cut to a few digits if it is a long number. */
function shown(column: Column, item: number): string {
  const text = textOf(column, item);
  return column.values && text.length > 9 ? String(Number(Number(text).toPrecision(5))) : text;
}

function showTable(data: Data, items: number[]): void {
  const all = columnsOf(data);
  const columns = all.slice(0, COLUMNS);
  const rows = items.slice(0, ROWS).map((item) =>
    tableRow(String(item), ...columns.map((column) => shown(column, item))));
  table.replaceChildren(tableHead("row", ...columns.map(({ name }) => name)), make("tbody", {}, ...rows));
  const cut = [
    ...(items.length > ROWS ? [`the first ${ROWS} of ${thousands(items.length)} rows`] : []),
    ...(all.length > COLUMNS ? [`the first ${COLUMNS} of ${thousands(all.length)} columns`] : []),
  ];
  note.textContent = "Rows count from 0." +
    (cut.length > 0 ? ` The table shows ${cut.join(" and ")}; the file has all.` : "");
}

/** Shows the items of a set, under its name. */
export function showChosen(data: Data, items: number[], name: string): void {
  chosen = { data, items };
  byId("set-title", HTMLElement).textContent = name;
  byId("chosen-title", HTMLElement).textContent = `${name}: rows`;
  showImages(data, items);
  showTable(data, items);
}

const quoted = (cell: string) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

function csv({ data, items }: { data: Data; items: number[] }): string {
  const columns = columnsOf(data);
  const header = ["row", ...columns.map(({ name }) => name)];
  const lines = items.map((item) => [String(item), ...columns.map((column) => textOf(column, item))]);
  return [header, ...lines].map((cells) => `${cells.map(quoted).join(",")}\n`).join("");
}

button("download").addEventListener("click", () => {
  if (!chosen) return;
  const href = URL.createObjectURL(new Blob([csv(chosen)], { type: "text/csv" }));
  make("a", { href, download: "chosen.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
});
