/** The page: what the user does, and what is shown. */

import type { Answer, Question } from "partition-dpp";
import { onBenchmark, stopBenchmark } from "./benchmark";
import { askCard, clearCard, onCard, stopCard } from "./card";
import { showChosen } from "./chosen";
import { onColumns, showColumns, summarise } from "./columns";
import { areMedoidsLong, sameCounts, showParts, showSets, type SetName, type Sets } from "./compare";
import { nextSeed, onQuestion, question, refresh, suit, suitClasses, type Method } from "./controls";
import { digits, take, type Data } from "./data";
import { button, byId, input, make, setIdle } from "./dom";
import { Engine, Stopped } from "./engine";
import { clearMap, mark, showMap } from "./map";
import { fillCounts } from "./quota";
import { guess, type Roles } from "./roles";
import { bound, summary } from "./sentences";
import { thousands, type Table } from "./table";

const status = byId("status", HTMLElement);
const problem = byId("problem", HTMLElement);
const boundLine = byId("bound", HTMLElement);
const picker = input("files");

const engine = new Engine("processor");
const builtIn = digits();
let data: Data | undefined;
let hasMap = false;
/** What is asked next, by the newest click. */
let wanted: Method | undefined;
let isAnswering = false;
let method: Method = "sample";
let sets: Sets = {};
let shown: SetName = "chosen";
let works = 0;
/** The change of data that goes on: questions wait for it. */
let replacing: symbol | undefined;

const names = (): Record<SetName, string> =>
  ({ chosen: method === "best" ? "Best set" : "Drawn set", random: "Random set", medoids: "Medoids" });

function say(sentence: string): void {
  status.textContent = sentence;
}

function refuse(sentence: string): void {
  problem.textContent = sentence;
  problem.hidden = sentence === "";
}

function count(change: number): void {
  works += change;
  setIdle(button("stop"), works === 0);
  document.body.dataset.busy = String(works > 0);
}

/** Does work that Stop ends, and shows its error. */
async function work(task: () => Promise<void>): Promise<void> {
  count(1);
  try {
    await task();
  } catch (error) {
    if (!(error instanceof Stopped)) {
      refuse(`Error: ${(error as Error).message}`);
      say(sets.chosen ? "The set below is the one before." : "");
    }
  }
  count(-1);
}

/** Shows one of the sets on the map, as images and as a table. */
function show(name: SetName): void {
  const answer = sets[name];
  if (!data || !answer) return;
  shown = name;
  showChosen(data, answer.items, names()[name]);
  showParts(answer);
  mark(answer.items, names()[name].toLowerCase());
}

function showAll(findMedoids?: () => void): void {
  showSets({ sets, name: names().chosen, shown, show, findMedoids });
}

function showAnswer({ table, rows }: Data, answer: Answer, asked: Question): void {
  method = asked.method ?? "sample";
  sets = { chosen: answer };
  byId("result", HTMLElement).hidden = false;
  say(summary(answer, table.rows, asked));
  boundLine.textContent = method === "best" ? bound(answer) : "";
  fillCounts(answer);
  show("chosen");
  showAll();
  askCard({ rows, question: asked, answer });
}

async function answer(current: Data, asked: Method): Promise<void> {
  say(asked === "best" ? "Searching …" : "Drawing …");
  boundLine.textContent = "";
  refuse("");
  clearCard();
  const asking = question(current, asked);
  const chosen = await engine.ask("select", asking);
  showAnswer(current, chosen, asking);
  if (!hasMap) {
    showMap(current, await engine.ask("map", null));
    hasMap = true;
  }
  if (wanted) return;
  const same = sameCounts(asking, chosen, current.parts.length > 0);
  const compared = sets;
  const compare = async (name: "random" | "medoids") => {
    compared[name] = await engine.ask(name, same);
    if (compared === sets) showAll();
  };
  await compare("random");
  if (wanted) return;
  if (areMedoidsLong(current)) showAll(() => void work(() => compare("medoids")));
  else await compare("medoids");
}

/** Answers the newest question, and those asked meanwhile. */
function ask(next: Method): void {
  if (replacing) return;
  wanted = next;
  if (isAnswering) return;
  isAnswering = true;
  void work(async () => {
    try {
      while (wanted && data) {
        const asked = wanted;
        wanted = undefined;
        await answer(data, asked);
      }
    } finally {
      isAnswering = false;
      wanted = undefined;
    }
  });
}

function stop(): void {
  if (works === 0) return;
  wanted = undefined;
  engine.stop();
  stopBenchmark();
  stopCard();
  say("Stopped.");
}

function showNotes({ name, rows, columns, notes }: Table): void {
  const gaps = columns.filter(({ kind }) => kind === "gaps");
  const left = gaps.map(({ name: column, problem: why }) => `${why}. Column '${column}' is left out.`);
  byId("data-name", HTMLElement).textContent = `${name}, ${thousands(rows)} rows`;
  byId("notes", HTMLUListElement).replaceChildren(...[...notes, ...left].map((note) => make("li", { textContent: note })));
}

/** Works on a table from now on, unless its columns cannot play their roles. */
async function use(table: Table, roles: Roles): Promise<void> {
  const next = await take(engine, table, roles);
  const isNew = table !== data?.table;
  const hasOtherLabels = roles.label !== data?.roles.label;
  data = next;
  hasMap = false;
  clearMap();
  summarise(next);
  if (isNew) {
    showColumns(next);
    showNotes(table);
  }
  if (isNew) suit(next);
  else if (hasOtherLabels) suitClasses(next);
  else refresh(next.scores !== undefined);
}

/** Stops all work and changes the data, then asks of it. */
function replace(task: () => Promise<void>): void {
  stop();
  const mine = (replacing = Symbol());
  void work(async () => {
    refuse("");
    try {
      await task();
    } finally {
      if (replacing === mine) replacing = undefined;
    }
    ask("sample");
  });
}

function choose(roles: Roles): void {
  const current = data;
  if (!current) return;
  replace(() => use(current.table, roles).catch((error: Error) => {
    if (roles.features.length > 0) showColumns(current);
    throw error;
  }));
}

function open(read: () => Promise<Table>): void {
  replace(async () => {
    say("Reading …");
    const table = await read();
    await use(table, guess(table));
  });
}

function openFiles(files: FileList | null | undefined): void {
  const list = [...(files ?? [])];
  if (list.length > 0) open(() => engine.ask("open", list));
}

function onDrop(): void {
  const show = (isOver: boolean) => document.body.classList.toggle("dropping", isOver);
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    show(true);
  });
  document.addEventListener("dragleave", ({ relatedTarget }) => relatedTarget ?? show(false));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    show(false);
    openFiles(event.dataTransfer?.files);
  });
}

button("draw").addEventListener("click", () => {
  nextSeed();
  ask("sample");
});
button("best").addEventListener("click", () => ask("best"));
button("stop").addEventListener("click", stop);
button("digits").addEventListener("click", () => open(() => builtIn));
picker.addEventListener("change", () => {
  openFiles(picker.files);
  picker.value = "";
});
const isWide = matchMedia("(min-width: 60rem)").matches;
for (const id of ["data", "options"]) byId(id, HTMLDetailsElement).open = isWide;
onQuestion(() => data, () => ask(method));
onColumns(choose);
for (const on of [onBenchmark, onCard]) on((isRunning) => count(isRunning ? 1 : -1));
onDrop();
open(() => builtIn);
