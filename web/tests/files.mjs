// Files that tests open in the page, made in memory.

export const text = (name, content) => ({ name, mimeType: "text/plain", buffer: Buffer.from(content) });

/** A .npy file of 32-bit numbers, spread evenly around 10 centres, from the generator of Numerical Recipes. */
export const manyRows = (rows, dims) => {
  let state = 1;
  const uniform = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32 - 0.5;
  const centres = Array.from({ length: 10 * dims }, uniform);
  const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${rows}, ${dims}), }`.padEnd(117) + "\n";
  const start = Buffer.from([0x93, ...Buffer.from("NUMPY"), 1, 0, header.length, 0]);
  const values = Float32Array.from({ length: rows * dims }, (_, at) => centres[at % (10 * dims)] + uniform());
  const buffer = Buffer.concat([start, Buffer.from(header), Buffer.from(values.buffer)]);
  return { name: "features.npy", mimeType: "application/octet-stream", buffer };
};

/** The class of every row. */
export const labelsCsv = (rows, classes) =>
  text("labels.csv", `class\n${Array.from({ length: rows }, (_, row) => row % classes).join("\n")}\n`);
