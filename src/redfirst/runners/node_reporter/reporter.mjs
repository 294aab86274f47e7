// SPDX-License-Identifier: Apache-2.0
// Sends the test stream of Node's runner to the report pipe, one signed JSON record a line.
//
// It runs in the process that starts the test files, never in the one that holds their code. Standard
// input's first line is the key: each record is signed together with its number, so that a line from anyone
// else who finds the pipe is seen.
import { createHmac } from "node:crypto";
import { mkdtempSync, readFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const WANTED = new Set(["test:start", "test:dequeue", "test:pass", "test:fail", "test:summary"]);
const DEPTH = 8;

const key = readFileSync(0, "utf8").split("\n")[0];
const pipe = Number(process.env.REDFIRST_REPORT_FD);
const errors = join(mkdtempSync(join(tmpdir(), "redfirst-")), "errors.jsonl");
delete process.env.REDFIRST_REPORT_FD;
process.env.REDFIRST_NODE_ERRORS = errors;

let number = 0;

function send(record) {
  const text = JSON.stringify(record);
  const sign = createHmac("sha256", key).update(`${number} ${text}`).digest("hex");
  number += 1;
  const bytes = Buffer.from(`${sign} ${text}\n`);
  let done = 0;
  while (done < bytes.length) {
    try {
      done += writeSync(pipe, bytes, done);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

function text(value) {
  try {
    return String(value).slice(0, 20000);
  } catch {
    return "";
  }
}

function describe(error, depth) {
  if (error === undefined || error === null || depth === DEPTH) return null;
  if (typeof error !== "object") return { name: typeof error, message: text(error) };
  const record = { name: text(error.name ?? "object"), message: text(error.message ?? "") };
  for (const field of ["code", "syscall", "failureType", "stack", "exitCode", "signal"]) {
    if (error[field] !== undefined && error[field] !== null) record[field] = text(error[field]);
  }
  record.cause = describe(error.cause, depth + 1);
  if (Array.isArray(error.errors)) record.errors = error.errors.slice(0, 10).map((one) => describe(one, depth + 1));
  return record;
}

function loadErrors() {
  try {
    return readFileSync(errors, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
  } catch {
    return [];
  }
}

send({ type: "begin", version: process.version });

export default async function* report(source) {
  for await (const event of source) {
    if (!WANTED.has(event.type)) continue;
    const { name, nesting, file, line, column, skip, todo, details = {} } = event.data;
    send({
      type: event.type.slice(5),
      name,
      nesting,
      file,
      line,
      column,
      skip,
      todo,
      kind: details.type,
      seconds: (details.duration_ms ?? 0) / 1000,
      error: describe(details.error, 0),
    });
  }
  for (const record of loadErrors()) send({ type: "uncaught", ...record });
  send({ type: "end" });
  yield "";
}
