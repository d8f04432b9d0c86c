// Runs the code of the guide's page on browsers in Chromium.
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { path } from "./data.mjs";
import { serve } from "./server.mjs";

const guide = readFileSync(path("docs/guide/browser.md"), "utf8");
const [worker, page] = [...guide.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);
const folder = mkdtempSync(join(tmpdir(), "guide-"));
for (const name of ["partition_dpp.js", "partition_dpp_bg.wasm"]) copyFileSync(path(`target/npm/${name}`), join(folder, name));
writeFileSync(join(folder, "select.js"), worker);
writeFileSync(join(folder, "page.js"), page);
writeFileSync(join(folder, "index.html"), '<!doctype html><link rel="icon" href="data:,"><script type="module" src="page.js"></script>');

const server = await serve(folder);
const browser = await chromium.launch({
  executablePath: process.env.PDPP_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  const tab = await browser.newPage();
  const said = tab.waitForEvent("console", { timeout: 20_000 });
  await tab.goto(server.url);
  const items = await (await said).args()[0].jsonValue();
  assert.deepEqual(items.map((item) => item < 50).sort(), [false, false, true, true]);
  console.log(`the guide's code chose ${items.join(", ")}`);
} finally {
  await browser.close();
  server.close();
  rmSync(folder, { recursive: true });
}
