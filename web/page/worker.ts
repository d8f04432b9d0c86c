/** The library and the readers of files, in a thread of their own. Its name is the device that it computes on. */

import type { Items } from "partition-dpp";
import { onCard, onProcessor } from "./library";
import type { Answered, Asked, Device, Kind, Reply, Request } from "./protocol";

const library = (self.name as Device) === "card" ? onCard() : onProcessor();
// Answers give the reason if it cannot be loaded.
library.catch(() => undefined);
let items: Items | undefined;

/** The newest items. Work goes on in the order of requests once the library is there. */
async function loaded(): Promise<Items> {
  await library;
  if (!items) throw new Error("there are no items");
  return items;
}

async function load({ values, dims, labels }: Asked<"load">): Promise<Answered<"load">> {
  const { Items } = await library;
  const next = new Items(values, dims, labels);
  items?.free();
  items = next;
  return { length: next.length, dims: next.dims, parts: next.parts };
}

const works: { [K in Kind]: (ask: Asked<K>) => Answered<K> | Promise<Answered<K>> } = {
  open: async (files) => (await import("./readers/open")).open(files),
  about: async () => (await library).about,
  load,
  select: async (question) => (await library).select(await loaded(), question),
  random: async (question) => (await loaded()).random(question),
  medoids: async (question) => (await loaded()).medoids(question),
  map: async () => (await loaded()).map(),
};

async function answer({ id, kind, ask }: Request): Promise<Reply> {
  try {
    const work = works[kind] as (ask: Asked<Kind>) => Answered<Kind> | Promise<Answered<Kind>>;
    return { id, answer: await work(ask) };
  } catch (error) {
    // Panics and traps are RuntimeErrors.
    const broken = !(error instanceof Error) || error instanceof WebAssembly.RuntimeError;
    const message = error instanceof Error ? error.message : String(error);
    // Rust ends so when there is no memory left.
    const sentence = /^unreachable\b/i.test(message) ? "there is not enough memory" : message;
    return { id, error: broken ? `the computation failed: ${sentence}` : sentence, broken };
  }
}

self.onmessage = async ({ data }: MessageEvent<Request>) => self.postMessage(await answer(data));
