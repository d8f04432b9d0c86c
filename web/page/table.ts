/** Tables, as readers make them from files. */

export type Numbers = Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

/** A column. It has numbers, text, or numbers whose text is worth keeping. */
export interface Column {
  name: string;
  /** "gaps" if most cells are numbers, but not all. */
  kind: "numbers" | "gaps" | "text";
  /** Numbers per row: more than one in a column of lists. */
  width: number;
  values?: Numbers;
  texts?: string[];
  /** Why the column has no numbers: the first cell that is none. */
  problem?: string;
}

export interface Table {
  /** Of the files. */
  name: string;
  rows: number;
  columns: Column[];
  /** Of images of 8 × 8 pixels, 0 to 16, if the items are such. */
  pixels?: Numbers;
  /** What a reader should know about how the files were read. */
  notes: string[];
}

/** A cell as text. */
export const textOf = ({ texts, values, width }: Column, row: number): string =>
  texts?.[row] ?? Array.from(values?.subarray(row * width, (row + 1) * width) ?? []).join(" ");

/** The first characters of a cell, for messages. */
export const shorten = (text: string, most = 40): string => (text.length > most ? `${text.slice(0, most)}…` : text);

/** With a space between thousands. */
export const thousands = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, "\u202f");
