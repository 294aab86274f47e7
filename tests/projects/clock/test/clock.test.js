import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it, test } from "node:test";

import * as clock from "../src/clock.js";

const { minutes } = clock;

test("reads a time", () => {
  assert.equal(minutes("10:30"), 630);
});

test("claims too much", () => {
  assert.equal(minutes("10:30"), 0);
});

test("no time at all", () => {
  minutes("noon");
});

test("an unknown name", () => {
  nowhere();
});

test("a name the module lacks", () => {
  clock.seconds("10:30:00");
});

test("throws itself", () => {
  throw new Error("not the source's");
});

test("imports what is not there", async () => {
  await import("a-package-nobody-installed");
});

test("imports its own that is not there", async () => {
  await import("../src/nothing.js");
});

test("evaluates nonsense", () => {
  new Function("return (");
});

test("a full disk in the cause", () => {
  throw new Error("cannot save", { cause: Object.assign(new Error("full"), { code: "ENOSPC" }) });
});

test("text that looks like a frame", () => {
  throw new RangeError(`odd\n    at fake (file://${process.cwd()}/src/clock.js:1:1)`);
});

test("skipped", { skip: "not today" }, () => {});

test("to do", { todo: true }, () => {
  assert.fail("later");
});

test("leaves", async () => {
  await 0;
  process.exit(0);
});

test("waits too long", { timeout: 30 }, async () => {
  await new Promise((resolve) => setTimeout(resolve, 300));
});

test("has parts", async (t) => {
  await t.test("good part", () => {});
  await t.test("bad part", () => assert.ok(false));
});

describe("a group", () => {
  it("inside", () => assert.equal(minutes("00:01"), 1));
  describe("deeper", () => {
    it("further inside", () => assert.equal(minutes("00:02"), 2));
  });
});

describe("set-up breaks", () => {
  beforeEach(() => {
    throw new Error("no set-up");
  });
  it("needs set-up", () => {});
});

describe("tear-down breaks", () => {
  afterEach(() => {
    throw new Error("no tear-down");
  });
  it("needs tear-down", () => {});
});

describe("group set-up breaks", () => {
  before(() => {
    throw new Error("no group set-up");
  });
  it("needs the group", () => {});
});

describe("group tear-down breaks", () => {
  after(() => {
    throw new Error("no group tear-down");
  });
  it("leaves the group", () => {});
});

describe.skip("a skipped group", () => {
  it("never runs", () => {});
});
