import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { formatEntry, ServerLog } from "../../lib/bin/log.js";
import { newServerLogs } from "../../lib/mongod/serverLogs.js";

const WAITING = {
  c: "NETWORK",
  id: 23016,
  ctx: "listener",
  msg: "Waiting for connections",
  attr: { port: 27017, ssl: "off" },
};
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});
const newFolder = (): string => {
  const folder = mkdtempSync(path.join(tmpdir(), "shardlab-log-"));
  folders.push(folder);
  return folder;
};

describe("a line of the log", () => {
  it("is MongoDB's to the column", () => {
    // A line of a MongoDB 6 on Debian, but for the time.
    expect(formatEntry(WAITING, Date.UTC(2023, 3, 3, 10, 20, 5, 322), true)).toBe(
      '{"t":{"$date":"2023-04-03T10:20:05.322Z"},"s":"I",  "c":"NETWORK",  "id":23016,   "ctx":"listener","msg":"Waiting for connections","attr":{"port":27017,"ssl":"off"}}',
    );
    expect(formatEntry({ s: "E", c: "-", id: 4615611, msg: "x" }, 0, true)).toBe(
      '{"t":{"$date":"1970-01-01T00:00:00.000Z"},"s":"E",  "c":"-",        "id":4615611, "ctx":"-","msg":"x"}',
    );
  });

  it("is JSON, with the offset of this place where it isn't UTC", () => {
    const line = JSON.parse(formatEntry(WAITING, 1_700_000_000_123, false)) as { t: { $date: string } };
    expect(line.t.$date).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.123[+-]\d\d:\d\d$/);
    expect(Date.parse(line.t.$date)).toBe(1_700_000_000_123);
  });
});

describe("the log file", () => {
  it("sets an old file aside, unless it is to go on in it", () => {
    const file = path.join(newFolder(), "mongod.log");
    writeFileSync(file, "old\n");
    const target = { path: file, rotate: "rename", utc: true } as const;
    new ServerLog({ ...target, append: true }, newServerLogs()).write(WAITING);
    expect(readFileSync(file, "utf8")).toMatch(/^old\n\{.*"id":23016/);
    new ServerLog({ ...target, append: false }, newServerLogs()).write(WAITING);
    expect(readFileSync(file, "utf8")).toMatch(/^\{.*"id":23016/);
    expect(readdirSync(path.dirname(file)).filter((name) => /^mongod\.log\.\d{4}-/.test(name))).toHaveLength(
      1,
    );
  });

  it("starts anew when it is told to", () => {
    const file = path.join(newFolder(), "mongod.log");
    const log = new ServerLog({ path: file, append: true, rotate: "rename", utc: true }, newServerLogs());
    log.write(WAITING);
    log.rotate();
    expect(readFileSync(file, "utf8")).toBe("");
    log.write(WAITING);
    expect(readFileSync(file, "utf8").trim().split("\n")).toHaveLength(1);
  });

  it("is kept for getLog as well, warnings of the start twice", () => {
    const logs = newServerLogs();
    const log = new ServerLog(
      { path: path.join(newFolder(), "l"), append: true, rotate: "rename", utc: true },
      logs,
    );
    log.write(WAITING);
    log.write({ ...WAITING, tags: ["startupWarnings"] });
    expect(logs.global.lines()).toHaveLength(2);
    expect(logs.startupWarnings.lines()).toHaveLength(1);
  });
});
