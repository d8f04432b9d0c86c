/** Messages between the page and its workers. */

import type { Answer, Part, Question } from "partition-dpp";
import type { Numbers, Table } from "./table";

/** Rows of `dims` numbers, and the label of each. */
export interface Rows {
  values: Numbers;
  dims: number;
  labels?: string[];
}

/** What the library knows of rows. */
export interface Loaded {
  length: number;
  dims: number;
  parts: Part[];
}

/** What a worker computes on. */
export type Device = "processor" | "card";

/** What is known of the device, and the version of the library. */
export interface About {
  name: string;
  version: string;
}

/** Each kind of work: what is asked, and what is answered. */
export interface Work {
  open: { ask: File[]; answer: Table };
  /** Answered once the device can be used. */
  about: { ask: null; answer: About };
  load: { ask: Rows; answer: Loaded };
  select: { ask: Question; answer: Answer };
  random: { ask: Question; answer: Answer };
  medoids: { ask: Question; answer: Answer };
  map: { ask: null; answer: Float32Array };
}

export type Kind = keyof Work;
export type Asked<K extends Kind> = Work[K]["ask"];
export type Answered<K extends Kind> = Work[K]["answer"];

export interface Request {
  id: number;
  kind: Kind;
  ask: Asked<Kind>;
}

/** An answer or a sentence. After a failure of the module itself the worker is of no more use. */
export type Reply =
  | { id: number; answer: Answered<Kind> }
  | { id: number; error: string; broken: boolean };
