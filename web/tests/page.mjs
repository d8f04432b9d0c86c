// Opens the page of target/web in Chromium, and does what a user does. Pictures go to the folder that PDPP_SHOTS names.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import init, { Items } from "../../target/npm/partition_dpp.js";
import { data, path } from "./data.mjs";
import { launch, newPage, noteFirstSet, serve, swiftShader } from "./server.mjs";
import { chosen, labelsCsv, manyRows, openFiles, press, refused, said, settled, stop, text, until } from "./files.mjs";

const server = await serve(path("target/web"));
const browser = await launch();
const faults = [];
await init({ module_or_path: readFileSync(path("target/npm/partition_dpp_bg.wasm")) });

/** Opens the page; `prepare` runs before it does. */
const open = async ({ prepare = noteFirstSet, from = browser, ...options } = {}) => {
  const page = await newPage(from, server.url, faults, options);
  await page.addInitScript(prepare);
  await page.goto(server.url);
  await settled(page);
  return page;
};

const tests = {
  async "opens with ten digits"(page) {
    assert.equal(await page.locator("#images canvas").count(), 10);
    assert.equal(await page.locator("#compare tbody tr").count(), 3);
    assert.match(await said(page, "compare"), /Drawn set\d+\.\d %/);
    const first = await page.evaluate(() => window.firstSet);
    console.log(`    the first set after ${Math.round(first)} ms`);
    assert.ok(first < 2000);
  },

  async "draws again, and the same set with the same seed"(page) {
    const first = await chosen(page);
    await press(page, "draw");
    const second = await chosen(page);
    assert.notDeepEqual(second, first);
    await page.fill("#seed", "0");
    await page.press("#seed", "Enter");
    await settled(page);
    assert.deepEqual(await chosen(page), first);
  },

  async "draws what the module draws"(page) {
    const drawn = ({ values, dims, labels }, question) =>
      new Items(values, dims, labels).select(question).items.map(String);
    assert.deepEqual(await chosen(page), drawn(data.digits, { k: 10, quota: "equal" }));
    await openFiles(page, path("docs/data/articles-embeddings.csv"));
    await page.fill("#k", "6");
    await page.press("#k", "Enter");
    await settled(page);
    // Tables are brought to a common scale, and compared by distance.
    const { values, dims } = data.articles;
    const column = (at) => values.filter((_, place) => place % dims === at % dims);
    const mean = (list) => list.reduce((sum, value) => sum + value, 0) / list.length;
    const spread = (list) => Math.sqrt(mean(list.map((value) => (value - mean(list)) ** 2)));
    const scaled = values.map((value, at) => (value - mean(column(at))) / spread(column(at)));
    assert.deepEqual(await chosen(page), drawn({ values: scaled, dims }, { k: 6, similarity: "rbf" }));
  },

  async "shows the gap of a best set, and the other sets"(page) {
    await press(page, "best");
    assert.match(await said(page, "bound"), /at most [\d.−]+; gap [\d.]+|proven optimal/);
    const best = await chosen(page);
    await page.check("#compare input[value=medoids]");
    assert.equal(await said(page, "set-title"), "Medoids");
    assert.notDeepEqual(await chosen(page), best);
    assert.match(await page.getAttribute("#map", "aria-label"), /10 items of the medoids/);
  },

  async "takes a quota by class"(page) {
    await page.selectOption("#quota", "table");
    for (const cell of await page.$$("#quota-rows input")) await cell.fill("0");
    for (const cell of await page.$$("#quota-rows tr:nth-child(4) input")) await cell.fill("3");
    await page.press("#quota-rows tr:nth-child(4) input", "Tab");
    await settled(page);
    assert.deepEqual(await page.$$eval("figcaption strong", (labels) => labels.map((label) => label.textContent)),
      ["3", "3", "3"]);
    await page.fill("#quota-rows tr:nth-child(4) input", "500");
    await page.press("#quota-rows tr:nth-child(4) input", "Tab");
    await settled(page);
    assert.match(await said(page, "problem"), /part 3/);
  },

  async "downloads the chosen rows"(page) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#download")]);
    const lines = readFileSync(await download.path(), "utf8").trim().split("\n");
    assert.equal(lines[0], "row,class");
    assert.deepEqual(lines.slice(1).map((line) => line.split(",")[0]), await chosen(page));
  },

  async "reads a .csv file"(page) {
    await openFiles(page, path("docs/data/households.csv"));
    assert.equal(await said(page, "problem"), "");
    assert.match(await said(page, "data-name"), /households\.csv/);
    assert.equal(await page.$eval("#label-column", (choice) => choice.selectedOptions[0].text), "region");
    assert.equal(await page.$eval("#id-column", (choice) => choice.selectedOptions[0].text), "id");
    assert.match(await said(page, "columns-summary"), /5 numbers/);
    assert.ok((await chosen(page)).length > 0);
    assert.equal(await page.isHidden("#images"), true);
  },

  async "takes a file that is dropped, and no gaps as features"(page) {
    const drop = (content) => page.evaluate((text) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([text], "dropped.csv"));
      document.dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true }));
    }, content);
    await drop("name,n,x,y\na,,1,2\nb,7,3,1\nc,8,0,4\n");
    await settled(page);
    assert.match(await said(page, "data-name"), /dropped\.csv, 3 rows/);
    await page.click("#columns-summary");
    assert.match(await said(page, "notes"), /row 0, column 1 \(line 2\): the cell is empty. Column 'n' is left out/);
    await page.click("#features input.gaps");
    await settled(page);
    assert.match(await said(page, "problem"), /row 0, column 1 \(line 2\): the cell is empty/);
    assert.equal(await page.isChecked("#features input.gaps"), false);
    await press(page, "all-features");
    assert.match(await said(page, "problem"), /no features are chosen/);
  },

  async "weighs scores"(page) {
    await openFiles(page, path("docs/data/candidates.parquet"));
    await page.locator("#columns-summary").click();
    await page.selectOption("#score-column", { label: "score" });
    await settled(page);
    assert.equal(await page.isVisible("#diversity"), true);
    const balanced = await chosen(page);
    await page.fill("#diversity", "0.05");
    await settled(page);
    assert.notDeepEqual(await chosen(page), balanced);
    assert.equal(await said(page, "problem"), "");
  },

  async "reads .parquet files"(page) {
    for (const name of ["photos", "candidates", "passages", "stations", "blobs"]) {
      await openFiles(page, path(`docs/data/${name}.parquet`));
      assert.equal(await said(page, "problem"), "");
      assert.match(await said(page, "data-name"), new RegExp(name));
      assert.ok((await chosen(page)).length > 0, name);
    }
  },

  async "refuses wrong files with a sentence"(page) {
    const before = await chosen(page);
    const wrong = (name) => refused(page, path(`docs/data/wrong/${name}`));
    assert.match(await wrong("ragged.csv"), /ragged\.csv: row 1 \(line 3\) has 1 cell; the first line has 2/);
    assert.match(await wrong("sets.json"), /sets\.json: unknown file format; \.npy, \.csv and \.parquet are supported/);
    assert.match(await refused(page, text("a.npy", "no array")), /a\.npy: not a \.npy file/);
    assert.match(await refused(page, text("a.parquet", "no table at all")), /a\.parquet: this is not a \.parquet file/);
    assert.match(await refused(page, text("semicolons.csv", "a;b\n1;2\n")), /'1;2' is not a number; separate cells by/);
    assert.match(await refused(page, text("blank.csv", "a,b\n1,2\n\n3,4\n")), /line 3 is blank/);
    assert.deepEqual(await chosen(page), before);
    await openFiles(page, path("docs/data/wrong/text.csv"));
    assert.match(await said(page, "notes"), /row 1, column 1 \(line 3\): 'one' is not a number/);
  },

  async "takes 20 000 rows of 64 numbers, and stops at once"(page) {
    await openFiles(page, manyRows(20_000, 64), labelsCsv(20_000, 10));
    assert.equal(await said(page, "problem"), "");
    await page.fill("#k", "20");
    await page.press("#k", "Tab");
    await settled(page);
    assert.equal((await chosen(page)).length, 20);
    console.log(`    ${await said(page, "status")}`);
    await page.click("#find-medoids");
    await page.waitForTimeout(300);
    await stop(page);
    await press(page, "draw");
    assert.equal((await chosen(page)).length, 20);
  },

  async "is used by keyboard alone"(page) {
    const focused = () => page.evaluate(() => document.activeElement.id);
    const reach = async (id) => {
      for (let step = 0; step < 60 && (await focused()) !== id; step += 1) await page.keyboard.press("Tab");
      assert.equal(await focused(), id);
    };
    const first = await chosen(page);
    await reach("k");
    await page.keyboard.press("Control+A");
    await page.keyboard.type("20");
    await reach("draw");
    await page.keyboard.press("Enter");
    await settled(page);
    assert.equal(await focused(), "draw");
    const second = await chosen(page);
    assert.equal(second.length, 20);
    assert.notDeepEqual(second, first);
    await reach("best");
    await page.keyboard.press("Space");
    await settled(page);
    assert.match(await said(page, "bound"), /gap|optimal/);
  },

  async "measures the processor, and gives the reason if there is no WebGPU"() {
    const page = await open({ prepare: () => delete Navigator.prototype.gpu });
    assert.equal(await page.isDisabled("#card"), true);
    assert.equal(await said(page, "card-status"), "No graphics card: this browser has no WebGPU.");
    await press(page, "benchmark");
    const report = await said(page, "report");
    assert.match(report, /browser .*\ncores .*\nrows .*\n\nprocessor\nload .*\ndraw .* again .*\nbest set .* again .*\n/);
    assert.match(report, /\nno graphics card: this browser has no WebGPU$/);
    console.log(report.replace(/^/gm, "    "));
    await page.context().close();
  },

  async "leaves the card alone without JSPI or the module"(page) {
    await page.route("**/partition_dpp_gpu.js", (route) => route.fulfill({ contentType: "text/javascript", body: "" }));
    await press(page, "card");
    assert.equal(await page.isChecked("#card"), false);
    assert.equal(await said(page, "card-status"), "No graphics card: the module for graphics cards cannot be loaded.");
    const other = await open({ prepare: () => delete WebAssembly.Suspending });
    assert.equal(await other.isDisabled("#card"), true);
    assert.equal(await said(other, "card-status"), "No graphics card: this browser cannot wait for WebGPU.");
    await other.context().close();
  },

  async "asks the graphics card the same"() {
    if (!existsSync(path("target/web/partition_dpp_gpu.js"))) return console.log("    SKIPPED: there is no module for it");
    const from = await launch(...swiftShader);
    const page = await open({ from });
    const both = async (note) => {
      assert.match(await said(page, "card-time"), /^, graphics card \d+\.\d+\ss$/);
      assert.match(await said(page, "card-status"), note);
      console.log(`    processor ${await said(page, "cpu-time")}${await said(page, "card-time")}`);
    };
    await press(page, "card");
    await both(/same distribution.*\(law error \de-\d+\)/);
    await page.selectOption("#similarity", "dot");
    await settled(page);
    await both(/same distribution/);
    await press(page, "best");
    await both(/found the same set\.$/);
    const isAtWork = () => until(page, "card-status", "The graphics card is at work …");
    await page.click("#best");
    assert.equal(await said(page, "card-time"), "");
    await isAtWork();
    await stop(page);
    await press(page, "draw");
    await both(/same distribution/);
    await page.click("#best");
    await isAtWork();
    const told = await page.evaluateHandle(() => {
      const status = document.getElementById("card-status");
      const told = [];
      new MutationObserver(() => told.push(status.textContent)).observe(status, { childList: true });
      return told;
    });
    await press(page, "draw");
    await both(/same distribution/);
    assert.ok((await told.jsonValue()).every((sentence) => !/found/.test(sentence)), "an old answer");
    await page.click("#benchmark");
    await until(page, "benchmark-status", "The benchmark runs on the graphics card …");
    await stop(page);
    await from.close();
  },
};

/** Pictures in both themes and at three widths; nothing is wider than the page. */
const pictures = async () => {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [360, 800, 1400]) {
      const page = await open({ colorScheme, viewport: { width, height: 900 } });
      const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(excess <= 0, `the page is ${excess} px wider than ${width}`);
      const folder = process.env.PDPP_SHOTS;
      if (folder) await page.screenshot({ path: join(folder, `${colorScheme}-${width}.png`), fullPage: true });
      await page.context().close();
    }
  }
};

for (const [name, test] of Object.entries({ ...tests, "fits three widths in both themes": pictures })) {
  if (process.argv[2] && !name.includes(process.argv[2])) continue;
  console.log(name);
  const page = test === pictures ? undefined : await open();
  await test(page);
  await page?.context().close();
}
assert.deepEqual(faults, [], "the console has errors");
await browser.close();
server.close();
