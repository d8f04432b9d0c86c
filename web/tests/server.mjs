// A server of files for tests: what is asked of it stays on this machine.
import { createReadStream, existsSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

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
