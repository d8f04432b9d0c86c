// Bundles the page to ../target/web, with the digits and the licences of what it contains.
import { build } from "esbuild";
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";

const out = "../target/web";
const digits = "../cli/data/digits";

/** The digits as bytes: the classes of all items, then their pixels row by row. */
const digitBytes = () => {
  const npy = readFileSync(`${digits}/features.npy`);
  const pixels = npy.subarray(10 + npy.readUInt16LE(8));
  const lines = readFileSync(`${digits}/labels.csv`, "utf8").trim().split("\n").slice(1);
  return Buffer.concat([Uint8Array.from(lines, (line) => Number(line.split(",")[2])), pixels]);
};

/** The licences of the packages that files come from. */
const licences = (files) => {
  const packages = files.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
  const text = (from) => {
    const file = ["LICENSE", "LICENSE.md"].map((name) => `node_modules/${from}/${name}`).find(existsSync);
    return `${from}\n\n${readFileSync(file, "utf8").trim()}\n`;
  };
  return [...new Set(packages)].sort().map(text).join("\n----\n\n");
};

rmSync(out, { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: { page: "page/main.ts", worker: "page/worker.ts", style: "page/style.css" },
  outdir: out,
  bundle: true,
  format: "esm",
  splitting: true,
  minify: true,
  legalComments: "none",
  target: "es2022",
  metafile: true,
});
copyFileSync("page/index.html", `${out}/index.html`);
copyFileSync("page/icon.svg", `${out}/icon.svg`);
writeFileSync(`${out}/digits.bin`, digitBytes());
writeFileSync(`${out}/licences.txt`, licences(Object.keys(metafile.inputs)));
