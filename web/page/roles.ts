/** What the columns of a table are for. */

import type { Rows } from "./protocol";
import { shorten, textOf, type Column, type Numbers, type Table } from "./table";

export interface Roles {
  features: number[];
  label: number | null;
  score: number | null;
  id: number | null;
  /** Whether columns get mean 0 and deviation 1. */
  standardise: boolean;
}

/** The most classes that are guessed. */
const CLASSES = 50;

const isNamed = (names: RegExp) => ({ name }: Column) => names.test(name);
const namesId = isNamed(/^(id|item|index|key|name|uuid|url|unnamed: 0|)$|[_ ]id$/i);
const namesClass = isNamed(/^(class|label|group|category|part|species|target)$/i);

/** The number of different cells, as far as `most`. */
function kinds(column: Column, rows: number, most: number): number {
  const seen = new Set<string>();
  for (let row = 0; row < rows && seen.size <= most; row += 1) seen.add(textOf(column, row));
  return seen.size;
}

function isId(column: Column, rows: number): boolean {
  if (column.width > 1 || (!namesId(column) && column.kind !== "text")) return false;
  return kinds(column, rows, rows) === rows;
}

function isClass(column: Column, rows: number): boolean {
  if (column.width > 1 || (column.kind !== "text" && !namesClass(column))) return false;
  const found = kinds(column, rows, CLASSES);
  return found > 1 && found <= CLASSES && 2 * found <= rows;
}

/** Roles that suit most tables: lists of numbers before columns of numbers, and no ids among them. */
export function guess({ columns, rows }: Table): Roles {
  const indices = columns.map((_, index) => index);
  const of = (test: (column: Column) => boolean) => indices.filter((index) => test(columns[index] as Column));
  const ids = of((column) => isId(column, rows));
  const classes = of((column) => isClass(column, rows));
  const label = of((column) => namesClass(column)).find((index) => classes.includes(index)) ?? classes[0] ?? null;
  const lists = of(({ kind, width }) => kind === "numbers" && width > 1);
  const used = (index: number) => ids.includes(index) || index === label;
  const numbers = of((column) => column.kind === "numbers" && !namesId(column)).filter((index) => !used(index));
  const features = lists.length > 0 ? lists.slice(0, 1) : numbers;
  return { features, label, score: null, id: ids[0] ?? null, standardise: lists.length === 0 };
}

/** Brings a column of a matrix to mean 0 and deviation 1; a constant one to 0. */
function standardise(values: Numbers, dims: number, column: number): void {
  const rows = values.length / dims;
  const each = (visit: (value: number, at: number) => void) => {
    for (let at = column; at < values.length; at += dims) visit(values[at] as number, at);
  };
  let mean = 0;
  each((value) => (mean += value / rows));
  let square = 0;
  each((value) => (square += (value - mean) ** 2 / rows));
  const deviation = Math.sqrt(square) || 1;
  each((value, at) => (values[at] = (value - mean) / deviation));
}

/** The features of a table, side by side. */
function matrix({ columns, rows }: Table, { features, standardise: scaled }: Roles): Rows {
  const chosen = features.map((index) => columns[index] as Column);
  const dims = chosen.reduce((sum, { width }) => sum + width, 0);
  const isShort = !scaled && chosen.every(({ values }) => values instanceof Float32Array);
  const all = isShort ? new Float32Array(rows * dims) : new Float64Array(rows * dims);
  let offset = 0;
  for (const { values, width, problem } of chosen) {
    if (!values) throw new Error(problem);
    for (let row = 0; row < rows; row += 1) {
      for (let at = 0; at < width; at += 1) all[row * dims + offset + at] = values[row * width + at] as number;
    }
    offset += width;
  }
  for (let column = 0; scaled && column < dims; column += 1) standardise(all, dims, column);
  return { values: all, dims };
}

/** The labels of a column; every item needs one. */
function labelsOf(table: Table, column: Column): string[] {
  return Array.from({ length: table.rows }, (_, row) => {
    const label = textOf(column, row);
    const value = column.values?.[row];
    const place = `${table.name}: row ${row}, column '${column.name}'`;
    if (label === "") throw new Error(`${place}: the label is empty`);
    if (value !== undefined && !Number.isInteger(value)) {
      throw new Error(`${place}: the label ${shorten(label)} is neither text nor an integer`);
    }
    return label;
  });
}

/** The rows that the library takes. Columns that cannot play their roles are refused. */
export function rowsOf(table: Table, roles: Roles): Rows {
  const { columns } = table;
  if (roles.features.length === 0) {
    const hasNumbers = columns.some(({ values }) => values);
    throw new Error(hasNumbers ? "no features are chosen: choose a column of numbers" : columns[0]?.problem);
  }
  const rows = matrix(table, roles);
  const label = roles.label === null ? undefined : columns[roles.label];
  return label ? { ...rows, labels: labelsOf(table, label) } : rows;
}

/** The score of every item, if a column is chosen. */
export function scoresOf(table: Table, { score }: Roles): Float64Array | undefined {
  const column = score === null ? undefined : table.columns[score];
  if (!column) return undefined;
  if (!column.values) throw new Error(column.problem);
  const row = column.values.findIndex((value) => !Number.isFinite(value));
  if (row >= 0) {
    const value = String(column.values[row]).replace("Infinity", "inf");
    const place = `${table.name}: row ${row}, column '${column.name}'`;
    throw new Error(`${place}: the score is ${value}; every score must be a finite number`);
  }
  return Float64Array.from(column.values);
}
