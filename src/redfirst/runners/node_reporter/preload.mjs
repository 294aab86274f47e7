// SPDX-License-Identifier: Apache-2.0
// Notes the error that ends a test file's process, which Node's runner reports only as a status.
import { appendFileSync } from "node:fs";

const path = process.env.REDFIRST_NODE_ERRORS;

function describe(error, depth) {
  if (error === undefined || error === null || depth === 8) return null;
  if (typeof error !== "object") return { name: typeof error, message: String(error) };
  const record = { name: String(error.name), message: String(error.message) };
  for (const field of ["code", "syscall", "stack"]) {
    if (error[field] !== undefined) record[field] = String(error[field]).slice(0, 20000);
  }
  record.cause = describe(error.cause, depth + 1);
  return record;
}

if (path && process.env.NODE_TEST_CONTEXT) {
  const file = process.argv[1];
  process.on("uncaughtExceptionMonitor", (error) => {
    try {
      appendFileSync(path, `${JSON.stringify({ file, error: describe(error, 0) })}\n`);
    } catch {
      // The status of the process still tells that it failed.
    }
  });
}
