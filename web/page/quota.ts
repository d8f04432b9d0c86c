/** The table of the least and the most items per class. */

import type { Answer, Part, Question } from "partition-dpp";
import { byId, input, make, numberIn, select, tableRow } from "./dom";

const table = byId("quota-table", HTMLElement);
const body = byId("quota-rows", HTMLTableSectionElement);
const k = input("k");
const quota = select("quota");

type Entry = number | [number, number | null];

function field(kind: string, part: string): HTMLInputElement {
  return make("input", { type: "number", min: "0", step: "1", ariaLabel: `${kind}, class ${part}` });
}

/** Shows the table if it is asked for. With as many items of every class as told, k is their sum. */
export function showQuota(): void {
  const isTable = quota.value === "table";
  table.hidden = !isTable;
  byId("k-hint", HTMLElement).textContent = isTable ? "Empty: as many as the table allows." : "Empty: sets of any size.";
}

/** Makes a row for every class. */
export function setParts(parts: Part[]): void {
  body.replaceChildren(...parts.map(({ name, size }) =>
    tableRow(name, String(size), field("At least", name), field("At most", name))));
}

/** Fills in the counts of a set, unless the table is in use. */
export function fillCounts({ explainedByPart }: Answer): void {
  if (quota.value === "table") return;
  [...body.rows].forEach((row, part) => row.querySelectorAll("input").forEach((cell) => {
    cell.value = String(explainedByPart[part]?.chosen ?? 0);
  }));
}

function entries(): [string, Entry][] {
  return [...body.rows].map((row) => {
    const name = row.cells[0]?.textContent ?? "";
    const [low, high] = [...row.querySelectorAll("input")].map((cell) =>
      numberIn(cell, cell.ariaLabel ?? "", "a whole number from 0"));
    return [name, low !== undefined && low === high ? low : [low ?? 0, high ?? null]];
  });
}

/** The part of a question that says how many. */
export function howMany(): Question {
  const total = numberIn(k, "Number of items", "a whole number from 1");
  const all = total === undefined ? {} : { k: total };
  if (quota.value === "none") return all;
  if (quota.value !== "table") return { ...all, quota: quota.value };
  const named = entries();
  const areFixed = named.every(([, entry]) => typeof entry === "number");
  return { ...(areFixed ? {} : all), quota: Object.fromEntries(named) };
}
