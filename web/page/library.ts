/** The library, on the processor or on a graphics card. */

import init, { Items, version, type Answer, type Question } from "partition-dpp";
import type { About } from "./protocol";

export interface Library {
  about: About;
  Items: typeof Items;
  select: (items: Items, question: Question) => Answer | Promise<Answer>;
}

interface Gpu {
  readonly name: string;
  select(items: Items, question: Question): Promise<Answer>;
}

/** The module for graphics cards: that of the processor, and a card. */
type CardModule = typeof import("partition-dpp") & { Gpu: { open(): Promise<Gpu> } };

export async function onProcessor(): Promise<Library> {
  await init();
  const about = { name: "processor", version: version() };
  return { about, Items, select: (items, question) => items.select(question) };
}

/** The module that lies beside the page, if it was built. */
async function cardModule(): Promise<CardModule> {
  const { href } = new URL("partition_dpp_gpu.js", import.meta.url);
  try {
    const module: CardModule = await import(href);
    await module.default();
    return module;
  } catch {
    throw new Error("the module for graphics cards cannot be loaded");
  }
}

/** The library's name of the card, with what else the browser knows of it. */
async function describe(name: string): Promise<string> {
  const info = (await navigator.gpu.requestAdapter())?.info;
  const known = [info?.vendor, info?.architecture, info?.description].filter((word) => word && !name.includes(word));
  return `graphics card, ${name}${known.length > 0 ? ` (${known.join(", ")})` : ""}`;
}

/** Opens the graphics card. All reasons why there is none are sentences. */
export async function onCard(): Promise<Library> {
  const { Gpu, Items, version } = await cardModule();
  const gpu = await Gpu.open();
  const about = { name: await describe(gpu.name), version: version() };
  return { about, Items, select: (items, question) => gpu.select(items, question) };
}
