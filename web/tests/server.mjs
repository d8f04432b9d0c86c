// A server of files for tests, and the browser that opens them: what is asked stays on this machine.
import { createReadStream, existsSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { chromium } from "playwright-core";

const kinds = {
  ".css": "text/css",
  ".csv": "text/csv",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/** Serves a folder at a free port; resolves to its address and a function that ends it. */
export const serve = (folder) =>
  new Promise((resolve) => {
    const server = createServer(({ url }, response) => {
      const { pathname } = new URL(url, "http://localhost");
      const file = join(folder, normalize(pathname === "/" ? "/index.html" : decodeURIComponent(pathname)));
      if (!existsSync(file)) return response.writeHead(404).end();
      response.writeHead(200, { "Content-Type": kinds[extname(file)] ?? "application/octet-stream" });
      createReadStream(file).pipe(response);
    });
    server.listen(0, "localhost", () =>
      resolve({ url: `http://localhost:${server.address().port}/`, close: () => server.close() }));
  });

/** Opens Chromium; PDPP_CHROMIUM names another browser than Debian's. */
export const launch = (...args) => chromium.launch({
  executablePath: process.env.PDPP_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", ...args],
});

/** Arguments that make the processor a graphics card. */
export const swiftShader = ["--enable-unsafe-webgpu", "--enable-unsafe-swiftshader", "--use-webgpu-adapter=swiftshader"];

/** A new page in a context of its own; its errors, and requests to other servers, are added to the faults. */
export const newPage = async (browser, url, faults, options = {}) => {
  const context = await browser.newContext({ acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("request", (request) => {
    const asked = request.url();
    if (!asked.startsWith(url) && !asked.startsWith("blob:")) faults.push(`a request to ${asked}`);
  });
  return page;
};

/** Notes the moment at which ten images are there. */
export const noteFirstSet = () => {
  const observer = new MutationObserver(() => {
    if (document.querySelectorAll("#images canvas").length !== 10) return;
    window.firstSet = performance.now();
    observer.disconnect();
  });
  observer.observe(document, { childList: true, subtree: true });
};
