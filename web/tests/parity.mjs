// Asks the module and the command line the same questions: node tests/parity.mjs [PDPP]
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import init, { Items, version } from "../../target/npm/partition_dpp.js";
import { data, path } from "./data.mjs";

const pdpp = process.argv[2] ?? path("target/release/pdpp");
await init({ module_or_path: readFileSync(path("target/npm/partition_dpp_bg.wasm")) });

const [sections, regions] = [data.articles, data.households].map(({ labels }) => [...new Set(labels)].sort());
const questions = [
  ["digits", { k: 10, quota: "equal" }],
  ["digits", { k: 10, quota: "equal", seed: 1 }],
  ["digits", { k: 10, quota: "equal", similarity: "dot", seed: 2 }],
  ["digits", { k: 20, quota: "proportional", seed: 3 }],
  ["digits", { quota: { 3: [1, 3], 8: [1, null], 5: 2 }, k: 8, seed: 4 }],
  ["digits", { k: 12, seed: 5 }],
  ["digits", { similarity: "cosine", seed: 6 }],
  ["digits", { k: 10, quota: "equal", similarity: "rbf", seed: 7 }],
  ["digits", { k: 20, quota: "equal", represent: "parts", seed: 8 }],
  ["digits", { k: 20, similarity: "rbf", represent: "all", representation: 0.5, seed: 9 }],
  ["digits", { k: 10, quota: "equal", include: [5, 100], exclude: [0, 1, 2, 3], seed: 10 }],
  ["articles", { k: 6, scores: data.articles.scores, diversity: 0.3, seed: 11 }],
  ["articles", { k: 6, quota: { [sections[0]]: 2, [sections[1]]: [1, 3], [sections[2]]: [0, null] }, seed: 12 }],
  ["households", { k: 4, quota: "equal", similarity: "dot", seed: 13n }],
  ["households", { k: 20, quota: "proportional", similarity: "rbf", bandwidth: 1.5, seed: 14 }],
  ["points", { k: 8, similarity: "rbf", seed: 2 ** 40 }],
  ["digits", { k: 70, ridge: 0.01, seed: 15 }],
  // Searches start with the longest row. Under the cosine all rows are equally long, up to rounding, which differs.
  ["digits", { k: 10, quota: "equal", similarity: "dot", method: "best" }],
  ["digits", { k: 10, quota: "equal", similarity: "dot", method: "best", certify: true }],
  ["digits", { k: 20, quota: "equal", represent: "parts", method: "best", certify: true }],
  ["digits", { k: 70, similarity: "dot", ridge: 5, method: "best" }],
  ["digits", { k: 20, similarity: "rbf", method: "best" }],
  ["digits", { k: 20, quota: "equal", similarity: "rbf", represent: "parts", method: "best" }],
  ["articles", { k: 6, quota: "equal", method: "best", scores: data.articles.scores }],
  ["articles", { k: 6, quota: "equal", method: "best", scores: data.articles.scores, diversity: 0 }],
  ["households", { quota: Object.fromEntries(regions.map((name) => [name, 1])), similarity: "dot", method: "best" }],
  ["points", { k: 9, similarity: "rbf", bandwidth: 1, method: "best", exclude: [0] }],
  ["digits", { k: 10, quota: "equal", medoids: true }],
  ["households", { k: 8, similarity: "rbf", quota: "proportional", medoids: true }],
];

/** The arguments of the command line for a question. */
const argumentsOf = (name, { method, certify, scores, similarity = "cosine", quota, medoids, ...rest }) => {
  const { given, scored } = data[name];
  const searches = medoids || method === "best";
  const range = (entry) => (Array.isArray(entry) ? `${entry[0]}..${entry[1] ?? ""}` : entry);
  const entries = (quota) => Object.entries(quota).map(([label, entry]) => `${label}=${range(entry)}`).join(",");
  const words = [searches ? "map" : "sample", ...given, "--json", "--explained", "--similarity", similarity];
  if (searches) words.push("--time-limit", "0");
  if (medoids) words.push("--solver", "coverage");
  if (certify) words.push("--certify");
  if (scores) words.push(...scored);
  if (quota) words.push("--quota", typeof quota === "string" ? quota : entries(quota));
  for (const [name, value] of Object.entries(rest)) words.push(`--${name}`, String(value));
  return words.filter((word) => word !== "--explained" || !searches || similarity === "rbf");
};

const kept = {};
const itemsOf = (name) => {
  const { values, dims, labels } = data[name];
  return (kept[name] ??= new Items(values, dims, labels));
};
const close = (found, expected) => Math.abs(found - expected) <= 1e-6 * Math.max(1, Math.abs(expected));

let faults = 0;
console.log(`module ${version()}, ${execFileSync(pdpp, ["--version"], { encoding: "utf8" }).split("\n")[0]}`);
for (const [name, { medoids, ...question }] of questions) {
  const answer = itemsOf(name)[medoids ? "medoids" : "select"](question);
  const words = argumentsOf(name, { medoids, ...question });
  const expected = JSON.parse(execFileSync(pdpp, words, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
  const set = expected.set ?? expected.samples[0];
  const explained = Array.isArray(expected.explained) ? expected.explained[0] : expected.explained;
  const wrong = [
    answer.items.join() !== set.join() && "items",
    // Medoids have a bandwidth of their own, and answers that of the question.
    explained != null && !(medoids && question.similarity === "rbf") && !close(answer.explained, explained) && "explained",
    !medoids && expected.log_det != null && !close(answer.logDet, expected.log_det) && "ln det",
    expected.upper_bound != null && !close(answer.upperBound, expected.upper_bound) && "bound",
  ].filter(Boolean);
  const { scores, ...shown } = question;
  const asked = JSON.stringify({ ...shown, ...(scores && { scores: "…" }) }, (_, value) =>
    typeof value === "bigint" ? Number(value) : value);
  console.log(`${wrong.length ? `DIFFERENT ${wrong.join(", ")}` : "same"}\t${answer.seconds.toFixed(3)} s\t${name}${
    medoids ? ", medoids" : ""} ${asked}`);
  if (wrong.length) {
    faults += 1;
    console.log(`  module  ${JSON.stringify(answer)}\n  pdpp    ${JSON.stringify(expected)}`);
  }
}
console.log(`${questions.length - faults} of ${questions.length} answers are those of the command line`);
process.exit(faults ? 1 : 0);
