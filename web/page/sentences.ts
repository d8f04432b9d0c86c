/** What the page says of an answer. */

import type { Answer, Question } from "partition-dpp";
import { fixed, percent, seconds } from "./dom";
import { thousands } from "./table";

const items = (count: number) => `${thousands(count)} ${count === 1 ? "item" : "items"}`;

/** The number of items, the time and the share. */
export function summary(answer: Answer, all: number, { method, seed }: Question): string {
  const done = method === "best" ? "Found" : "Drew";
  const how = method === "best" ? answer.termination ?? "" : `seed ${seed}`;
  const chosen = `${done} ${items(answer.items.length)} of ${thousands(all)} in ${seconds(answer.seconds)} (${how}).`;
  return `${chosen} They explain ${percent(answer.explained)} of the squared length of all rows.`;
}

/** What a graphics card found, beside a set that the processor found for the same question. */
export function besides(card: Answer, { items }: Answer, { method }: Question): string {
  if (method === "best") {
    const isSame = card.items.join() === items.join();
    return `The graphics card found ${isSame ? "the same set" : `another set, log det ${fixed(card.logDet, 6)}`}.`;
  }
  const error = card.lawError === undefined ? "" : ` (law error ${card.lawError.toExponential(0)})`;
  return `The graphics card draws from the same distribution, with other random numbers${error}.`;
}

/** The bound of a best set. */
export function bound({ logDet, upperBound, exactness }: Answer): string {
  if (exactness === "optimal") return `log det ${fixed(logDet, 6)}: proven optimal.`;
  if (upperBound === undefined) return `log det ${fixed(logDet, 6)}. No bound was computed.`;
  const gap = Math.max(upperBound - logDet, 0);
  const times = Math.exp(gap) < 1e4 ? Math.exp(gap).toFixed(2) : Math.exp(gap).toExponential(1);
  return `log det ${fixed(logDet, 6)}, at most ${fixed(upperBound, 6)}; gap ${fixed(gap, 6)}: ` +
    `no set has a determinant more than ${times} times as large.`;
}
