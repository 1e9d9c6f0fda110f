/** The journal's file on a disk that gets full: what is not kept is not answered, and what is kept stays readable. */
import type * as fs from "node:fs";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fromDocument } from "shardlab/bson";
import { Mongod } from "shardlab/mongod";
import { request } from "shardlab/protocol";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { DataDirectoryError } from "../../lib/bin/dataDirectory.js";
import { JournalFile } from "../../lib/bin/journalFile.js";

/** Bytes that the disk still takes. */
const disk = vi.hoisted(() => ({ room: Infinity }));
vi.mock("node:fs", async (original) => {
  const real = await original<typeof fs>();
  const writeSync = (file: number, bytes: Uint8Array, at: number, length: number): number => {
    if (disk.room === 0)
      throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
    const taken = real.writeSync(file, bytes, at, Math.min(length, disk.room));
    disk.room -= taken;
    return taken;
  };
  return { ...real, writeSync };
});

let folder: string;
let failures: string[];
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "shardlab-journal-"));
  failures = [];
});
afterEach(() => {
  disk.room = Infinity;
  rmSync(folder, { recursive: true });
});

function open(): { file: JournalFile; mongod: Mongod } {
  const file = new JournalFile(folder, {
    damaged: () => undefined,
    failed: (error) => failures.push(error.message),
  });
  const environment = { now: Date.now, random: Math.random };
  return { file, mongod: new Mongod({ environment, host: "127.0.0.1:27018", storage: file }) };
}

const insert = (mongod: Mongod, _id: number, pad = ""): Promise<unknown> =>
  mongod.run(request("d", { insert: "c", documents: [{ _id, pad }] }));

async function ids(mongod: Mongod): Promise<unknown[]> {
  const { body } = await mongod.run(request("d", { find: "c" }));
  const { cursor } = fromDocument(body) as { cursor: { firstBatch: { _id: number }[] } };
  return cursor.firstBatch.map(({ _id }) => _id);
}

it("nothing is kept behind half a group, even where it would fit", async () => {
  const { file, mongod } = open();
  await insert(mongod, 1);
  expect(file.flush()).toBe(true);
  disk.room = 100;
  await insert(mongod, 2, "x".repeat(1_000));
  expect(file.flush()).toBe(false);
  disk.room = Infinity; // somebody has made room: what follows would be written, and be lost at the next start
  await insert(mongod, 3);
  expect(file.flush()).toBe(false);
  file.close();
  expect(failures).toEqual(["ENOSPC: no space left on device, write"]);
  const again = open();
  expect(await ids(again.mongod)).toEqual([1]);
  again.file.close();
});

it("a full disk at the end is told, not thrown", async () => {
  const { file, mongod } = open();
  await insert(mongod, 1);
  disk.room = 0;
  file.close();
  expect(failures).toHaveLength(1);
});

it("a file that can't be written at the start is an error with its name, and leaves the old one alone", async () => {
  const first = open();
  await insert(first.mongod, 1);
  first.file.close();
  disk.room = 30;
  const started = (): unknown => open();
  expect(started).toThrow(DataDirectoryError);
  expect(started).toThrow(/^FileStreamFailed: Cannot write .*shardlab\.journal: ENOSPC/);
  expect(existsSync(path.join(folder, "shardlab.journal.new"))).toBe(false);
  disk.room = Infinity;
  const again = open();
  expect(await ids(again.mongod)).toEqual([1]);
  again.file.close();
});
