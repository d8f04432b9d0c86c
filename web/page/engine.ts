/** A worker, as the page sees it. */

import type { Answered, Asked, Device, Kind, Reply, Request, Rows } from "./protocol";

/** The reason of work that the user has stopped. */
export class Stopped extends Error {
  constructor() {
    super("Stopped.");
  }
}

/** Why this browser cannot use a graphics card, if it cannot. */
export function whyNoCard(): string | undefined {
  if (!("gpu" in navigator)) return "this browser has no WebGPU";
  return "Suspending" in WebAssembly ? undefined : "this browser cannot wait for WebGPU";
}

interface Waiting {
  resolve: (answer: never) => void;
  reject: (error: Error) => void;
}

/** A worker that can be stopped at any time. The next one gets the same rows. */
export class Engine {
  #device: Device;
  #worker: Worker;
  #waiting = new Map<number, Waiting>();
  #rows: Rows | undefined;
  #asked = 0;

  constructor(device: Device) {
    this.#device = device;
    this.#worker = this.#start();
  }

  /** Takes rows; those before stay if they are refused. */
  async load(rows: Rows): Promise<Answered<"load">> {
    const loaded = await this.ask("load", rows);
    this.#rows = rows;
    return loaded;
  }

  ask<K extends Kind>(kind: K, ask: Asked<K>): Promise<Answered<K>> {
    const request: Request = { id: this.#asked++, kind, ask };
    return new Promise((resolve, reject) => {
      this.#waiting.set(request.id, { resolve, reject });
      this.#worker.postMessage(request);
    });
  }

  /** Ends all work at once. */
  stop(): void {
    this.#end(new Stopped());
    this.#worker = this.#start();
    if (this.#rows) void this.ask("load", this.#rows).catch(() => undefined);
  }

  /** Ends the worker, and starts no other. */
  close(): void {
    this.#end(new Stopped());
  }

  #start(): Worker {
    const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module", name: this.#device });
    worker.onmessage = ({ data }: MessageEvent<Reply>) => this.#receive(data);
    worker.onerror = () => this.#end(new Error("the library cannot be loaded in this browser"));
    return worker;
  }

  #receive(reply: Reply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if ("answer" in reply) return waiting?.resolve(reply.answer as never);
    waiting?.reject(new Error(reply.error));
    if (reply.broken) this.stop();
  }

  #end(reason: Error): void {
    this.#worker.terminate();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    waiting.forEach(({ reject }) => reject(reason));
  }
}
