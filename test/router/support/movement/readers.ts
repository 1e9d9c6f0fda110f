/** Clients that read, and must find every document exactly once whatever moves meanwhile. */
import type { Doc } from "../cluster.js";
import type { World } from "./world.js";
import { writerOf } from "./writers.js";

/** Reads once in a random way. @throws Error that names the read and the document */
export async function read(world: World): Promise<void> {
  const kind = world.pick([findAll, findAll, findAtOnce, findByKey, findByIds, group, count]);
  world.tally.reads += 1;
  try {
    await kind(world);
  } catch (error) {
    throw new Error(`${kind.name}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

const everything = (): boolean => true;

async function find(world: World, command: Doc, matches: (document: Doc) => boolean, atOnce: boolean) {
  const moment = world.ledger.moment();
  const documents = await world.cluster.all("db", { find: "c", ...command });
  world.tally.checked += world.ledger.check(moment, documents, matches, atOnce);
}

/** In many batches, between which things move. */
async function findAll(world: World): Promise<void> {
  const sort = world.pick<Doc>([{}, {}, { _id: 1 }, { a: -1, _id: 1 }]);
  await find(world, { sort, batchSize: 5 + world.below(60) }, everything, false);
}

async function findAtOnce(world: World): Promise<void> {
  await find(world, { batchSize: 100_000 }, everything, true);
}

async function findByKey(world: World): Promise<void> {
  const filter = world.pick<Doc>([
    { a: world.below(30) },
    { c: `c${world.below(40)}` },
    { b: world.below(10) },
    { a: world.below(30), c: `c${world.below(40)}` },
  ]);
  const matches = (document: Doc): boolean =>
    Object.entries(filter).every(([field, value]) => document[field] === value);
  await find(world, { filter, batchSize: 100_000 }, matches, true);
}

async function findByIds(world: World): Promise<void> {
  const all = [...world.ledger.documents.keys()];
  const ids = [world.pick(all), world.pick(all), world.pick(all)];
  const filter = { _id: { $in: ids } };
  await find(world, { filter, batchSize: 100_000 }, ({ _id }) => ids.includes(_id as number), true);
}

async function group(world: World): Promise<void> {
  const moment = world.ledger.moment();
  const pipeline = [{ $group: { _id: "$w", documents: { $push: "$$ROOT" }, count: { $sum: 1 } } }];
  const groups = await world.cluster.all("db", { aggregate: "c", pipeline, cursor: {} });
  const documents = groups.flatMap((one) => one.documents as Doc[]);
  world.tally.checked += world.ledger.check(moment, documents, everything, true);
  if (groups.some((one) => one.count !== (one.documents as Doc[]).length)) throw new Error("miscounted");
}

async function count(world: World): Promise<void> {
  const { ledger, cluster } = world;
  const w = 1 + world.below(3);
  const moment = ledger.moment();
  const { n } = await cluster.ok("db", { count: "c", query: { w } });
  const { least, most } = ledger.bounds(moment, (id) => writerOf(id) === w);
  if (Number(n) < least || Number(n) > most) {
    throw new Error(`${String(n)} documents of writer ${w}, of which there are ${least} to ${most}`);
  }
}
