/** Tables from .parquet files: text, numbers, and lists of numbers of one length. */

import { parquetMetadata, parquetRead, parquetSchema, type FileMetaData, type SchemaTree } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import type { Column, Table } from "../table";

/** A column as it is stored. */
interface Stored {
  file: string;
  name: string;
  /** Whether numbers have 32 bits. */
  isShort: boolean;
  cells: unknown[];
}

const isNumber = (cell: unknown) => typeof cell === "number" || typeof cell === "bigint" || typeof cell === "boolean";
const isMissing = (cell: unknown) => cell === null || cell === undefined;

function metadataOf(file: string, bytes: ArrayBuffer): FileMetaData {
  try {
    return parquetMetadata(bytes);
  } catch (error) {
    throw new Error(`${file}: this is not a .parquet file: ${(error as Error).message}`);
  }
}

/** Whether the numbers of a column, or of its lists, have 32 bits. */
function isShort(column: SchemaTree): boolean {
  return column.children[0] ? isShort(column.children[0]) : column.element.type === "FLOAT";
}

const place = ({ file, name }: Stored, row: number) => `${file}: row ${row}, column '${name}'`;

function numbers(stored: Stored): Column {
  const { name, cells } = stored;
  const missing = cells.findIndex((cell) => !isNumber(cell));
  const array = stored.isShort ? new Float32Array(cells.length) : new Float64Array(cells.length);
  if (missing < 0) {
    array.set(cells.map(Number));
    return { name, kind: "numbers", width: 1, values: array };
  }
  const texts = cells.map((cell) => (isMissing(cell) ? "" : String(cell)));
  const problem = `${place(stored, missing)}: there is no value`;
  return { name, kind: 2 * cells.filter(isNumber).length > cells.length ? "gaps" : "text", width: 1, texts, problem };
}

/** The problem of a list that should have this many numbers. */
function problemOfList(list: unknown, width: number): string | undefined {
  if (!Array.isArray(list)) return "there is no list";
  if (list.length === 0) return "the list is empty";
  if (list.some(isMissing)) return "a value of the list is missing";
  return list.length === width ? undefined : `the list has ${list.length} values; the list in row 0 has ${width}`;
}

function lists(stored: Stored): Column {
  const { name, cells } = stored;
  const width = (cells[0] as unknown[] | null)?.length ?? 0;
  const problems = cells.map((cell) => problemOfList(cell, width));
  const row = problems.findIndex((problem) => problem !== undefined);
  if (row >= 0) {
    const texts = cells.map((cell) => (Array.isArray(cell) ? cell.join(" ") : ""));
    return { name, kind: "gaps", width, texts, problem: `${place(stored, row)}: ${problems[row]}` };
  }
  const values = stored.isShort ? new Float32Array(cells.length * width) : new Float64Array(cells.length * width);
  cells.forEach((cell, at) => values.set((cell as unknown[]).map(Number), at * width));
  return { name, kind: "numbers", width, values };
}

/** A column, unless it holds neither text nor numbers. */
function columnOf(stored: Stored): Column | undefined {
  const { file, name, cells } = stored;
  const cell = cells.find((candidate) => !isMissing(candidate));
  if (isNumber(cell)) return numbers(stored);
  if (Array.isArray(cell)) return cell.every(isNumber) ? lists(stored) : undefined;
  const text = (value: unknown) => (value instanceof Date ? value.toISOString() : String(value).trim());
  if (typeof cell !== "string" && !(cell instanceof Date)) return undefined;
  const texts = cells.map((value) => (isMissing(value) ? "" : text(value)));
  return { name, kind: "text", width: 1, texts, problem: `${file}: column '${name}' does not hold numbers` };
}

export async function readParquet(file: string, bytes: ArrayBuffer): Promise<Table> {
  const metadata = metadataOf(file, bytes);
  const cells = new Map<string, unknown[]>();
  const { children } = parquetSchema(metadata);
  children.forEach(({ element }) => cells.set(element.name, []));
  await parquetRead({
    file: bytes,
    metadata,
    compressors,
    onChunk: ({ columnName, columnData }) => {
      const column = cells.get(columnName);
      for (const cell of columnData) column?.push(cell);
    },
  }).catch((error: Error) => {
    throw new Error(`${file}: ${error.message}`);
  });
  const rows = Number(metadata.num_rows);
  if (rows === 0) throw new Error(`${file}: the file has no rows`);
  const read = children.map((child) => {
    const { name } = child.element;
    return { name, column: columnOf({ file, name, isShort: isShort(child), cells: cells.get(name) ?? [] }) };
  });
  const notes = read.filter(({ column }) => !column)
    .map(({ name }) => `${file}: column '${name}' holds neither text nor numbers`);
  return { name: file, rows, columns: read.flatMap(({ column }) => column ?? []), notes };
}
