/**
 * One unsharded collection as the oracle.
 *
 * Whatever the shard key, the chunks and the placement: a client must not be
 * able to tell a sharded collection from one on a single server, except where
 * MongoDB says so (order without a sort). So random data goes into both, random
 * splits and moves happen to one, and random operations must give the same.
 */
import fc from "fast-check";
import { compareDocuments, fromDocument, toDocument } from "shardlab/bson";
import { Mongod } from "shardlab/mongod";
import { isOk, request } from "shardlab/protocol";
import { expect } from "vitest";
import type { Doc, TestCluster } from "./cluster.js";
import { seeded, startCluster } from "./cluster.js";

/** Shard keys of every kind. */
export const KEYS: readonly Doc[] = [
  { a: 1 },
  { a: "hashed" },
  { a: 1, b: 1 },
  { a: 1, b: "hashed" },
  { a: "hashed", b: 1 },
  { "n.x": 1 },
  { "n.x": "hashed", a: 1 },
  { _id: 1 },
  { _id: "hashed" },
];

/** Values of a key field: few, mixed types, with nothing an array. */
const keyValue = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: -5, max: 20 }) },
  { weight: 1, arbitrary: fc.constantFrom(1.5, -0.5, 3.25, 1e10) },
  { weight: 2, arbitrary: fc.constantFrom("", "a", "ab", "abc", "b", "zz") },
  { weight: 1, arbitrary: fc.constantFrom(null, true, false) },
  { weight: 1, arbitrary: fc.constantFrom(new Date(0), new Date(86_400_000)) },
  { weight: 1, arbitrary: fc.record({ x: fc.integer({ min: 0, max: 3 }) }) },
);

const anyValue = fc.oneof(keyValue, fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 3 }));

export const bodies: fc.Arbitrary<Doc> = fc.record(
  {
    a: keyValue,
    b: keyValue,
    c: anyValue,
    n: fc.oneof(
      fc.record({ x: keyValue, y: fc.integer({ min: 0, max: 3 }) }),
      fc.constant("flat"),
      fc.constant(null),
    ),
    q: fc.integer({ min: 0, max: 100 }),
  },
  { requiredKeys: ["q"] },
);

/** Key fields more often than others. */
const path = fc.constantFrom("a", "a", "a", "b", "b", "b", "c", "n", "n.x", "n.x", "n.y", "q", "_id");

const condition = fc.oneof(
  { weight: 3, arbitrary: anyValue },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom("$eq", "$ne", "$gt", "$gte", "$lt", "$lte"), keyValue)
      .map(([operator, value]) => ({ [operator]: value })),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(keyValue, keyValue).map(([low, high]) => ({ $gte: low, $lt: high })),
  },
  { weight: 1, arbitrary: fc.array(keyValue, { maxLength: 4 }).map((values) => ({ $in: values })) },
  { weight: 1, arbitrary: fc.array(keyValue, { maxLength: 3 }).map((values) => ({ $nin: values })) },
  { weight: 1, arbitrary: fc.boolean().map((exists) => ({ $exists: exists })) },
  { weight: 1, arbitrary: fc.constantFrom("a", "ab", "z").map((prefix) => ({ $regex: `^${prefix}` })) },
  { weight: 1, arbitrary: keyValue.map((value) => ({ $not: { $gt: value } })) },
);

const simpleFilter = fc
  .uniqueArray(fc.tuple(path, condition), { maxLength: 3, selector: ([name]) => name })
  .map((pairs) => Object.fromEntries(pairs) as Doc);

/** Filters, nested a little. */
export const filters: fc.Arbitrary<Doc> = fc.oneof(
  { weight: 4, arbitrary: simpleFilter },
  {
    weight: 1,
    arbitrary: fc.array(simpleFilter, { minLength: 1, maxLength: 3 }).map((branches) => ({ $or: branches })),
  },
  {
    weight: 1,
    arbitrary: fc.array(simpleFilter, { minLength: 1, maxLength: 3 }).map((branches) => ({ $and: branches })),
  },
  {
    weight: 1,
    arbitrary: fc.array(simpleFilter, { minLength: 1, maxLength: 2 }).map((branches) => ({ $nor: branches })),
  },
);

const sorts = fc
  .uniqueArray(fc.tuple(fc.constantFrom("a", "b", "c", "n.x", "q"), fc.constantFrom(1, -1)), {
    maxLength: 2,
    selector: ([name]) => name,
  })
  // `_id` makes the order total, so that it can be compared.
  .map((pairs) => Object.fromEntries([...pairs, ["_id", 1]]) as Doc);

const projections = fc.constantFrom<Doc | undefined>(
  undefined,
  { q: 1 },
  { a: 1, b: 1 },
  { a: 0 },
  { _id: 0, q: 1 },
  { "n.x": 1 },
  { n: 0, _id: 0 },
);

const window = { skip: fc.nat({ max: 8 }), limit: fc.nat({ max: 12 }) };

/** What a client may ask. */
export type Operation =
  | { op: "find"; filter: Doc; batchSize: number }
  | {
      op: "sorted";
      filter: Doc;
      sort: Doc;
      skip: number;
      limit: number;
      projection: Doc | undefined;
      batchSize: number;
    }
  | { op: "count"; filter: Doc; skip: number; limit: number }
  | { op: "distinct"; filter: Doc; key: string }
  | { op: "group"; filter: Doc; by: string }
  | { op: "pipeline"; filter: Doc; sort: Doc; skip: number; limit: number }
  | { op: "updateMany"; filter: Doc; by: number }
  | { op: "updateById"; id: number; set: unknown }
  | { op: "deleteMany"; filter: Doc }
  | { op: "insert"; bodies: Doc[]; ordered: boolean }
  | { op: "split"; of: number }
  | { op: "move"; of: number; to: number };

export const operations: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant("find" as const),
      filter: filters,
      batchSize: fc.integer({ min: 2, max: 9 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant("sorted" as const),
      filter: filters,
      sort: sorts,
      ...window,
      projection: projections,
      batchSize: fc.integer({ min: 2, max: 9 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("count" as const), filter: filters, ...window }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("distinct" as const), filter: filters, key: path }) },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant("group" as const),
      filter: filters,
      by: fc.constantFrom("a", "b", "n.y", "q"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant("pipeline" as const), filter: filters, sort: sorts, ...window }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant("updateMany" as const),
      filter: filters,
      by: fc.integer({ min: 1, max: 5 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant("updateById" as const), id: fc.nat({ max: 40 }), set: keyValue }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("deleteMany" as const), filter: simpleFilter }) },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant("insert" as const),
      bodies: fc.array(bodies, { minLength: 1, maxLength: 6 }),
      ordered: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("split" as const), of: fc.nat({ max: 40 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant("move" as const),
      of: fc.nat({ max: 40 }),
      to: fc.nat({ max: 3 }),
    }),
  },
);

/** One random session. */
export const sessions = fc.record({
  key: fc.constantFrom(...KEYS),
  shards: fc.integer({ min: 2, max: 4 }),
  seed: fc.nat(),
  bodies: fc.array(bodies, { minLength: 8, maxLength: 40, size: "max" }),
  /** Splits and moves before the first operation, so that there is something to merge. */
  layout: fc.array(fc.record({ of: fc.nat({ max: 40 }), to: fc.nat({ max: 3 }) }), {
    minLength: 4,
    maxLength: 6,
  }),
  operations: fc.array(operations, { minLength: 10, maxLength: 25, size: "max" }),
});

export type Session = typeof sessions extends fc.Arbitrary<infer T> ? T : never;

/** Runs a session against both and compares every answer. @returns how many operations were compared */
export async function runSession({
  key,
  shards,
  seed,
  bodies,
  layout,
  operations,
}: Session): Promise<number> {
  const cluster = await startCluster({ shards, seed });
  const single = new Mongod({ environment: { now: () => 0, random: seeded(seed) }, host: "127.0.0.1:1" });
  const world = new World(cluster, single, key, shards);
  await cluster.admin({ shardCollection: "test.c", key });
  await world.insert(bodies, true);
  for (const { of, to } of layout) {
    await world.perform({ op: "split", of: of % bodies.length });
    await world.perform({ op: "move", of, to });
  }
  for (const operation of operations) await world.perform(operation);
  await world.compare("everything", { find: "c", filter: {} }, { find: "c", filter: {} }, true);
  cluster.router.close();
  return operations.length;
}

class World {
  #nextId = 0;

  constructor(
    readonly cluster: TestCluster,
    readonly single: Mongod,
    readonly key: Doc,
    readonly shards: number,
  ) {}

  async perform(operation: Operation): Promise<void> {
    switch (operation.op) {
      case "find": {
        const { filter, batchSize } = operation;
        await this.compare("find", { find: "c", filter, batchSize }, { find: "c", filter }, true);
        await this.#checkTargeting(filter);
        return;
      }
      case "sorted": {
        const { filter, sort, skip, limit, projection, batchSize } = operation;
        const command = { find: "c", filter, sort, skip, limit, ...(projection && { projection }) };
        return this.compare("sorted find", { ...command, batchSize }, command, false);
      }
      case "count": {
        const { filter: query, skip, limit } = operation;
        return this.#sameReply({ count: "c", query, skip, limit }, ["n"]);
      }
      case "distinct":
        return this.#sameDistinct({ distinct: "c", key: operation.key, query: operation.filter });
      case "group": {
        const group = {
          _id: `$${operation.by}`,
          n: { $sum: 1 },
          total: { $sum: "$q" },
          mean: { $avg: "$q" },
          least: { $min: "$a" },
          most: { $max: "$a" },
        };
        const command = {
          aggregate: "c",
          pipeline: [{ $match: operation.filter }, { $group: group }],
          cursor: {},
        };
        return this.compare("group", command, command, true);
      }
      case "pipeline": {
        const { filter, sort, skip, limit } = operation;
        const pipeline = [
          { $match: filter },
          { $sort: sort },
          { $skip: skip },
          { $limit: limit + 1 },
          { $project: { q: 1 } },
        ];
        const command = { aggregate: "c", pipeline, cursor: { batchSize: 3 } };
        return this.compare("pipeline", command, { ...command, cursor: {} }, false);
      }
      case "updateMany": {
        const updates = [{ q: operation.filter, u: { $inc: { q: operation.by } }, multi: true }];
        return this.#sameReply({ update: "c", updates }, ["n", "nModified"]);
      }
      case "updateById":
        return this.#updateById(operation.id, operation.set);
      case "deleteMany":
        return this.#sameReply({ delete: "c", deletes: [{ q: operation.filter, limit: 0 }] }, ["n"]);
      case "insert":
        return this.insert(operation.bodies, operation.ordered);
      case "split":
        return this.#split(operation.of);
      case "move":
        return this.#move(operation.of, operation.to % this.shards);
    }
  }

  async insert(bodies: readonly Doc[], ordered: boolean): Promise<void> {
    if (bodies.length === 0) return;
    const documents = bodies.map((fields) => ({ _id: this.#nextId++, ...fields }));
    await this.#sameReply({ insert: "c", documents, ordered }, ["n"]);
  }

  /** Sets a field of one document, perhaps a key field: the document may change its shard. */
  async #updateById(id: number, value: unknown): Promise<void> {
    const updates = [{ q: { _id: id }, u: { $set: { a: value } } }];
    const session = { lsid: { id: new Uint8Array(16) }, txnNumber: BigInt(++this.#txn) };
    const reply = await this.cluster.ok("test", { update: "c", updates, ...session });
    const expected = fromDocument((await this.single.run(request("test", { update: "c", updates }))).body);
    expect([reply.n, reply.nModified, reply.writeErrors]).toEqual([
      expected.n,
      expected.nModified,
      undefined,
    ]);
  }
  #txn = 0;

  async #split(of: number): Promise<void> {
    const middle = await this.#keyOf(of);
    if (!middle) return;
    // A bound that exists already, or a value of the wrong kind, is refused; that is no difference.
    await this.cluster.run("admin", { split: "test.c", middle });
  }

  async #move(of: number, to: number): Promise<void> {
    const chunks = await this.cluster.all("config", { find: "chunks", sort: { min: 1 } });
    const chunk = chunks[of % chunks.length]!;
    const shard = `shard${String.fromCharCode(65 + to)}`;
    await this.cluster.admin({ moveChunk: "test.c", bounds: [chunk.min, chunk.max], to: shard });
  }

  /** A document's key in chunk space; hashed values by asking the catalog's own arithmetic. */
  async #keyOf(of: number): Promise<Doc | undefined> {
    const [document] = await this.cluster.all("test", { find: "c", filter: { _id: of } });
    if (!document) return undefined;
    const pairs = Object.entries(this.key).map(([name, kind]) => {
      if (kind === "hashed") return [name, BigInt(of - 20) * 400_000_000_000_000_000n];
      const value = name
        .split(".")
        .reduce<unknown>((inner, part) => (inner as Doc | undefined)?.[part], document);
      return [name, value ?? null];
    });
    return Object.fromEntries(pairs) as Doc;
  }

  /** The same documents; in the same order unless `anyOrder`. */
  async compare(what: string, sharded: Doc, plain: Doc, anyOrder: boolean): Promise<void> {
    const actual = await this.cluster.all("test", sharded);
    const reply = await this.single.run(
      request("test", { ...plain, ...("find" in plain && { batchSize: 100_000 }) }),
    );
    expect(isOk(reply), `${what} on one server: ${JSON.stringify(fromDocument(reply.body))}`).toBe(true);
    const cursor = fromDocument(reply.body).cursor as { firstBatch: Doc[] };
    const order = (documents: Doc[]): Doc[] =>
      anyOrder ? [...documents].sort((x, y) => compareDocuments(toDocument(x), toDocument(y))) : documents;
    expect(order(actual), what).toEqual(order(cursor.firstBatch));
  }

  async #sameReply(command: Doc, fields: readonly string[]): Promise<void> {
    const actual = await this.cluster.run("test", command);
    const expected = fromDocument((await this.single.run(request("test", command))).body) as Doc;
    const only = (reply: Doc): Doc =>
      Object.fromEntries(["ok", "code", ...fields].map((name) => [name, reply[name]]));
    expect(only(actual), JSON.stringify(actual)).toEqual(only(expected));
  }

  async #sameDistinct(command: Doc): Promise<void> {
    const values = async (reply: Promise<Doc>): Promise<Doc[]> =>
      ((await reply).values as unknown[])
        .map((v) => ({ v }))
        .sort((x, y) => compareDocuments(toDocument(x), toDocument(y)));
    const plain = this.single.run(request("test", command)).then((reply) => fromDocument(reply.body) as Doc);
    expect(await values(this.cluster.ok("test", command))).toEqual(await values(plain));
  }

  /** No shard that has a match was left out, and none without a chunk was asked. */
  async #checkTargeting(filter: Doc): Promise<void> {
    const [entry] = await this.cluster.traced(() => this.cluster.ok("test", { find: "c", filter }));
    const asked = entry!.shards.map(({ shard }) => shard);
    const chunks = await this.cluster.all("config", { find: "chunks" });
    for (const shard of this.cluster.shards.keys()) {
      const reply = await this.cluster.shard(shard, "test", { count: "c", query: filter });
      if (Number(reply.n) > 0) expect(asked, JSON.stringify(filter)).toContain(shard);
      if (!chunks.some((chunk) => chunk.shard === shard)) expect(asked).not.toContain(shard);
    }
  }
}
