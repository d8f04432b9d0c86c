import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { create } from "webgpu";

// Kept until the end: the device dies with it.
const gpu = create(["backend=null"]);
const device = await (await gpu.requestAdapter()).requestDevice();
const folder = process.argv[2];
const PLANTED = 3;
let [accepted, noticed, wrong] = [0, 0, 0];

for (const file of readdirSync(folder).filter((file) => file.endsWith(".wgsl")).sort()) {
  device.pushErrorScope("validation");
  const module = device.createShaderModule({ code: readFileSync(join(folder, file), "utf8") });
  const { messages } = await module.getCompilationInfo();
  await device.popErrorScope();
  const errors = messages.filter(({ type }) => type === "error");
  if (file.startsWith("planted_")) {
    noticed += errors.length > 0;
  } else if (errors.length > 0) {
    wrong += 1;
    errors.forEach(({ lineNum, linePos, message }) => console.log(`FAILED: ${file}:${lineNum}:${linePos}: ${message}`));
  } else {
    accepted += 1;
  }
}
console.log(`${accepted} shaders are valid WGSL, ${wrong} are not; ${noticed} of ${PLANTED} planted faults noticed`);
process.exit(wrong > 0 || accepted === 0 || noticed < PLANTED ? 1 : 0);
