// Runs the code of the guide's page on browsers in Chromium.
import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { path } from "./data.mjs";
import { launch, serve, swiftShader } from "./server.mjs";

const guide = readFileSync(path("docs/guide/browser.md"), "utf8");
const [worker, page, card] = [...guide.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);
const folder = mkdtempSync(join(tmpdir(), "guide-"));
const index = '<!doctype html><link rel="icon" href="data:,"><script type="module" src="page.js"></script>';
const write = (files) => Object.entries(files).forEach(([name, text]) => writeFileSync(join(folder, name), text));
const copy = (name) => [`${name}.js`, `${name}_bg.wasm`].forEach((file) =>
  copyFileSync(path(`target/npm/${file}`), join(folder, file)));
write({ "page.js": page, "index.html": index });

const server = await serve(folder);
const browser = await launch(...swiftShader);
const run = async (name, worker) => {
  copy(name);
  write({ "select.js": worker });
  const tab = await browser.newPage();
  const said = tab.waitForEvent("console", { timeout: 60_000 });
  await tab.goto(server.url);
  const items = await (await said).args()[0].jsonValue();
  assert.deepEqual(items.map((item) => item < 50).sort(), [false, false, true, true]);
  console.log(`the guide's code chose ${items.join(", ")} with ${name}.js`);
  await tab.close();
};
try {
  await run("partition_dpp", worker);
  if (existsSync(path("target/npm/partition_dpp_gpu.js"))) await run("partition_dpp_gpu", card);
} finally {
  await browser.close();
  server.close();
  rmSync(folder, { recursive: true });
}
