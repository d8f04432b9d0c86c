/** The graphics card: it gets the questions that the processor has answered, and both times are shown. */

import type { Answer, Question } from "partition-dpp";
import { byId, input, seconds } from "./dom";
import { Engine, Stopped, whyNoCard } from "./engine";
import type { Rows } from "./protocol";
import { besides } from "./sentences";

/** A question about rows, and the answer of the processor. */
interface Asked {
  rows: Rows;
  question: Question;
  answer: Answer;
}

const box = input("card");
const status = byId("card-status", HTMLElement);
const processorTime = byId("cpu-time", HTMLElement);
const cardTime = byId("card-time", HTMLElement);

let engine: Engine | undefined;
/** The rows that the engine has. */
let loaded: Rows | undefined;
/** The set that the page shows. */
let newest: Asked | undefined;
let isRunning = false;
let changed: (isRunning: boolean) => void = () => undefined;

/** The time of an answer, on one line. */
const timeOf = (answer: Answer) => seconds(answer.seconds).replace(" ", "\u00a0");
const none = (why: string) => `No graphics card: ${why}.`;

function setRunning(next: boolean): void {
  isRunning = next;
  changed(next);
}

function close(sentence: string): void {
  engine?.close();
  engine = loaded = undefined;
  box.checked = false;
  cardTime.textContent = "";
  status.textContent = sentence;
}

/** Asks the card for a set that the processor found. */
async function compare(card: Engine, asked: Asked): Promise<void> {
  status.textContent = "The graphics card is at work …";
  if (loaded !== asked.rows) await card.load(asked.rows);
  loaded = asked.rows;
  const found = await card.ask("select", asked.question);
  const isNewest = asked === newest;
  cardTime.textContent = isNewest ? `, graphics card ${timeOf(found)}` : "";
  status.textContent = isNewest ? besides(found, asked.answer, asked.question) : "";
}

/** Compares the newest set, and then those that were found meanwhile. */
async function run(): Promise<void> {
  if (isRunning || !engine) return;
  const [card, asked] = [engine, newest];
  let isOpen = false;
  setRunning(true);
  try {
    await card.ask("about", null);
    isOpen = true;
    status.textContent = "";
    if (asked) await compare(card, asked);
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof Stopped) status.textContent = engine ? message : "";
    else if (!isOpen) close(none(message));
    else if (asked === newest) status.textContent = `Error of the graphics card: ${message}`;
  }
  setRunning(false);
  if (newest && newest !== asked) await run();
}

/** Shows the time of a set that the processor found, and asks the card for the same if it is in use. */
export function askCard(asked: Asked): void {
  newest = asked;
  processorTime.textContent = timeOf(asked.answer);
  void run();
}

/** Forgets the last set: another is asked for. */
export function clearCard(): void {
  newest = undefined;
  cardTime.textContent = "";
  if (engine && !isRunning) status.textContent = "";
}

/** Ends the work of the card. */
export function stopCard(): void {
  if (!isRunning) return;
  newest = undefined;
  engine?.stop();
}

/** Lets the user turn the card on; `change` is called when its work starts and when it ends. */
export function onCard(change: (isRunning: boolean) => void): void {
  changed = change;
  const why = whyNoCard();
  box.disabled = why !== undefined;
  if (why) status.textContent = none(why);
  box.addEventListener("change", () => {
    if (!box.checked) return close("");
    engine = new Engine("card");
    status.textContent = "The graphics card is being opened …";
    void run();
  });
}
