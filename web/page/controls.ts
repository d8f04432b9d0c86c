/** The question, as the controls put it. */

import type { Question } from "partition-dpp";
import type { Data } from "./data";
import { byId, input, numberIn, select } from "./dom";
import { howMany, setParts, showQuota } from "./quota";

export type Method = "sample" | "best";

const k = input("k");
const quota = select("quota");
const similarity = select("similarity");
const bandwidth = input("bandwidth");
const represent = select("represent");
const exponent = input("exponent");
const diversity = input("diversity");
const seed = input("seed");

function showIf(id: string, isShown: boolean): void {
  byId(id, HTMLElement).hidden = !isShown;
}

/** Shows the controls that the others leave a choice of. */
export function refresh(hasScores: boolean): void {
  showQuota();
  showIf("bandwidth-field", similarity.value === "rbf");
  showIf("exponent-field", represent.value !== "none");
  showIf("diversity-field", hasScores);
  byId("diversity-value", HTMLOutputElement).value = diversity.valueAsNumber.toFixed(2);
}

/** Rows that a Gaussian similarity is suggested for: it takes seconds for many more. */
const GAUSSIAN = 2000;

/** Sets all controls to what suits a table. */
export function suit(data: Data): void {
  suitClasses(data);
  const { roles, rows, table } = data;
  const isSmall = roles.standardise && table.rows <= GAUSSIAN;
  similarity.value = isSmall || rows.dims < Number(k.value) ? "rbf" : "cosine";
  bandwidth.value = "";
  represent.value = "none";
  refresh(data.scores !== undefined);
}

/** Sets the controls that depend on classes. */
export function suitClasses({ parts, table, scores }: Data): void {
  const classes = parts.length;
  const suitable = classes === 0 ? 10 : classes * (classes > 5 ? 1 : 2);
  k.value = String(Math.min(suitable, table.rows));
  quota.value = classes > 0 ? "equal" : "none";
  for (const choice of [quota, represent]) {
    for (const option of choice.options) option.disabled = classes === 0 && option.dataset.needs === "labels";
  }
  if (represent.selectedOptions[0]?.disabled) represent.value = "none";
  setParts(parts);
  refresh(scores !== undefined);
}

/** The question that the controls ask. */
export function question({ scores }: Data, method: Method): Question {
  const width = numberIn(bandwidth, "Bandwidth", "a number above 0");
  const power = numberIn(exponent, "Exponent", "a number from 0");
  const start = numberIn(seed, "Seed", "a whole number from 0") ?? 0;
  return {
    ...howMany(),
    similarity: similarity.value as "cosine" | "dot" | "rbf",
    ...(similarity.value === "rbf" && width !== undefined ? { bandwidth: width } : {}),
    ...(represent.value === "none" ? {} : { represent: represent.value as "parts" | "all" }),
    ...(represent.value !== "none" && power !== undefined ? { representation: power } : {}),
    ...(scores ? { scores, diversity: diversity.valueAsNumber } : {}),
    ...(method === "best" ? { method, certify: true } : { seed: start }),
  };
}

/** Calls back when the user changes the question, by a key of a number or by leaving it. */
export function onQuestion(data: () => Data | undefined, change: () => void): void {
  const form = byId("question", HTMLFormElement);
  form.addEventListener("input", () => refresh(data()?.scores !== undefined));
  form.addEventListener("change", change);
  form.addEventListener("submit", (event) => event.preventDefault());
}

/** Takes the next seed. */
export function nextSeed(): void {
  seed.value = String((Number.isInteger(seed.valueAsNumber) ? seed.valueAsNumber : 0) + 1);
}
