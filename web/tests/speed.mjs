// Times the engine on made-up rows: node tests/speed.mjs
import { readFileSync, statSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import init, { Items } from "../../target/npm/partition_dpp.js";
import { data, generator, path } from "./data.mjs";

const module = path("target/npm/partition_dpp_bg.wasm");
const bytes = readFileSync(module);
const [gzip, brotli] = [
  gzipSync(bytes, { level: 9 }).length,
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } }).length,
];
console.log(`${statSync(module).size} bytes, ${gzip} by gzip, ${brotli} by brotli`);

const timed = (what, work) => {
  const began = performance.now();
  const answer = work();
  console.log(`${((performance.now() - began) / 1000).toFixed(3)} s\t${what}`);
  return answer;
};
const began = performance.now();
await init({ module_or_path: bytes });
console.log(`${((performance.now() - began) / 1000).toFixed(3)} s\tcompile`);

/** Rows around a centre of their part. */
const made = (rows, dims, parts) => {
  const uniform = generator(1);
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  const centres = Float64Array.from({ length: parts * dims }, normal);
  const values = Float32Array.from({ length: rows * dims }, (_, at) =>
    centres[(Math.floor(at / dims) % parts) * dims + (at % dims)] + normal());
  return { values, labels: Array.from({ length: rows }, (_, row) => `part ${row % parts}`) };
};

const { values, dims, labels } = data.digits;
const digits = timed("digits: load", () => new Items(values, dims, labels));
timed("digits: one per class", () => digits.select({ k: 10, quota: "equal" }));
timed("digits: again, another seed", () => digits.select({ k: 10, quota: "equal", seed: 1 }));
timed("digits: best, one per class", () => digits.select({ k: 10, quota: "equal", method: "best" }));
timed("digits: the same with its bound", () =>
  digits.select({ k: 10, quota: "equal", method: "best", certify: true }));
timed("digits: map", () => digits.map());
const { values: rows, labels: names } = made(20_000, 64, 10);
const many = timed("20 000 x 64: load", () => new Items(rows, 64, names));
const twenty = { k: 20, quota: "equal" };
timed("20 000 x 64: 20 of 10 parts", () => many.select(twenty));
timed("20 000 x 64: again, another seed", () => many.select({ ...twenty, seed: 1 }));
timed("20 000 x 64: best", () => many.select({ ...twenty, method: "best" }));
timed("20 000 x 64: best with its bound", () => many.select({ ...twenty, method: "best", certify: true }));
timed("20 000 x 64: representative", () => many.select({ ...twenty, represent: "parts" }));
timed("20 000 x 64: random", () => many.random(twenty));
timed("20 000 x 64: map", () => many.map());
if (process.argv.includes("--long")) {
  timed("20 000 x 64: medoids", () => many.medoids(twenty));
  timed("20 000 x 64: rbf, best", () => many.select({ ...twenty, similarity: "rbf", method: "best" }));
  timed("20 000 x 64: rbf", () => many.select({ k: 20, similarity: "rbf" }));
  timed("digits: rbf, one per class", () => digits.select({ k: 10, quota: "equal", similarity: "rbf" }));
}
