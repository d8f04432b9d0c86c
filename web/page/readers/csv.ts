/** Tables from .csv files; errors name row, column and line. */

import Papa from "papaparse";
import { shorten, type Column, type Table } from "../table";

const NUMBER = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|infinity|nan)$/i;

/** A cell as a number, as the command line reads it. */
function numberOf(cell: string): number | undefined {
  if (!NUMBER.test(cell)) return undefined;
  if (!/^[+-]?[in]/i.test(cell)) return Number(cell);
  if (/nan/i.test(cell)) return NaN;
  return cell.startsWith("-") ? -Infinity : Infinity;
}

/** What a cell that should be a number tells of the whole file. */
function advice(cell: string): string {
  if (cell.includes("\0")) return "; save the file as UTF-8";
  return /[;\t]/.test(cell) ? "; separate cells by commas, and write decimals with a point" : "";
}

/** The records of a file, and the line at which each begins. */
class Records {
  readonly cells: string[][];
  readonly #file: string;

  constructor(file: string, text: string) {
    this.#file = file;
    const { data, errors } = Papa.parse<string[]>(text, { delimiter: "," });
    this.cells = data.map((record) => record.map((cell) => cell.trim()));
    while (this.isBlank(this.cells.length - 1)) this.cells.pop();
    if (this.cells.length === 0) this.refuse("the file is empty");
    const quotes = errors.find(({ type }) => type === "Quotes");
    if (quotes) this.refuse(`line ${this.line(quotes.row ?? 0)}: a quotation mark is not closed, or out of place`);
    this.#checkBlanks();
  }

  isBlank(record: number): boolean {
    const cells = this.cells[record];
    return cells?.length === 1 && cells[0] === "";
  }

  line(record: number): number {
    const lines = (cells: string[]) => 1 + cells.join("").split(/\r\n?|\n/).length - 1;
    return this.cells.slice(0, record).reduce((line, cells) => line + lines(cells), 1);
  }

  refuse(problem: string): never {
    throw new Error(`${this.#file}: ${problem}`);
  }

  #checkBlanks(): void {
    const blank = this.cells.findIndex((_, record) => this.isBlank(record));
    if (blank >= 0) this.refuse(`line ${this.line(blank)} is blank: delete it, or write what is missing`);
  }

  /** Checks that all records are of one length, and returns it. */
  width(headers: number): number {
    const needed = this.cells[0]?.length ?? 0;
    const odd = this.cells.findIndex((cells) => cells.length !== needed);
    if (odd >= 0) {
      const found = this.cells[odd]?.length ?? 0;
      const cells = found === 1 ? "cell" : "cells";
      const row = `row ${odd - headers} (line ${this.line(odd)})`;
      this.refuse(`${row} has ${found} ${cells}; the first line has ${needed}`);
    }
    return needed;
  }
}

/** A sentence if a header may be a row of numbers: only one cell is not a number, or one looks like a number. */
function doubt(header: string[]): string | undefined {
  const odd = header.flatMap((cell, column) => (numberOf(cell) === undefined ? [column] : []));
  const meant = (column: number) => /^[+-]?\.?\d/.test(header[column] ?? "");
  const column = odd.length === 1 && header.length > 1 ? odd[0] : odd.find(meant);
  if (column === undefined) return undefined;
  const cell = shorten(header[column] ?? "");
  return `line 1 is read as a header, because '${cell}' in column ${column} is not a number; ` +
    "if it is a row, write its numbers as 1000 or 1.5";
}

/** A column of records after the header. */
function columnOf(file: string, records: Records, headers: number, at: number, name: string): Column {
  const texts = records.cells.slice(headers).map((cells) => cells[at] ?? "");
  const numbers = texts.map(numberOf);
  const bad = numbers.indexOf(undefined);
  if (bad < 0) {
    const values = Float64Array.from(numbers as number[]);
    const column: Column = { name, kind: "numbers", width: 1, values };
    return texts.every((text, row) => String(values[row]) === text) ? column : { ...column, texts };
  }
  const cell = texts[bad] ?? "";
  const what = cell === "" ? "the cell is empty" : `'${shorten(cell)}' is not a number${advice(cell)}`;
  const problem = `${file}: row ${bad}, column ${at} (line ${records.line(bad + headers)}): ${what}`;
  const found = numbers.filter((number) => number !== undefined).length;
  return { name, kind: 2 * found > texts.length ? "gaps" : "text", width: 1, texts, problem };
}

function decode(file: string, bytes: ArrayBuffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error(`${file}: the file is not UTF-8 text; save the file as UTF-8`);
  }
}

export function readCsv(file: string, bytes: ArrayBuffer): Table {
  const records = new Records(file, decode(file, bytes));
  const first = records.cells[0] ?? [];
  const headers = first.every((cell) => numberOf(cell) !== undefined) ? 0 : 1;
  const width = records.width(headers);
  const rows = records.cells.length - headers;
  if (rows === 0) records.refuse("the file has a header and no rows");
  const name = (at: number) => (headers && first[at]) || `column ${at}`;
  const columns = Array.from({ length: width }, (_, at) => columnOf(file, records, headers, at, name(at)));
  const note = headers ? doubt(first) : undefined;
  return { name: file, rows, columns, notes: note ? [`${file}: ${note}`] : [] };
}
