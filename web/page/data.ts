/** The items that the page works on. */

import type { Part } from "partition-dpp";
import type { Engine } from "./engine";
import type { Rows } from "./protocol";
import { rowsOf, scoresOf, type Roles } from "./roles";
import { textOf, type Numbers, type Table } from "./table";

export interface Data {
  table: Table;
  roles: Roles;
  rows: Rows;
  scores: Float64Array | undefined;
  parts: Part[];
}

const SIDE = 8;
const BLACK = 16;

/** Gives the rows of a table to the engine. */
export async function take(engine: Engine, table: Table, roles: Roles): Promise<Data> {
  const [rows, scores] = [rowsOf(table, roles), scoresOf(table, roles)];
  const { parts } = await engine.load(rows);
  return { table, roles, rows, scores, parts };
}

/** The digits: a byte of class for each, then their pixels. */
export async function digits(): Promise<Table> {
  const response = await fetch("digits.bin");
  if (!response.ok) throw new Error("the digits cannot be loaded");
  const bytes = new Uint8Array(await response.arrayBuffer());
  const rows = bytes.length / (SIDE * SIDE + 1);
  const pixels = Float32Array.from(bytes.subarray(rows));
  return {
    name: "handwritten digits",
    rows,
    columns: [
      { name: "class", kind: "numbers", width: 1, values: Float64Array.from(bytes.subarray(0, rows)) },
      { name: "pixels", kind: "numbers", width: SIDE * SIDE, values: pixels },
    ],
    pixels,
    notes: [],
  };
}

/** What an item is called. */
export function nameOf({ table, roles }: Data, item: number): string {
  const column = roles.id === null ? undefined : table.columns[roles.id];
  return column ? textOf(column, item) : `item ${item}`;
}

/** Draws an image of pixels. */
export function drawImage(pixels: Numbers, item: number, canvas: HTMLCanvasElement): void {
  canvas.width = SIDE;
  canvas.height = SIDE;
  const image = new ImageData(SIDE, SIDE);
  pixels.subarray(item * SIDE * SIDE, (item + 1) * SIDE * SIDE).forEach((pixel, at) => {
    const grey = 255 * (1 - pixel / BLACK);
    image.data.set([grey, grey, grey, 255], 4 * at);
  });
  canvas.getContext("2d")?.putImageData(image, 0, 0);
}
