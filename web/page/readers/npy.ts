/** Arrays from .npy files: booleans, integers and floating-point numbers in C order. */

import { shorten, type Column, type Numbers, type Table } from "../table";

/** Reads the number at a place; the last argument says whether the first byte is the lowest. */
type Read = (view: DataView, at: number, little: boolean) => number;

const readers: Record<string, Read> = {
  b1: (view, at) => view.getUint8(at),
  i1: (view, at) => view.getInt8(at),
  u1: (view, at) => view.getUint8(at),
  i2: (view, at, little) => view.getInt16(at, little),
  u2: (view, at, little) => view.getUint16(at, little),
  i4: (view, at, little) => view.getInt32(at, little),
  u4: (view, at, little) => view.getUint32(at, little),
  i8: (view, at, little) => Number(view.getBigInt64(at, little)),
  u8: (view, at, little) => Number(view.getBigUint64(at, little)),
  f2: (view, at, little) => half(view.getUint16(at, little)),
  f4: (view, at, little) => view.getFloat32(at, little),
  f8: (view, at, little) => view.getFloat64(at, little),
};

/** The types whose values a 32-bit number holds. */
const SHORT = ["b1", "i1", "u1", "i2", "u2", "f2", "f4"];

/** A number of 16 bits: a sign, 5 bits of exponent and 10 of fraction. */
function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = (bits & 1023) / 1024;
  if (exponent === 0) return sign * fraction * 2 ** -14;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction) * 2 ** (exponent - 15);
}

interface Header {
  kind: string;
  little: boolean;
  shape: number[];
  start: number;
}

function headerOf(view: DataView): Header {
  const bytes = new Uint8Array(view.buffer);
  if (String.fromCharCode(...bytes.subarray(0, 6)) !== "\x93NUMPY") throw new Error("not a .npy file");
  if (bytes.length < 12) throw new Error("the .npy header cannot be read: the file ends before it does");
  const [major = 0, minor = 0] = bytes.subarray(6, 8);
  if (major < 1 || major > 3 || minor !== 0) {
    throw new Error(`version ${major}.${minor} of the .npy format is not supported; 1.0, 2.0 and 3.0 are`);
  }
  const [begin, length] = major === 1 ? [10, view.getUint16(8, true)] : [12, view.getUint32(8, true)];
  const text = new TextDecoder().decode(bytes.subarray(begin, begin + length));
  return { ...parse(text), start: begin + length };
}

function parse(text: string): Omit<Header, "start"> {
  const found = (pattern: RegExp, what: string) => {
    const match = pattern.exec(text)?.[1];
    if (match === undefined) {
      throw new Error(`the .npy header cannot be read: it has no ${what} (it is ${shorten(text.trim())})`);
    }
    return match;
  };
  if (/['"]descr['"]\s*:\s*\[/.test(text)) throw new Error("elements of records cannot be read; arrays of numbers can");
  const type = found(/['"]descr['"]\s*:\s*['"]([^'"]*)['"]/, "type");
  if (found(/['"]fortran_order['"]\s*:\s*(True|False)/, "order") === "True") {
    throw new Error("the array is stored column by column; save numpy.ascontiguousarray(array)");
  }
  const shape = found(/['"]shape['"]\s*:\s*\(([\d,\s]*)\)/, "shape").split(",").map((size) => size.trim());
  const kind = type.replace(/^[<>|=]/, "").replace("?", "b1");
  if (!(kind in readers)) {
    throw new Error(`elements of type ${type} cannot be read; booleans, integers and floating-point numbers can`);
  }
  return { kind, little: !type.startsWith(">"), shape: shape.filter((size) => size !== "").map(Number) };
}

function valuesOf(view: DataView, { kind, little, shape, start }: Header): Numbers {
  const count = shape.reduce((product, size) => product * size, 1);
  const size = Number(kind.slice(1));
  const [expected, found] = [count * size, view.byteLength - start];
  if (found < expected) {
    const declared = `the header declares ${expected} bytes of data, the file has ${Math.max(found, 0)}`;
    throw new Error(`the file is truncated: ${declared}`);
  }
  const values = SHORT.includes(kind) ? new Float32Array(count) : new Float64Array(count);
  const read = readers[kind] as Read;
  for (let index = 0; index < count; index += 1) values[index] = read(view, start + index * size, little);
  return values;
}

function arrayOf(file: string, bytes: ArrayBuffer): Table {
  const view = new DataView(bytes);
  const header = headerOf(view);
  const { shape } = header;
  const [rows = 0, width = 1] = shape;
  if (shape.length < 1 || shape.length > 2) {
    throw new Error(`the array has ${shape.length} dimensions; 2 are needed (rows, columns)`);
  }
  if (rows * width === 0) throw new Error("the array is empty");
  const name = file.replace(/\.npy$/i, "");
  const column: Column = { name, kind: "numbers", width, values: valuesOf(view, header) };
  return { name: file, rows, columns: [column], notes: [] };
}

export function readNpy(file: string, bytes: ArrayBuffer): Table {
  try {
    return arrayOf(file, bytes);
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`);
  }
}
