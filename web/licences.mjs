// Prints the licences of the crates in the modules: node licences.mjs
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const cargo = (command, ...args) => execFileSync("cargo", [command, ...args, "--all-features", "--manifest-path",
  fileURLToPath(new URL("Cargo.toml", import.meta.url))], { encoding: "utf8", maxBuffer: 1 << 28 });
const tree = cargo("tree", "--target", "wasm32-unknown-unknown", "--edges", "normal,no-proc-macro", "--prefix", "none",
  "--format", "{p}");
const contained = new Set(tree.split("\n").map((line) => line.split(" ").slice(0, 2).join(" ")));

const texts = (folder) => readdirSync(folder)
  .filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
  .sort()
  .map((name) => readFileSync(join(folder, name), "utf8").trim());
const notices = JSON.parse(cargo("metadata", "--format-version", "1")).packages
  .filter(({ name, version, source }) => source && contained.has(`${name} v${version}`))
  .map(({ name, version, license, manifest_path }) =>
    [`${name} ${version}, ${license}`, ...texts(dirname(manifest_path))].join("\n\n"));
console.log(notices.sort().join("\n\n----\n\n"));
