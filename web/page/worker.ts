/** The library and the readers of files, in a thread of their own. */

import init, { Items, version } from "partition-dpp";
import type { Answered, Asked, Kind, Reply, Request } from "./protocol";

const ready = init();
let items: Items | undefined;

function loaded(): Items {
  if (!items) throw new Error("there are no items");
  return items;
}

function load({ values, dims, labels }: Asked<"load">): Answered<"load"> {
  const next = new Items(values, dims, labels);
  items?.free();
  items = next;
  return { length: next.length, dims: next.dims, parts: next.parts, version: version() };
}

const works: { [K in Kind]: (ask: Asked<K>) => Answered<K> | Promise<Answered<K>> } = {
  open: async (files) => (await import("./readers/open")).open(files),
  load,
  select: (question) => loaded().select(question),
  random: (question) => loaded().random(question),
  medoids: (question) => loaded().medoids(question),
  map: () => loaded().map(),
};

async function answer({ id, kind, ask }: Request): Promise<Reply> {
  try {
    if (kind !== "open") await ready;
    const work = works[kind] as (ask: Asked<Kind>) => Answered<Kind> | Promise<Answered<Kind>>;
    return { id, answer: await work(ask) };
  } catch (error) {
    // Panics are thrown as text, traps as errors of their own.
    const broken = !(error instanceof Error) || error instanceof WebAssembly.RuntimeError;
    const sentence = error instanceof Error ? error.message : String(error);
    return { id, error: broken ? `the computation failed: ${sentence}` : sentence, broken };
  }
}

self.onmessage = async ({ data }: MessageEvent<Request>) => self.postMessage(await answer(data));
