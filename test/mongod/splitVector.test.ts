/**
 * splitVector: where an index can be cut. `library.loans` has 100 documents `{_id: i, x: ⌊i / 10⌋}` of equal size, so a
 * chunk size of 20 of them makes pieces of 10.
 */
import { expect, it } from "vitest";
import { fromDocument, toDocument } from "shardlab/bson";
import { Mongod } from "shardlab/mongod";
import { request } from "shardlab/protocol";

type Doc = Record<string, unknown>;

async function hundred(): Promise<(command: Doc) => Promise<Doc>> {
  const mongod = new Mongod({ environment: { now: () => 0, random: () => 0.5 }, host: "127.0.0.1:27018" });
  const run = async (command: Doc): Promise<Doc> =>
    fromDocument((await mongod.run(request("library", command))).body) as Doc;
  const documents = Array.from({ length: 100 }, (_, i) => ({ _id: i, x: Math.floor(i / 10) }));
  await run({ insert: "loans", documents });
  const indexes = [
    { key: { x: 1, _id: 1 }, name: "x" },
    { key: { _id: "hashed" }, name: "h" },
  ];
  await run({ createIndexes: "loans", indexes });
  return (command) => run({ splitVector: "library.loans", ...command });
}

const SIZE = toDocument({ _id: 1, x: 1 }).length;
const tens = (from: number, to: number): Doc[] =>
  Array.from({ length: (to - from) / 10 + 1 }, (_, i) => ({ _id: from + 10 * i }));

it.each<[string, Doc, unknown]>([
  ["pieces of half a chunk's size", { maxChunkSizeBytes: 20 * SIZE }, tens(10, 90)],
  [
    "of a range",
    { maxChunkSizeBytes: 20 * SIZE, min: { _id: 40 }, max: { _id: 75 } },
    [{ _id: 50 }, { _id: 60 }, { _id: 70 }],
  ],
  ["so many points at most", { maxChunkSizeBytes: 20 * SIZE, maxSplitPoints: 2 }, tens(10, 20)],
  [
    "so many documents at most",
    { maxChunkSizeBytes: 20 * SIZE, maxChunkObjects: 5, maxSplitPoints: 1 },
    [{ _id: 5 }],
  ],
  ["all of it fits", { maxChunkSize: 1 }, []],
  ["in the middle", { force: true }, [{ _id: 50 }]],
])("%s", async (_what, options, expected) => {
  const run = await hundred();
  expect(await run({ keyPattern: { _id: 1 }, ...options })).toMatchObject({ splitKeys: expected, ok: 1 });
});

it("keeps entries with one key value together, and cuts a hashed index at hashes", async () => {
  const run = await hundred();
  const cut = await run({ keyPattern: { x: 1 }, maxChunkSizeBytes: 10 * SIZE });
  // Every 5 entries would be in the middle of ten.
  expect(cut.splitKeys).toEqual(Array.from({ length: 9 }, (_, i) => ({ x: i + 1 })));
  const hashed = await run({ keyPattern: { _id: "hashed" }, force: true });
  // A hash is a number of 64 bits, far from every `_id`.
  expect(Math.abs(Number((hashed.splitKeys as Doc[])[0]!._id))).toBeGreaterThan(1e9);
});

it.each<[string, Doc, number]>([
  ["no key pattern", { force: true }, 2],
  ["no size", { keyPattern: { _id: 1 } }, 2],
  ["one bound", { keyPattern: { _id: 1 }, min: { _id: 1 }, force: true }, 2],
  ["no index", { keyPattern: { y: 1 }, force: true }, 27],
])("%s: %i", async (_what, options, code) => {
  expect(await (await hundred())(options)).toMatchObject({ ok: 0, code });
});
