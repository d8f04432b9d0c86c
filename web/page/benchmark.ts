/** A benchmark of the processor and the graphics card, with a report to copy. */

import type { Question } from "partition-dpp";
import { byId, button, seconds, setIdle } from "./dom";
import { Engine, Stopped, whyNoCard } from "./engine";
import type { Device, Rows } from "./protocol";

const [ROWS, DIMS, CLASSES, K] = [20_000, 64, 10, 20];

const start = button("benchmark");
const copy = button("copy-report");
const report = byId("report", HTMLPreElement);
const status = byId("benchmark-status", HTMLElement);

/** Rows around a centre for every class, from the generator of Numerical Recipes. */
function made(): Rows {
  let state = 1;
  const uniform = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  const centres = Array.from({ length: CLASSES * DIMS }, normal);
  const centre = (at: number) => centres[(Math.floor(at / DIMS) % CLASSES) * DIMS + (at % DIMS)] ?? 0;
  const values = Float32Array.from({ length: ROWS * DIMS }, (_, at) => centre(at) + normal());
  return { values, dims: DIMS, labels: Array.from({ length: ROWS }, (_, row) => `class ${row % CLASSES}`) };
}

async function timed<T>(work: Promise<T>): Promise<[T, string]> {
  const began = performance.now();
  const answer = await work;
  return [answer, seconds((performance.now() - began) / 1000)];
}

let running: Engine | undefined;

/** The version of the library, and the times of a device. Sets are chosen twice: a card compiles its shaders first. */
async function measure(device: Device, rows: Rows): Promise<[string, string[]]> {
  const engine = (running = new Engine(device));
  const select = async (question: Question) =>
    (await timed(engine.ask("select", { k: K, quota: "equal", ...question })))[1];
  try {
    const { name, version } = await engine.ask("about", null);
    const [, loading] = await timed(engine.load(rows));
    return [version, [
      name,
      `load      ${loading}`,
      `draw      ${await select({})}, again ${await select({ seed: 1 })}`,
      `best set  ${await select({ method: "best" })}, again ${await select({ method: "best" })}`,
    ]];
  } finally {
    engine.close();
  }
}

/** The times of the graphics card, or why there are none. */
async function measureCard(rows: Rows): Promise<string[]> {
  try {
    const why = whyNoCard();
    if (why) throw new Error(why);
    return (await measure("card", rows))[1];
  } catch (error) {
    if (error instanceof Stopped) throw error;
    return [`no graphics card: ${(error as Error).message}`];
  }
}

async function benchmark(): Promise<string> {
  const rows = made();
  status.textContent = "The benchmark runs on the processor …";
  const [version, processor] = await measure("processor", rows);
  status.textContent = "The benchmark runs on the graphics card …";
  const card = await measureCard(rows);
  return [
    `partition-dpp ${version}, in a browser`,
    `browser   ${navigator.userAgent}`,
    `cores     ${navigator.hardwareConcurrency}, one of them in use`,
    `rows      ${ROWS} x ${DIMS}, k = ${K} in ${CLASSES} classes`,
    "",
    ...processor,
    "",
    ...card,
  ].join("\n");
}

/** Ends the benchmark, if it runs. */
export function stopBenchmark(): void {
  running?.close();
}

/** Runs the benchmark in workers of its own; `change` is called when it starts and when it ends. */
export function onBenchmark(change: (isRunning: boolean) => void): void {
  const set = (isRunning: boolean) => {
    setIdle(start, isRunning);
    change(isRunning);
  };
  start.addEventListener("click", async () => {
    if (start.ariaDisabled === "true") return;
    set(true);
    try {
      report.textContent = await benchmark();
      report.hidden = copy.hidden = false;
      status.textContent = "Done.";
    } catch (error) {
      status.textContent = error instanceof Stopped ? error.message : `Error: ${(error as Error).message}`;
    }
    set(false);
  });
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(report.textContent ?? "");
      status.textContent = "The report is copied.";
    } catch {
      getSelection()?.selectAllChildren(report);
      status.textContent = "The browser does not allow to copy: the report is selected instead.";
    }
  });
}
