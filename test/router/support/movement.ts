/**
 * Everything that moves documents, while they are written and read.
 *
 *     movers    split ─ moveChunk ─ reshard ───────── refine ─ unshard ─ shard again …
 *     writers   insert ─ update ─ bulkWrite ─ delete ─ upsert …         ──► the same to an unsharded twin
 *     readers   find ─ ─ ─ getMore ─ ─ ─ ✓    group ✓   count ✓         each document exactly once, as the twin has it
 *
 * All run at once, over servers that answer in random order.
 *
 *     movement/turns.ts     the order of answers           movement/writers.ts   clients that write
 *     movement/ledger.ts    what a reader must see         movement/readers.ts   clients that read
 *     movement/world.ts     cluster and twin               movement/movers.ts    administrators
 */
import { read } from "./movement/readers.js";
import { move } from "./movement/movers.js";
import { text } from "./movement/ledger.js";
import type { Tally } from "./movement/world.js";
import { shown, World } from "./movement/world.js";
import { Writer } from "./movement/writers.js";

const WRITERS = 3;
const READERS = 2;
const MOVERS = 2;

/**
 * Runs a session of about `operations` operations, and compares its end with the twin.
 * @throws Error that names the seed and what was wrong
 */
export async function runMovement(seed: number, operations: number): Promise<Tally> {
  const world = await World.start(seed);
  try {
    await world.turns.during(everybody(world, operations));
    await world.turns.during(checkEnd(world));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const history = world.history.slice(-30).join("\n  ");
    throw new Error(`seed ${seed}, rules ${world.rules}: ${message}\n  ${history}`, { cause: error });
  }
  return world.tally;
}

async function everybody(world: World, operations: number): Promise<void> {
  const writers = Array.from({ length: WRITERS }, (_, i) => new Writer(world, i + 1));
  for (const writer of writers) await writer.insert(90);
  let left = operations;
  let failed = false;
  const goOn = async (step: () => Promise<void>): Promise<void> => {
    while (left > 0 && !failed) {
      left -= 1;
      try {
        await step();
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all([
    ...writers.map((writer) => goOn(() => writer.write())),
    ...Array.from({ length: READERS }, () => goOn(() => read(world))),
    ...Array.from({ length: MOVERS }, () => goOn(() => move(world))),
  ]);
}

/** Every document is on one shard, all are what the twin has, and nothing is left over. */
async function checkEnd(world: World): Promise<void> {
  const { cluster } = world;
  const expected = await world.twinFind({});
  const found = await cluster.all("db", { find: "c", sort: { _id: 1 } });
  if (text(found) !== text(expected)) throw new Error(`at the end: ${difference(found, expected)}`);
  let onShards = 0;
  for (const shard of cluster.shards.keys()) {
    const { n } = await cluster.shard(shard, "db", { count: "c" });
    onShards += Number(n);
    const { cursor } = await cluster.shard(shard, "db", { listCollections: 1, nameOnly: true });
    const names = (cursor as { firstBatch: { name: string }[] }).firstBatch.map(({ name }) => name);
    const left = names.filter((name) => name !== "c");
    if (left.length > 0) throw new Error(`left over on ${shard}: ${left.join()}`);
  }
  if (onShards !== expected.length) throw new Error(`${onShards} documents on shards, of ${expected.length}`);
  for (const notes of ["migrations", "reshardingOperations", "movingDocuments"]) {
    const left = await cluster.all("config", { find: notes });
    if (left.length > 0) throw new Error(`left over in config.${notes}: ${left.map(shown).join()}`);
  }
  if (world.rules === "5.0") return;
  const inconsistent = await cluster.all("db", { checkMetadataConsistency: 1 });
  if (inconsistent.length > 0) throw new Error(`inconsistent: ${inconsistent.map(shown).join()}`);
}

function difference(found: readonly object[], expected: readonly object[]): string {
  const has = new Set(found.map((one) => JSON.stringify(one)));
  const should = new Set(expected.map((one) => JSON.stringify(one)));
  const missing = [...should].filter((one) => !has.has(one));
  const wrong = [...has].filter((one) => !should.has(one));
  return `${found.length} of ${expected.length}; missing ${missing.join()}; wrong ${wrong.join()}`;
}
