/** The choice of columns. */

import { byId, fill, input, make, select } from "./dom";
import type { Data } from "./data";
import type { Roles } from "./roles";
import { thousands, type Column } from "./table";

const NONE = "none";

const label = select("label-column");
const score = select("score-column");
const id = select("id-column");
const list = byId("features", HTMLUListElement);
const scaled = input("standardise");
const summary = byId("columns-summary", HTMLElement);

const describe = ({ name, width }: Column) => (width > 1 ? `${name} (${width} numbers)` : name);

function boxes(): HTMLInputElement[] {
  return [...list.querySelectorAll("input")];
}

/** The columns as the user has chosen them. */
function chosen(): Roles {
  const role = ({ value }: HTMLSelectElement) => (value === NONE ? null : Number(value));
  const features = boxes().filter(({ checked }) => checked).map(({ value }) => Number(value));
  return { features, label: role(label), score: role(score), id: role(id), standardise: scaled.checked };
}

/** Shows the columns of data. */
export function showColumns({ table, roles }: Data): void {
  const narrow = table.columns.map((column, index) => ({ column, index })).filter(({ column }) => column.width === 1);
  const options = (columns: typeof narrow): [string, string][] =>
    [[NONE, "none"], ...columns.map(({ column, index }): [string, string] => [String(index), column.name])];
  const value = (role: number | null) => (role === null ? NONE : String(role));
  fill(label, options(narrow), value(roles.label));
  fill(score, options(narrow.filter(({ column }) => column.kind !== "text")), value(roles.score));
  fill(id, options(narrow), value(roles.id));
  list.replaceChildren(...table.columns.flatMap((column, index) => {
    if (column.kind === "text") return [];
    const checked = roles.features.includes(index);
    const box = make("input", { type: "checkbox", value: String(index), checked, className: column.kind });
    return make("li", {}, make("label", {}, box, ` ${describe(column)}`));
  }));
  scaled.checked = roles.standardise;
}

/** Says how many rows and numbers are in use. */
export function summarise({ table, rows }: Data): void {
  const numbers = rows.dims === 1 ? "number" : "numbers";
  summary.textContent = `Columns: ${thousands(table.rows)} rows of ${thousands(rows.dims)} ${numbers}`;
}

/** Calls back with the columns that the user chooses. */
export function onColumns(choose: (roles: Roles) => void): void {
  byId("columns", HTMLElement).addEventListener("change", () => choose(chosen()));
  byId("all-features", HTMLButtonElement).addEventListener("click", () => {
    const numbers = boxes().filter(({ className }) => className === "numbers");
    const all = numbers.every(({ checked }) => checked);
    numbers.forEach((box) => (box.checked = !all));
    choose(chosen());
  });
}
