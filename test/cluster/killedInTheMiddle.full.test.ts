/**
 * kill -9 in the middle: a shard, the config server or the router dies while a chunk moves, a collection is resharded, a
 * balancer round runs or documents change their key's value, and a driver writes all the while. It is started again;
 * then every acknowledged write is there exactly once, and the catalog has nothing to complain about.
 *
 * The programs are `lib/bin/mongod` and `lib/bin/mongos`. Which moment it is follows from the seed, as far as the
 * machine's speed lets it: SHARDLAB_SEED repeats a run, SHARDLAB_KILLS makes it longer.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Collection, Db, Document } from "mongodb";
import { MaxKey, MinKey, MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, it } from "vitest";
import { seeded } from "../router/support/cluster.js";
import type { Program } from "./processes.js";
import { root, startProgram } from "./processes.js";

type Name = "cfg" | "shardA" | "shardB" | "router";

interface Item {
  _id: number;
  /** The shard key, at first. */
  k: number;
  /** The shard key after a resharding. */
  j: number;
  /** Counts this document's acknowledged updates. */
  n: number;
}

const SEED = Number(process.env["SHARDLAB_SEED"] ?? Date.now() % 1_000_000);
const KILLS = Number(process.env["SHARDLAB_KILLS"] ?? 16);
const VICTIMS: readonly Name[] = ["shardA", "shardB", "cfg", "router"];
const WRITERS = 4;
/** Keys are from 0 to here. */
const KEYS = 1_000;

const random = seeded(SEED);
const below = (n: number): number => Math.floor(random() * n);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const folder = mkdtempSync(path.join(tmpdir(), "shardlab-killed-"));
const programs = new Map<Name, Program>();
const ports = new Map<Name, number>();
let client: MongoClient;
let once: MongoClient;
let admin: Db;
let items: Collection<Item>;
let counted: Collection<Item>;

async function start(name: Name): Promise<void> {
  const port = ["--port", String(ports.get(name) ?? 0)];
  const directory = path.join(folder, name);
  mkdirSync(directory, { recursive: true });
  const role = name === "cfg" ? "--configsvr" : "--shardsvr";
  const program =
    name === "router"
      ? startProgram(path.join(root, "lib/bin/mongos"), ["--configdb", set("cfg"), ...port], ENV)
      : startProgram(
          path.join(root, "lib/bin/mongod"),
          [role, "--replSet", name, "--dbpath", directory, ...port],
          ENV,
        );
  programs.set(name, program);
  for (let text = await program.line(); text !== undefined; text = await program.line()) {
    const { id, attr } = JSON.parse(text) as { id: number; attr?: { port: number } };
    if (id !== 23016 || !attr) continue;
    ports.set(name, attr.port);
    return;
  }
  throw new Error(`${name} has not started: ${program.stderr()}`);
}

const ENV = { SHARDLAB_NODE: process.execPath };
const address = (name: Name): string => `127.0.0.1:${ports.get(name)}`;
const set = (name: Name): string => `${name}/${address(name)}`;

async function kill(name: Name): Promise<void> {
  const program = programs.get(name);
  program?.child.kill("SIGKILL");
  await program?.ended;
}

async function initiate(name: Name): Promise<void> {
  const direct = await new MongoClient(`mongodb://${address(name)}/?directConnection=true`).connect();
  const config = { _id: name, configsvr: name === "cfg", members: [{ _id: 0, host: address(name) }] };
  await direct.db("admin").command({ replSetInitiate: config });
  await direct.close();
}

beforeAll(async () => {
  await Promise.all([start("cfg"), start("shardA"), start("shardB")]);
  await Promise.all([initiate("cfg"), initiate("shardA"), initiate("shardB")]);
  await start("router");
  // Key values change in retryable writes only.
  client = new MongoClient(`mongodb://${address("router")}/`);
  // Each attempt to count is seen: the router that would know a repetition may be the one that died.
  once = new MongoClient(`mongodb://${address("router")}/?retryWrites=false`);
  counted = once.db("shop").collection<Item>("items");
  admin = client.db("admin");
  items = client.db("shop").collection<Item>("items");
  for (const shard of ["shardA", "shardB"] as const) await admin.command({ addShard: set(shard) });
  await admin.command({ enableSharding: "shop", primaryShard: "shardA" });
  await admin.command({ shardCollection: "shop.items", key: { k: 1 } });
  for (let k = 100; k < KEYS; k += 100) await admin.command({ split: "shop.items", middle: { k } });
  await items.createIndex({ j: 1 });
});
afterAll(async () => {
  await client?.close();
  await once?.close();
  for (const name of programs.keys()) await kill(name);
  rmSync(folder, { recursive: true });
});

/** What is known of a document: its acknowledged updates, and those nobody knows of. */
interface Known {
  isSure: boolean;
  updates: number;
  maybe: number;
  isDeleted: false | "sure" | "maybe";
}

const known = new Map<number, Known>();
let lastId = 0;

/** Writes until it is told to stop. Each writer has documents of its own. */
async function write(writer: number, isOver: () => boolean): Promise<void> {
  const mine = [...known].filter(([_id, { isDeleted }]) => _id % WRITERS === writer && !isDeleted);
  while (!isOver()) {
    const [_id, item] = mine[below(mine.length)] ?? [0, undefined];
    const what = item && !item.isDeleted ? below(10) : 0;
    try {
      if (what < 4 || !item) {
        const id = ++lastId * WRITERS + writer;
        const fresh: Known = { isSure: false, updates: 0, maybe: 0, isDeleted: false };
        known.set(id, fresh);
        mine.push([id, fresh]);
        await items.insertOne({ _id: id, k: below(KEYS), j: below(KEYS), n: 0 });
        fresh.isSure = true;
      } else if (what === 4) {
        item.isDeleted = "maybe";
        await items.deleteOne({ _id });
        item.isDeleted = "sure";
      } else {
        if (what < 7) await move(_id, item);
        else await count(_id, item);
      }
    } catch (error) {
      if (error instanceof Error && error.name === "AssertionError") throw error;
      await pause(20);
    }
  }
}

/** Gives a document other key values: half of the time it goes to another shard, by the first key or by the second. */
async function move(_id: number, item: Known): Promise<void> {
  const { matchedCount } = await items.updateOne({ _id }, { $set: { k: below(KEYS), j: below(KEYS) } });
  if (item.isSure) expect(matchedCount, `_id ${_id} was not found`).toBe(1);
}

/** Counts one more update in a document. */
async function count(_id: number, item: Known): Promise<void> {
  item.maybe++;
  const { matchedCount } = await counted.updateOne({ _id }, { $inc: { n: 1 } });
  item.maybe--;
  item.updates += matchedCount;
  if (item.isSure) expect(matchedCount, `_id ${_id} was not found`).toBe(1);
}

const OPERATIONS: Record<string, () => Promise<unknown>> = {
  moveChunk: async () => {
    const key = await keyName();
    const to = below(2) === 0 ? "shardA" : "shardB";
    await admin.command({ moveChunk: "shop.items", find: { [key]: below(KEYS) }, to });
  },
  reshardCollection: async () => {
    const key = (await keyName()) === "k" ? "j" : "k";
    await admin.command({ reshardCollection: "shop.items", key: { [key]: 1 }, numInitialChunks: 6 });
  },
  balancerRound: async () => {
    await admin.command({ addShardToZone: below(2) === 0 ? "shardA" : "shardB", zone: "all" });
    await setZone(await keyName(), "all");
    for (let round = 0; round < 5; round++) await admin.command({ balancerRound: 1 });
  },
  "key values change": () => pause(200),
};

async function setZone(key: string, zone: string | null): Promise<void> {
  const range = { min: { [key]: new MinKey() }, max: { [key]: new MaxKey() } };
  await admin.command({ updateZoneKeyRange: "shop.items", ...range, zone });
}

/** Nothing is to be in its zone any more. */
async function withoutZone(): Promise<void> {
  await setZone(await keyName(), null);
  for (const shard of ["shardA", "shardB"]) await admin.command({ removeShardFromZone: shard, zone: "all" });
}

async function keyName(): Promise<"k" | "j"> {
  const entry = await client
    .db("config")
    .collection<Document & { _id: string }>("collections")
    .findOne({ _id: "shop.items" });
  return Object.keys(entry!["key"] as Document)[0] as "k" | "j";
}

async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let left = 100; ; left--) {
    try {
      return await work();
    } catch (error) {
      if (left === 0) throw error;
      await pause(50);
    }
  }
}

async function checkEverything(): Promise<void> {
  const found = await patiently(() => items.find().toArray());
  const times = new Map<number, Item[]>();
  for (const item of found) times.set(item._id, [...(times.get(item._id) ?? []), item]);
  expect(
    [...times].filter(([, all]) => all.length > 1),
    "twice",
  ).toEqual([]);
  for (const [_id, { isSure, updates, maybe, isDeleted }] of known) {
    const item = times.get(_id)?.[0];
    if (!item) expect([_id, isSure && !isDeleted], "lost").toEqual([_id, false]);
    else {
      expect([_id, isDeleted], "is there again").not.toEqual([_id, "sure"]);
      expect(item.n, `updates of ${_id}`).toBeGreaterThanOrEqual(updates);
      expect(item.n, `updates of ${_id}`).toBeLessThanOrEqual(updates + maybe);
    }
    // From here on it is known.
    if (item) Object.assign(known.get(_id)!, { isSure: true, updates: item.n, maybe: 0, isDeleted: false });
    else known.delete(_id);
  }
  const inconsistencies = await client.db("shop").command({ checkMetadataConsistency: 1 });
  expect(inconsistencies["cursor"]).toMatchObject({ firstBatch: [] });
  for (const { _id } of found.slice(0, 20)) expect(await items.countDocuments({ _id })).toBe(1);
}

it(`every acknowledged write is there exactly once (seed ${SEED})`, async () => {
  const names = Object.keys(OPERATIONS);
  for (let round = 0; round < KILLS; round++) {
    const victim = VICTIMS[round % VICTIMS.length]!;
    const name = names[Math.floor(round / VICTIMS.length) % names.length]!;
    let isOver = false;
    const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer, () => isOver));
    await pause(200);
    const operation = OPERATIONS[name]!().then(
      () => "done",
      (error: unknown) => String(error),
    );
    await pause(below(name === "reshardCollection" ? 600 : 60));
    await kill(victim);
    await pause(below(200));
    await start(victim);
    await pause(150);
    isOver = true;
    await Promise.all(writers);
    await operation;
    await patiently(withoutZone);
    await checkEverything().catch((error: unknown) => {
      throw new Error(`round ${round}: ${victim} killed during ${name}`, { cause: error });
    });
  }
  expect(known.size).toBeGreaterThan(KILLS);
});
