/** A benchmark of the processor, with a report to copy. */

import { byId, button, seconds, setIdle } from "./dom";
import { Engine, Stopped } from "./engine";
import type { Rows } from "./protocol";

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

async function measure(engine: Engine): Promise<string> {
  const question = { k: K, quota: "equal" };
  const [{ version }, loading] = await timed(engine.load(made()));
  const [, draw] = await timed(engine.ask("select", question));
  const [, best] = await timed(engine.ask("select", { ...question, method: "best" }));
  return [
    `partition-dpp ${version}, in a browser`,
    `browser  ${navigator.userAgent}`,
    `cores    ${navigator.hardwareConcurrency}, one of them in use`,
    `rows     ${ROWS} x ${DIMS}, k = ${K} in ${CLASSES} classes`,
    `load     ${loading}`,
    `draw     ${draw}`,
    `best set ${best}`,
  ].join("\n");
}

let running: Engine | undefined;

/** Ends the benchmark, if it runs. */
export function stopBenchmark(): void {
  running?.close();
}

/** Runs the benchmark in a worker of its own; `change` is called when it starts and when it ends. */
export function onBenchmark(change: (isRunning: boolean) => void): void {
  const set = (engine: Engine | undefined) => {
    running = engine;
    setIdle(start, engine !== undefined);
    change(engine !== undefined);
  };
  start.addEventListener("click", async () => {
    if (running) return;
    const engine = new Engine();
    set(engine);
    status.textContent = "The benchmark runs …";
    try {
      report.textContent = await measure(engine);
      report.hidden = copy.hidden = false;
      status.textContent = "Done.";
    } catch (error) {
      status.textContent = error instanceof Stopped ? error.message : `Error: ${(error as Error).message}`;
    }
    engine.close();
    set(undefined);
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
