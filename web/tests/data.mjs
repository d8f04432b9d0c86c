// The files that tests of the engine read: the digits of the command line, and the data of the guide.
import { readFileSync } from "node:fs";

const root = new URL("../../", import.meta.url);
export const path = (name) => new URL(name, root).pathname;

/** Numbers from 0 to 1, from the generator of Numerical Recipes. */
export const generator = (state) => () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;

/** The rows of a .npy file of bytes. */
const npy = (name) => {
  const bytes = readFileSync(path(name));
  const start = 10 + bytes.readUInt16LE(8);
  const [, dims] = /'shape': \((\d+), (\d+)\)/.exec(bytes.toString("latin1", 10, start)).slice(1).map(Number);
  return { values: Float32Array.from(bytes.subarray(start)), dims };
};

/** The columns of a .csv file by name. */
const table = (name) => {
  const [header, ...lines] = readFileSync(path(name), "utf8").trim().split(/\r?\n/).map((line) => line.split(","));
  return Object.fromEntries(header.map((column, at) => [column, lines.map((line) => line[at])]));
};

/** The numbers of a .csv file, row by row. */
const csv = (name) => {
  const columns = Object.values(table(name));
  const values = columns[0].flatMap((_, row) => columns.map((column) => Number(column[row])));
  return { values: Float64Array.from(values), dims: columns.length };
};

const articles = table("docs/data/articles.csv");
export const data = {
  digits: {
    ...npy("cli/data/digits/features.npy"),
    labels: table("cli/data/digits/labels.csv").class,
    given: ["--dataset", "digits"],
  },
  articles: {
    ...csv("docs/data/articles-embeddings.csv"),
    labels: articles.section,
    scores: Float64Array.from(articles.score, Number),
    given: ["--features", path("docs/data/articles-embeddings.csv"), "--labels", path("docs/data/articles.csv"),
      "--label-column", "section"],
    scored: ["--scores", path("docs/data/articles.csv"), "--score-column", "score"],
  },
  households: {
    ...csv("docs/data/households-standardised.csv"),
    labels: table("docs/data/households.csv").region,
    given: ["--features", path("docs/data/households-standardised.csv"), "--labels", path("docs/data/households.csv"),
      "--label-column", "region"],
  },
  points: { ...csv("docs/data/points.csv"), given: ["--features", path("docs/data/points.csv")] },
};
