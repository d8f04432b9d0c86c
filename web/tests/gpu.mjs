// Asks the module for graphics cards in Chromium, on SwiftShader, and compares its answers with those of the processor
// and with the law: node tests/gpu.mjs
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { data, generator, path } from "./data.mjs";
import { launch, serve, swiftShader } from "./server.mjs";

const [ITEMS, DIMS, BINS, DRAWS] = [600, 16, 12, 150];
if (!existsSync(path("target/npm/partition_dpp_gpu.js"))) {
  console.log("SKIPPED: web/build has made no module for graphics cards");
  process.exit();
}
const server = await serve(path("target/npm"));
const browser = await launch(...swiftShader);
const page = await browser.newPage();
page.on("pageerror", (error) => assert.fail(error));
await page.addInitScript(() => {
  window.dispatches = 0;
  const dispatch = GPUComputePassEncoder.prototype.dispatchWorkgroups;
  GPUComputePassEncoder.prototype.dispatchWorkgroups = function (...groups) {
    window.dispatches += 1;
    return dispatch.apply(this, groups);
  };
});
await page.goto(`${server.url}package.json`);

/** Answers of the card, and those of the processor to the same questions. */
const ask = ({ values, dims, labels }, questions) => page.evaluate(async ({ values, dims, labels, questions }) => {
  window.module ??= await import("/partition_dpp_gpu.js").then((module) => module.default().then(() => module));
  window.gpu ??= await window.module.Gpu.open();
  const items = new window.module.Items(Float32Array.from(values), dims, labels);
  const answers = [];
  for (const question of questions) {
    const refused = ({ message }) => ({ message });
    const cpu = new Promise((resolve) => resolve(items.select(question)));
    answers.push([await window.gpu.select(items, question).catch(refused), await cpu.catch(refused)]);
  }
  items.free();
  return answers;
}, { values: [...values], dims, labels, questions });

const same = [
  { k: 10, quota: "equal", similarity: "dot", method: "best" },
  { k: 10, quota: "equal", similarity: "dot", method: "best", certify: true },
  { k: 20, quota: "equal", represent: "parts", method: "best" },
  { k: 20, similarity: "rbf", method: "best" },
  { k: 70, similarity: "dot", ridge: 5, method: "best" },
];
for (const [at, [card, cpu]] of (await ask(data.digits, same)).entries()) {
  const question = JSON.stringify(same[at]);
  assert.deepEqual(card.items, cpu.items, question);
  assert.ok(Math.abs(card.logDet - cpu.logDet) < 1e-9 * Math.abs(cpu.logDet), question);
  assert.ok(!cpu.upperBound || Math.abs(card.upperBound - cpu.upperBound) < 1e-3, question);
  console.log(`same\t${card.seconds.toFixed(3)} s on the card, ${cpu.seconds.toFixed(3)} s on the processor\t${question}`);
}

/** Rows of many lengths about two axes. */
const made = (() => {
  const uniform = generator(7);
  const row = (item) => {
    const length = uniform() ** 2 + 0.02;
    return Array.from({ length: DIMS }, (_, at) => length * (uniform() - 0.5 + (at === item % 2 ? 2 : 0)));
  };
  const labels = Array.from({ length: ITEMS }, (_, item) => "ab"[Number(item < ITEMS / 2)]);
  return { values: Float32Array.from(labels.flatMap((_, item) => row(item))), dims: DIMS, labels };
})();
const row = (item) => made.values.subarray(DIMS * item, DIMS * (item + 1));
const dot = (one, other) => one.reduce((sum, value, at) => sum + value * other[at], 0);

/** Probabilities of items, up to a factor, in pairs with one of the `others`: their area's square, summed over these. */
const marginals = (items, others) => items.map((item) => {
  const mine = row(item);
  return others.map(row).reduce((sum, other) => sum + dot(mine, mine) * dot(other, other) - dot(mine, other) ** 2, 0);
});

/** How far counts are from a law: a chi-square statistic, with its mean and standard deviation at 0 and 1. */
const distance = (counts, law) => {
  const [total, whole] = [counts, law].map((list) => list.reduce((sum, value) => sum + value));
  const expected = law.map((weight) => (total * weight) / whole);
  const chi = counts.reduce((sum, count, at) => sum + (count - expected[at]) ** 2 / expected[at], 0);
  return (chi - law.length + 1) / Math.sqrt(2 * (law.length - 1));
};

/** Numbers of drawn items in bins of items of like weight. */
const binned = (drawn, weights) => {
  const order = weights.map((_, item) => item).sort((one, other) => weights[one] - weights[other]);
  const bin = new Map(order.map((item, rank) => [item, Math.floor((rank * BINS) / order.length)]));
  const counts = Array(BINS).fill(0);
  drawn.forEach((item) => (counts[bin.get(item)] += 1));
  return { counts, bin };
};
const draws = async (items, question) => {
  const before = await page.evaluate(() => window.dispatches);
  const answers = await ask(items, Array.from({ length: DRAWS }, (_, seed) => ({ ...question, seed })));
  const dispatches = (await page.evaluate(() => window.dispatches)) - before;
  assert.ok(dispatches >= DRAWS, `${dispatches} dispatches`);
  assert.ok(answers.every(([{ lawError }]) => lawError > 0 && lawError < 1e-4));
  return [0, 1].map((engine) => answers.flatMap((answer) => answer[engine].items));
};
const judge = (what, found, uniform) => {
  console.log(`${DRAWS} draws\t${found.toFixed(1)} deviations from the law, ${uniform.toFixed(1)} from a uniform one\t${what}`);
  assert.ok(found < 4 && uniform > 8, what);
};

// Pairs have a law in closed form.
const all = Array.from({ length: ITEMS }, (_, item) => item);
const weights = marginals(all, all);
const [pairs] = await draws(made, { k: 2, similarity: "dot" });
const { counts, bin } = binned(pairs, weights);
const law = Array(BINS).fill(0);
all.forEach((item) => (law[bin.get(item)] += weights[item]));
judge("two of 600", distance(counts, law), distance(counts, law.map(() => 1)));

// Ten digits, the later the darker: the processor's draws have their law.
const light = data.digits.labels.map((_, item) => 0.2 + item / 1797);
const digits = { ...data.digits, values: data.digits.values.map((value, at) => value * light[Math.floor(at / 64)]) };
const [card, cpu] = (await draws(digits, { k: 10, quota: "equal", similarity: "dot" }))
  .map((drawn) => binned(drawn, light).counts);
const chi = card.reduce((sum, count, at) => sum + (count - cpu[at]) ** 2 / (count + cpu[at]), 0);
judge("ten digits", (chi - BINS + 1) / Math.sqrt(2 * (BINS - 1)), distance(card, card.map(() => 1)));

const [[refused]] = await ask({ values: [1, 2, 3, 4], dims: 2 }, [{ k: 3 }]);
assert.equal(refused.message, "k = 3 is more than the 2 items");
// A second question at a time is refused, and harms nothing.
const overlapping = await page.evaluate(async ({ values, dims, labels }) => {
  const items = new window.module.Items(Float32Array.from(values), dims, labels);
  const [first, second] = [0, 1].map((seed) => window.gpu.select(items, { k: 10, quota: "equal", seed }));
  const refused = await second.catch(({ message }) => message);
  return [refused, (await first).items.length, (await window.gpu.select(items, { k: 10, quota: "equal" })).items.length];
}, { ...data.digits, values: [...data.digits.values] });
assert.deepEqual(overlapping, ["the card is at work: ask again when it has answered", 10, 10]);
await browser.close();
server.close();
