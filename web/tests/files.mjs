// What a user does with the page, and files made in memory that tests open in it.
import assert from "node:assert/strict";
import { generator } from "./data.mjs";

export const text = (name, content) => ({ name, mimeType: "text/plain", buffer: Buffer.from(content) });

/** A .npy file of 32-bit numbers, spread evenly around 10 centres. */
export const manyRows = (rows, dims) => {
  const number = generator(1);
  const uniform = () => number() - 0.5;
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

/** Waits until nothing runs. */
export const settled = (page) =>
  page.waitForFunction(() => document.body.dataset.busy === "false", undefined, { timeout: 120_000 });

/** Waits until an element has this text. */
export const until = (page, id, text) =>
  page.waitForFunction(([id, text]) => document.getElementById(id).textContent === text, [id, text]);
export const chosen = (page) => page.$$eval("#chosen tbody th", (cells) => cells.map((cell) => cell.textContent));
export const said = (page, id) => page.textContent(`#${id}`);
export const press = async (page, id) => {
  await page.click(`#${id}`);
  await settled(page);
};
export const openFiles = async (page, ...files) => {
  await page.setInputFiles("#files", files);
  await settled(page);
};

/** Stops all work at once. */
export const stop = async (page) => {
  const workers = page.workers().length;
  const stopped = await page.evaluate(async () => {
    const began = performance.now();
    document.getElementById("stop").click();
    while (document.body.dataset.busy === "true") await new Promise(requestAnimationFrame);
    return performance.now() - began;
  });
  console.log(`    stopped after ${stopped.toFixed(1)} ms`);
  assert.ok(stopped < 200);
  assert.equal(await said(page, "status"), "Stopped.");
  // Those that were at work have ended.
  for (let wait = 0; wait < 50 && page.workers().length > workers; wait += 1) await page.waitForTimeout(100);
  assert.ok(page.workers().length <= workers);
};

export const refused = (page, file) => openFiles(page, file).then(() => said(page, "problem"));
