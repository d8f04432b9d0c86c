// Asks the module all questions, and compares its answers with a file: node check.mjs MODULE.wasm ANSWERS.txt
import { readFileSync } from "node:fs";

const [modulePath, answersPath] = process.argv.slice(2);
const expected = readFileSync(answersPath, "utf8").trimEnd().split("\n");
const faults = [];

// Relaxed SIMD gives other results on other machines; node 20 refuses it, and later versions must not be what it takes.
const module = new WebAssembly.Module(readFileSync(modulePath));
const [listed] = WebAssembly.Module.customSections(module, "target_features");
const features = listed ? new TextDecoder().decode(listed) : "";
if (!features.includes("mutable-globals")) faults.push("the module does not tell its target features");
if (features.includes("relaxed-simd")) faults.push("the module is compiled with relaxed SIMD");
// Nothing of the host is needed: no clock, no random numbers, no glue.
const imports = WebAssembly.Module.imports(module).map(({ module, name }) => `${module}.${name}`);
if (imports.length > 0) faults.push(`the module imports ${imports.join(", ")}`);

const start = () => {
  const { exports } = new WebAssembly.Instance(module);
  const text = () => {
    const bytes = new Uint8Array(exports.memory.buffer, exports.text(), exports.text_len());
    return new TextDecoder().decode(bytes);
  };
  return { exports, text, count: exports.questions() };
};

// Texts agree word by word, numbers with a point to nine digits or 1e-12: as tests/sample/wasm_answers.rs has it.
const agree = (found, expected) => {
  const words = (text) => text.split(/[ ,;]/);
  const [a, b] = [words(found), words(expected)];
  const alike = (x, y) =>
    x.includes(".") && y.includes(".") && !isNaN(x) && !isNaN(y)
      ? Math.abs(x - y) <= 1e-9 * Math.abs(y) + 1e-12
      : x === y;
  return a.length === b.length && a.every((word, at) => alike(word, b[at]));
};

let { exports, text, count } = start();
if (count !== expected.length) faults.push(`${count} questions, ${expected.length} answers`);
for (let question = 0; question < count; question++) {
  let answer;
  try {
    exports.answer(question);
    answer = text();
  } catch (trap) {
    answer = `question ${question}: ${trap.message}: ${text()}`;
    ({ exports, text } = start());
  }
  if (agree(answer, expected[question] ?? "")) console.log(`as expected  ${answer}`);
  else faults.push(`found    ${answer}\n  expected ${expected[question]}`);
}

// A question that read a clock would have been seen to.
const control = start();
let ticks = true;
try {
  control.exports.read_clock();
} catch {
  ticks = false;
}
if (ticks) faults.push("there is a clock here, so that nothing shows that no question reads it");
else console.log(`reading a clock fails: ${control.text()}`);

if (faults.length > 0) {
  faults.forEach((fault) => console.log(`FAULT: ${fault}`));
  process.exit(1);
}
console.log(`${count} answers on wasm32 are those of other machines, in plain node ${process.version}`);
