/** A set beside a random one and medoids of the same counts. */

import type { Answer, Part, Question } from "partition-dpp";
import type { Data } from "./data";
import { byId, fixed, make, percent, seconds, tableHead, tableRow } from "./dom";
import { thousands } from "./table";

export type SetName = "chosen" | "random" | "medoids";
export type Sets = Partial<Record<SetName, Answer>>;

/** Numbers that are compared for medoids without asking: about two seconds. */
const NUMBERS = 5e8;

const table = byId("compare", HTMLTableElement);
const parts = byId("parts", HTMLTableElement);

/** The question of a set with as many items of every class as an answer has. */
export function sameCounts(question: Question, { items, explainedByPart }: Answer, hasLabels: boolean): Question {
  const { k: _k, quota: _quota, method: _method, certify: _certify, ...rest } = question;
  if (!hasLabels) return { ...rest, k: items.length };
  return { ...rest, quota: Object.fromEntries(explainedByPart.map(({ name, chosen }) => [name, chosen])) };
}

/** Whether medoids take long: they compare all pairs of a class. */
export function areMedoidsLong({ table: { rows }, parts: classes, rows: { dims } }: Data): boolean {
  const sizes = classes.length > 0 ? classes.map(({ size }: Part) => size) : [rows];
  return sizes.reduce((sum, size) => sum + size * size, 0) * dims > NUMBERS;
}

interface Shown {
  sets: Sets;
  /** What the chosen set is called. */
  name: string;
  shown: SetName;
  show: (name: SetName) => void;
  /** Finds medoids if they were not found unasked. */
  findMedoids: (() => void) | undefined;
}

function row(set: SetName, name: string, { sets, shown, show, findMedoids }: Shown): HTMLTableRowElement {
  const answer = sets[set];
  const choice = make("input", { type: "radio", name: "shown", value: set, checked: set === shown, disabled: !answer });
  choice.addEventListener("change", () => show(set));
  const head = make("label", {}, choice, ` ${name}`);
  if (answer) return tableRow(head, percent(answer.explained), fixed(answer.logDet, 3), seconds(answer.seconds));
  if (set !== "medoids" || !findMedoids) return tableRow(head, "–", "–", "–");
  const find = make("button", { type: "button", id: "find-medoids", textContent: "Find" });
  find.addEventListener("click", findMedoids);
  return tableRow(head, find, "–", "–");
}

/** Shows the sets side by side. A choice that has the focus keeps it. */
export function showSets(what: Shown): void {
  const focused = document.activeElement;
  const value = focused instanceof HTMLInputElement && table.contains(focused) ? focused.value : undefined;
  const rows = [row("chosen", what.name, what), row("random", "Random set", what), row("medoids", "Medoids", what)];
  table.replaceChildren(tableHead("Set", "Explained", "log det", "Time"), make("tbody", {}, ...rows));
  if (value) table.querySelector<HTMLInputElement>(`input[value="${value}"]`)?.focus();
}

/** Shows the share of every class. */
export function showParts({ explainedByPart }: Answer): void {
  const rows = explainedByPart.map(({ name, items, chosen, explained }) =>
    tableRow(name, thousands(items), thousands(chosen), percent(explained)));
  parts.replaceChildren(tableHead("Class", "Items", "Chosen", "Explained"), make("tbody", {}, ...rows));
}
