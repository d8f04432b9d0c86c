// What the module takes, refuses and answers, in plain node: node tests/module.mjs
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import init, { Items } from "../../target/npm/partition_dpp.js";
import { data, path } from "./data.mjs";

const bytes = readFileSync(path("target/npm/partition_dpp_bg.wasm"));
await init({ module_or_path: bytes });
const { values, dims, labels } = data.digits;
const digits = new Items(values, dims, labels);
const bare = new Items(values, dims);

assert.equal(digits.length, 1797);
assert.equal(digits.dims, 64);
assert.deepEqual(digits.parts.slice(0, 2), [{ name: "0", size: 178 }, { name: "1", size: 182 }]);
assert.deepEqual(bare.parts, []);
const numbered = new Items(new Float64Array([1, 2, 3]), 1, ["10", "9", "-1"]);
assert.deepEqual(numbered.parts.map(({ name }) => name), ["-1", "9", "10"]);

const refuses = (work, sentence) => assert.throws(work, (error) => error instanceof Error && error.message === sentence);
refuses(() => new Items(new Float32Array(3), 2), "the feature matrix has 3 values; 2 are needed");
refuses(() => new Items([1, 2], 1), "the values of rows are a Float32Array or a Float64Array");
refuses(() => new Items(new Float32Array(4), 2, ["a"]), "there are 1 labels for 2 items");
refuses(() => new Items(new Float32Array([1, NaN]), 1), "the value in row 1, column 0 is NaN; every value must be finite");
refuses(() => new Items(new Float64Array(2 ** 28), 64), "the rows take 2.1 GB; at most 2 GB fit into a browser");
for (const [question, sentence] of [
  [5, "a question is an object, as in { k: 10 }"],
  [{ kk: 5 }, "a question has no field kk; its fields are k, quota, similarity, bandwidth, ridge, represent, " +
    "representation, scores, diversity, include, exclude, method, certify, timeLimit, seed"],
  [{ k: 2.5 }, "k must be a whole number from 0 on"],
  [{ similarity: "cos" }, 'similarity must be "cosine", "dot" or "rbf"'],
  [{ quota: { 3: "two" } }, "quota must be text, or an object with a number for every label, or a pair of the least " +
    "and the most, as in { cat: 2, dog: [1, 3], bird: [0, null] }"],
  [{ quota: { 3: [2, 1] } }, "the range of part 3 is empty: no count is at least 2 and at most 1"],
  [{ quota: "equal" }, 'the quota "equal" needs k, the number of items in all'],
  [{ k: 3, bandwidth: 1 }, 'a bandwidth is for the similarity "rbf"'],
  [{ k: 3, diversity: 0.5 }, "diversity needs scores, one number per item"],
  [{ k: 3, certify: true }, 'certify is for the method "best"'],
  [{ k: 3, timeLimit: -1 }, "timeLimit must be a number of seconds from 0 on"],
  [{ k: 3, timeLimit: 0 }, "the time limit passed"],
  [{ k: 3, include: [1797] }, "item 1797 does not exist: there are 1797 items"],
]) refuses(() => digits.select(question), sentence);
refuses(() => bare.select({ k: 3, quota: "equal" }), "a quota needs labels, the part of each item");
refuses(() => bare.random({}), "a random set needs k or a quota");
refuses(() => bare.medoids({}), "medoids need k or a quota: otherwise the set of all items covers most");

const chosen = digits.select({ k: 12, quota: "proportional" });
assert.equal(chosen.exactness, "exact");
assert.equal(chosen.items.length, 12);
const quota = Object.fromEntries(chosen.explainedByPart.map(({ name, chosen }) => [name, chosen]));
for (const compared of ["random", "medoids"]) {
  const other = digits[compared]({ quota, include: [5], exclude: [6] });
  assert.deepEqual(other.explainedByPart.map(({ chosen }) => chosen), Object.values(quota), compared);
  assert.ok(other.items.includes(5) && !other.items.includes(6), compared);
  assert.ok(other.logDet < chosen.logDet, compared);
}
const items = (question) => digits.random({ k: 5, ...question }).items;
assert.deepEqual(items({ seed: 3 }), items({ seed: 3n }));
assert.notDeepEqual(items({ seed: 3 }), items({ seed: 4 }));
assert.deepEqual(bare.select({ k: 4 }).explainedByPart.map(({ name, items, chosen }) => [name, items, chosen]),
  [["all items", 1797, 4]]);
const best = digits.select({ k: 10, quota: "equal", similarity: "dot", method: "best", certify: true });
assert.ok(best.upperBound >= best.logDet && best.termination === "locally optimal");
const hurried = digits.select({ k: 10, quota: "equal", similarity: "dot", method: "best", timeLimit: 0 });
assert.ok(hurried.items.length === 10 && hurried.logDet < best.logDet && /time limit/.test(hurried.termination));
assert.equal(digits.select({ k: 5, method: "best", scores: labels.map(Number), diversity: 0 }).items.every((item) =>
  labels[item] === "9"), true);

// The leading components of points along an axis are that axis and the one across.
const map = new Items(new Float64Array([0, 0, 4, 0, 8, 0, 4, 1]), 2).map();
const [spread, across] = [0, 1].map((axis) => Math.max(...map.filter((_, at) => at % 2 === axis).map(Math.abs)));
assert.ok(map.length === 8 && spread > 0.45 && across < 0.15, map.join());
assert.equal(new Items(new Float64Array([1, 2, 4]), 1).map().length, 6);

const features = WebAssembly.Module.customSections(new WebAssembly.Module(bytes), "target_features");
const listed = features.map((section) => new TextDecoder().decode(section)).join();
assert.ok(listed.includes("simd128") && !listed.includes("relaxed-simd"), "vectors of 128 bits, none of them relaxed");
console.log("the module takes, refuses and answers what it should");
