import { Double, Long } from "bson";
import { describe, expect, it } from "vitest";
import type { Environment } from "../../lib/protocol/index.js";
import { TestMongod } from "./support.js";

const MINUTE = 60_000;

/** The clock's time, `minutes` from now, as a document's date. */
const date = (t: TestMongod, minutes: number): Date => new Date(t.environment.time + minutes * MINUTE);
const ids = async (t: TestMongod): Promise<unknown[]> =>
  (await t.find("c", {}, { sort: { _id: 1 } })).map(({ _id }) => _id);

describe("a TTL index", () => {
  it("lets documents expire with the first pass after their time", async () => {
    const t = new TestMongod();
    await t.createIndex("c", { at: 1 }, { expireAfterSeconds: 600 });
    await t.insert("c", { _id: 1, at: date(t, 0) }, { _id: 2, at: date(t, 5) });
    t.environment.time += 10 * MINUTE - 1;
    expect(await ids(t)).toEqual([1, 2]);
    t.environment.time += 1;
    // Its time has come, the pass has not: MongoDB's documents outlive themselves by up to a minute, too.
    expect(await ids(t)).toEqual([1, 2]);
    t.environment.time += MINUTE;
    expect(await ids(t)).toEqual([2]);
    t.environment.time += 5 * MINUTE;
    expect(await ids(t)).toEqual([]);
    expect((await t.run({ validate: "c" }))["valid"]).toBe(true);
  });

  it("goes by the earliest date of an array, and by dates only", async () => {
    const t = new TestMongod();
    await t.createIndex("c", { at: 1 }, { expireAfterSeconds: 0 });
    const past = date(t, -1);
    await t.insert(
      "c",
      { _id: "earliest", at: [date(t, 50), past] },
      { _id: "later", at: [date(t, 50), date(t, 60)] },
      { _id: "mixed", at: ["x", past] },
      { _id: "before 1970", at: new Date(-1) },
      { _id: "missing" },
      { _id: "null", at: null },
      { _id: "text", at: past.toISOString() },
      { _id: "number", at: 5 },
      { _id: "embedded", at: { date: past } },
      { _id: "empty", at: [] },
    );
    t.environment.time += MINUTE;
    expect(await ids(t)).toEqual(["embedded", "empty", "later", "missing", "null", "number", "text"]);
  });

  it("may be descending, partial, unique; a hashed one expires nothing", async () => {
    const t = new TestMongod();
    await t.createIndex("c", { at: -1 }, { expireAfterSeconds: 60, partialFilterExpression: { done: true } });
    await t.createIndex("d", { at: "hashed" }, { expireAfterSeconds: 60 });
    const at = date(t, 0);
    await t.insert(
      "c",
      { _id: 1, at, done: true },
      { _id: 2, at, done: false },
      { _id: 3, at: date(t, 9), done: true },
    );
    await t.insert("d", { _id: 1, at });
    t.environment.time += 5 * MINUTE;
    expect(await ids(t)).toEqual([2, 3]);
    expect(await t.find("d")).toHaveLength(1);
    const { ttl } = (await t.run({ serverStatus: 1 }))["metrics"];
    expect(ttl).toMatchObject({ deletedDocuments: 1, deletedKeys: 2, invalidTTLIndexSkips: 1 });
  });

  it("expires nothing in a copy that a resharding makes, before it has the collection's name", async () => {
    const t = new TestMongod();
    const copy = "system.resharding.1";
    await t.createIndex(copy, { at: 1 }, { expireAfterSeconds: 0 });
    await t.insert(copy, { _id: 1, at: date(t, -1) });
    t.environment.time += MINUTE;
    expect(await t.find(copy)).toHaveLength(1);
    await t.run({ renameCollection: `library.${copy}`, to: "library.c" }, "admin");
    t.environment.time += MINUTE;
    expect(await ids(t)).toEqual([]);
  });

  it("can be given a new time, made of a plain index, and be switched off", async () => {
    const t = new TestMongod();
    await t.createIndex("c", { at: 1 }, { expireAfterSeconds: 600 });
    await t.createIndex("c", { other: 1 });
    await t.insert("c", { _id: 1, at: date(t, 0) }, { _id: 2, other: date(t, 0) });
    await t.run({ collMod: "c", index: { name: "at_1", expireAfterSeconds: 60 } });
    await t.run({ collMod: "c", index: { keyPattern: { other: 1 }, expireAfterSeconds: 60 } });
    await t.run({ setParameter: 1, ttlMonitorEnabled: false }, "admin");
    t.environment.time += 2 * MINUTE;
    expect(await ids(t)).toEqual([1, 2]);
    await t.run({ setParameter: 1, ttlMonitorEnabled: true }, "admin");
    await t.run({ setParameter: 1, ttlMonitorSleepSecs: 1 }, "admin");
    t.environment.time += 1000;
    expect(await ids(t)).toEqual([]);
  });

  it("ends what a resting cursor has not come to yet", async () => {
    const t = new TestMongod();
    await t.createIndex("c", { at: 1 }, { expireAfterSeconds: 60 });
    for (let i = 0; i < 10; i++) await t.insert("c", { _id: i, at: date(t, i < 5 ? 0 : 100) });
    const { cursor } = await t.run({ find: "c", batchSize: 2 });
    t.environment.time += 2 * MINUTE;
    const next = await t.run({ getMore: BigInt(cursor.id), collection: "c" });
    expect(next["cursor"].nextBatch.map(({ _id }: { _id: number }) => _id)).toEqual([5, 6, 7, 8, 9]);
  });

  it("expires also while nobody asks where the host has a timer, until the mongod is closed", async () => {
    const timers = new Set<{ callback: () => void; at: number }>();
    let time = 0;
    const environment: Environment = {
      now: () => time,
      random: Math.random,
      setTimer: (callback, milliseconds) => {
        const timer = { callback, at: time + milliseconds };
        timers.add(timer);
        return () => timers.delete(timer);
      },
    };
    const t = new TestMongod({ environment });
    await t.createIndex("c", { at: 1 }, { expireAfterSeconds: 30 });
    await t.insert("c", { _id: 1, at: new Date(0) });
    for (time = 0; time <= 2 * MINUTE; time += 1000) {
      for (const timer of timers) {
        if (timer.at > time) continue;
        timers.delete(timer);
        timer.callback();
      }
    }
    time = 0;
    expect(await t.find("c")).toEqual([]);
    expect(timers.size).toBe(1);
    t.mongod.close();
    expect(timers.size).toBe(0);
  });

  it.each([
    [
      "of several fields",
      { key: { a: 1, b: 1 }, expireAfterSeconds: 5 },
      "TTL indexes are single-field indexes",
    ],
    [
      "with a time that is text",
      { key: { a: 1 }, expireAfterSeconds: "5" },
      "must be numeric, but received a type of 'string'",
    ],
    ["with no number", { key: { a: 1 }, expireAfterSeconds: new Double(NaN) }, "must not be NaN"],
    ["with a negative time", { key: { a: 1 }, expireAfterSeconds: -1 }, "cannot be less than 0"],
    [
      "with too long a time",
      { key: { a: 1 }, expireAfterSeconds: Long.fromNumber(2 ** 31) },
      "must be within the range of a 32-bit integer",
    ],
  ])("%s is refused (67)", async (_, index, text) => {
    const t = new TestMongod();
    const reply = await t.reply({ createIndexes: "c", indexes: [{ ...index, name: "x" }] });
    expect(reply).toMatchObject({ ok: 0, code: 67, errmsg: expect.stringContaining(text) });
    expect(await t.all({ listCollections: 1 })).toEqual([]);
  });

  it("on _id is refused (197), and 2^31 − 1 seconds are not too many", async () => {
    const t = new TestMongod();
    expect(
      await t.reply({
        createIndexes: "c",
        indexes: [{ key: { _id: 1 }, name: "_id_", expireAfterSeconds: 5 }],
      }),
    ).toMatchObject({ code: 197 });
    expect(await t.createIndex("c", { a: 1 }, { expireAfterSeconds: 2147483647 })).toMatchObject({ ok: 1 });
    await t.insert("c", { _id: 1, a: new Date(-8.64e15) });
    t.environment.time += MINUTE;
    expect(await ids(t)).toEqual([]);
  });
});
