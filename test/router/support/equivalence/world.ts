/**
 * Two servers that must not be told apart: a sharded cluster, and one server
 * without shards.
 */
import type { RawValue } from "shardlab/bson";
import {
  asDocument,
  BsonType,
  DocumentWriter,
  encodeValue,
  fields,
  fromDocument,
  getField,
  hash64,
  NULL,
} from "shardlab/bson";
import { Mongod } from "shardlab/mongod";
import type { Endpoint } from "shardlab/protocol";
import { isOk, readCursorReply, request } from "shardlab/protocol";
import { expect } from "vitest";
import type { Doc, TestCluster } from "../cluster.js";
import { seeded, startCluster } from "../cluster.js";
import { decodeExactly, expectSame, shown, shownInOrder } from "./compare.js";
import type { ChunkRow, FieldChoice } from "./keyBounds.js";
import { compareTuples, expectedShards, filterOf } from "./keyBounds.js";
import type { BulkWrite, Change, Operation, Session, SplitAt, TargetedBy } from "./operations.js";
import type { Comparison } from "./pipelines.js";
import { idOf } from "./values.js";

/** What a reading command gave: documents, or the code of a refusal. */
interface Outcome {
  readonly code: number | undefined;
  readonly rows: readonly Uint8Array[];
}

/** Indexes that both sides have, so that shards plan in more than one way. */
const INDEXES = [{ q: 1 }, { s: 1, q: -1 }, { arr: 1 }, { c: 1, _id: 1 }];

/** Whether a projection computes nothing: only such a one can be covered by an index. */
function onlyIncludes(projection: unknown): boolean {
  return (
    projection !== undefined && Object.values(projection as Doc).every((value) => value === 0 || value === 1)
  );
}

/** What a session met, so that a test can tell that it was not about nothing. */
export interface Tally {
  operations: number;
  /** Documents that were compared. */
  rows: number;
  /** Operations that both sides refused. */
  refused: number;
  /** Operations with known bounds that needed fewer shards than have chunks. */
  narrowed: number;
}

export class World {
  readonly tally: Tally = { operations: 0, rows: 0, refused: 0, narrowed: 0 };
  readonly #paths: readonly string[];
  #inserted = 0;
  #marks = 0;
  #txn = 0n;

  private constructor(
    readonly cluster: TestCluster,
    readonly single: Mongod,
    readonly key: Doc,
    readonly shards: number,
  ) {
    this.#paths = Object.keys(key);
  }

  /** Both sides with the session's documents, chunks spread over the shards. */
  static async start({ key, shards, seed, filledFirst, bodies, layout }: Session): Promise<World> {
    const cluster = await startCluster({ shards, seed });
    const single = new Mongod({ environment: { now: () => 0, random: seeded(seed) }, host: "127.0.0.1:1" });
    const world = new World(cluster, single, key, shards);
    if (filledFirst) {
      await world.#insert(bodies, true);
      const name = Object.entries(key).flat().join("_");
      await cluster.ok("test", { createIndexes: "c", indexes: [{ key, name }] });
    }
    await cluster.admin({ shardCollection: "test.c", key });
    if (!filledFirst) await world.#insert(bodies, true);
    const indexes = INDEXES.map((index) => ({ key: index, name: Object.entries(index).flat().join("_") }));
    await world.#sameReply({ createIndexes: "c", indexes }, []);
    await world.#others();
    for (const { at, chunk, to } of layout) {
      await world.#split(at);
      await world.#move(chunk, to);
    }
    return world;
  }

  close(): void {
    this.cluster.router.close();
  }

  /** Carries one operation out on both sides and compares. */
  async perform(operation: Operation): Promise<void> {
    this.tally.operations += 1;
    switch (operation.op) {
      case "find": {
        const { filter, projection, batchSize, collation } = operation;
        const command = { find: "c", filter, ...(projection && !("k" in projection) && { projection }) };
        await this.#sameRows({ ...command, batchSize, collation }, "exactBag");
        return this.#nobodyLeftOut(filter, collation);
      }
      case "sorted": {
        const { op: _op, ...options } = operation;
        return this.#sameRows({ find: "c", ...options }, "exact");
      }
      case "window":
        return this.#window(operation.filter, operation.skip, operation.limit, operation.batchSize);
      case "count": {
        const { filter: query, skip, limit, collation } = operation;
        return this.#sameReply({ count: "c", query, skip, limit, collation }, ["n"]);
      }
      case "distinct":
        return this.#sameDistinct(operation.key, operation.filter);
      case "aggregate": {
        const { pipeline, compare } = operation.aggregation;
        return this.#sameRows(
          { aggregate: "c", pipeline, cursor: { batchSize: operation.batchSize } },
          compare,
        );
      }
      case "sample":
        return this.#sample(operation.filter, operation.size);
      case "targeted":
        return this.#targeted(operation.by, operation.branches);
      case "updateMany":
        return this.#sameReply(
          { update: "c", updates: [{ q: operation.filter, u: operation.update, multi: true }] },
          ["n", "nModified", "writeErrors"],
        );
      case "updateOne":
        return this.#updateOne(operation.filter, operation.change, operation.ofId);
      case "deleteOne":
        return this.#deleteOne(operation.filter, operation.ofId);
      case "deleteMany":
        return this.#deleteMany(operation.filter);
      case "findAndModify":
        return this.#findAndModify(operation);
      case "upsert":
        return this.#upsert(operation);
      case "changeKey":
        return this.#changeKey(operation);
      case "bulk": {
        const updates = operation.statements.map(({ id, by, many }) =>
          many
            ? { q: { q: { $gt: by * 5 } }, u: { $inc: { z: 1 } }, multi: true }
            : { q: { _id: idOf(id) }, u: { $inc: { q: by } } },
        );
        return this.#sameReply({ update: "c", updates, ordered: operation.ordered }, ["n", "nModified"]);
      }
      case "bulkWrite":
        return this.#bulkWrite(operation.writes, operation.ordered);
      case "insert":
        return this.#insert(operation.bodies, operation.ordered);
      case "split":
        return this.#split(operation.at);
      case "move":
        return this.#move(operation.chunk, operation.to);
    }
  }

  /** The same documents on both sides, and every one on the shard that owns its key. */
  async checkEverything(): Promise<void> {
    await this.#sameRows({ find: "c", filter: {} }, "exactBag");
    await this.#sameReply({ count: "c" }, ["n"]);
    const chunks = await this.#chunks();
    for (const [shard, { inner }] of this.cluster.shards) {
      for (const row of (await rowsOf(inner, { find: "c", filter: {} })).rows) {
        const key = this.#keyOf(row);
        const owner = chunks.findLast(({ min }) => compareTuples(min, key) <= 0)?.shard;
        expect(owner, `${shown(row)} is on ${shard}`).toBe(shard);
      }
    }
  }

  /** What `$lookup` and its like refer to. */
  async #others(): Promise<void> {
    await this.cluster.admin({ shardCollection: "test.far", key: { k: "hashed" } });
    const documents = Array.from({ length: 14 }, (_, i) => ({
      _id: i,
      k: i < 10 ? i - 2 : ["a", "ab", null, "zz"][i - 10],
      next: (i * 3) % 8,
      q: i * 7,
    }));
    for (const insert of ["near", "far"]) await this.#sameReply({ insert, documents }, ["n", "writeErrors"]);
  }

  async #sameRows(command: Doc, comparison: Comparison | "exactBag"): Promise<void> {
    const actual = await rowsOf(this.cluster.router, command);
    const expected = await rowsOf(this.single, command);
    expect(actual.code, "code of the refusal").toBe(expected.code);
    const text = onlyIncludes(command.projection) ? shownInOrder : shown;
    expectSame("rows", actual.rows, expected.rows, comparison, text);
    if (text === shownInOrder) this.#expectOrderOfPlan(actual.rows, expected.rows);
    this.tally.rows += actual.rows.length;
    if (actual.code !== undefined) this.tally.refused += 1;
  }

  /**
   * Router and single server need not take the same plan, and a covered one gives its index's order of fields: where
   * the same row has another order on the two sides, one of them follows an index that has all its fields.
   */
  #expectOrderOfPlan(actual: readonly Uint8Array[], expected: readonly Uint8Array[]): void {
    const inOrder = (rows: readonly Uint8Array[]): Uint8Array[] =>
      [...rows].sort((a, b) => (shownInOrder(a) < shownInOrder(b) ? -1 : 1));
    const others = inOrder(expected);
    inOrder(actual).forEach((row, i) => {
      const other = others[i]!;
      if (shown(row) === shown(other)) return;
      const covered = [row, other].some((one) => this.#followsIndex(Object.keys(decodeExactly(one))));
      expect(covered, `${shown(row)} and ${shown(other)}`).toBe(true);
    });
  }

  #followsIndex(names: readonly string[]): boolean {
    return [this.key, ...INDEXES].some((index) => {
      const fields = [...new Set(Object.keys(index).map((path) => path.split(".")[0]!))];
      return fields.filter((field) => names.includes(field)).join() === names.join();
    });
  }

  async #sameReply(command: Doc, names: readonly string[], session: Doc = {}): Promise<void> {
    const actual = await this.cluster.run("test", { ...command, ...session });
    const expected = await runOn(this.single, command);
    expect(outlineOf(actual, names), JSON.stringify(actual)).toEqual(outlineOf(expected, names));
    if (actual.ok !== 1 || actual.writeErrors) this.tally.refused += 1;
  }

  /** Sends a write that may move a document, which a real mongos wants to be able to retry. */
  #retryable(): Doc {
    return { lsid: { id: new Uint8Array(16) }, txnNumber: ++this.#txn };
  }

  /** Without a sort anybody may come first: as many as there should be, none twice, only matches. */
  async #window(filter: Doc, skip: number, limit: number, batchSize: number): Promise<void> {
    const actual = await rowsOf(this.cluster.router, { find: "c", filter, skip, limit, batchSize });
    const all = await rowsOf(this.single, { find: "c", filter });
    expect(actual.code).toBe(all.code);
    expect(actual.rows.length).toBe(Math.min(Math.max(0, all.rows.length - skip), limit || Infinity));
    expectSome(actual.rows, all.rows);
  }

  async #sample(filter: Doc, size: number): Promise<void> {
    const pipeline = [{ $match: filter }, { $sample: { size } }];
    const actual = await rowsOf(this.cluster.router, { aggregate: "c", pipeline, cursor: { batchSize: 4 } });
    const all = await rowsOf(this.single, { find: "c", filter });
    expect(actual.code).toBe(all.code);
    expect(actual.rows.length).toBe(Math.min(all.rows.length, size));
    expectSome(actual.rows, all.rows);
  }

  async #sameDistinct(key: string, query: Doc): Promise<void> {
    const values = async (endpoint: Endpoint): Promise<Outcome> => {
      const { body } = await endpoint.run(request("test", { distinct: "c", key, query }));
      if (!isOk({ body })) return { code: codeOf(fromDocument(body)), rows: [] };
      const set = new DocumentWriter().field("set", getField(body, "values")!).finish();
      return { code: undefined, rows: [set] };
    };
    const [actual, expected] = [await values(this.cluster.router), await values(this.single)];
    expect(actual.code).toBe(expected.code);
    expectSame("distinct values", actual.rows, expected.rows, "bag");
  }

  /** No shard that has a match was left out, and none without a chunk was asked. */
  async #nobodyLeftOut(filter: Doc, collation: Doc | undefined): Promise<void> {
    const asked = await this.#asked(() => this.cluster.run("test", { find: "c", filter, collation }));
    const chunks = await this.#chunks();
    for (const [shard, { inner }] of this.cluster.shards) {
      const n = Number((await runOn(inner, { count: "c", query: filter, collation })).n);
      if (n > 0) expect(asked, `${shard} has matches`).toContain(shard);
      if (!chunks.some((chunk) => chunk.shard === shard)) expect(asked).not.toContain(shard);
    }
  }

  /** A filter whose bounds are known: exactly the owners of the chunks they meet are asked. */
  async #targeted(by: TargetedBy, branches: readonly FieldChoice[][]): Promise<void> {
    const filter = filterOf(this.key, branches);
    const chunks = await this.#chunks();
    const expected = expectedShards(this.key, branches, chunks);
    const asked = await this.#asked(() => this.#routedBy(by, filter));
    if (new Set(chunks.map(({ shard }) => shard)).size > asked.length) this.tally.narrowed += 1;
    if (expected) expect(asked, `shards asked for ${JSON.stringify(filter)}`).toEqual(expected);
  }

  #routedBy(by: TargetedBy, filter: Doc): Promise<void> {
    switch (by) {
      case "find":
        return this.#sameRows({ find: "c", filter, batchSize: 5 }, "exactBag");
      case "count":
        return this.#sameReply({ count: "c", query: filter }, ["n"]);
      case "distinct":
        return this.#sameDistinct("q", filter);
      case "aggregate": {
        const pipeline = [{ $match: filter }, { $group: { _id: "$n.y", n: { $sum: 1 } } }];
        return this.#sameRows({ aggregate: "c", pipeline, cursor: {} }, "bag");
      }
      case "updateMany": {
        const updates = [{ q: filter, u: { $inc: { q: 1 } }, multi: true }];
        return this.#sameReply({ update: "c", updates }, ["n", "nModified"]);
      }
      case "deleteMany":
        return this.#deleteMany(filter);
    }
  }

  /** The shards that the router's one operation asked, ascending. */
  async #asked(work: () => Promise<unknown>): Promise<string[]> {
    const entries = await this.cluster.traced(work);
    expect(entries.length).toBe(1);
    return entries[0]!.shards.map(({ shard }) => shard);
  }

  async #insert(bodies: readonly Doc[], ordered: boolean): Promise<void> {
    const documents = bodies.map((body) => ({ _id: idOf(this.#inserted++), ...body }));
    // The same document twice: with one key they meet on one shard, which refuses the second.
    if (documents.length % 3 === 2) documents.splice(1, 0, documents[0]!);
    await this.#sameReply({ insert: "c", documents, ordered }, ["n", "writeErrors"]);
  }

  async #bulkWrite(writes: readonly BulkWrite[], ordered: boolean): Promise<void> {
    const ops = writes.map((one) => {
      switch (one.write) {
        case "insert": {
          const document = { _id: idOf(this.#inserted++), ...one.body };
          return { insert: 0, document };
        }
        case "update":
          return one.many
            ? { update: 0, filter: { q: { $gt: one.by * 5 } }, updateMods: { $inc: { z: 1 } }, multi: true }
            : { update: 0, filter: { _id: idOf(one.of) }, updateMods: { $inc: { q: one.by } } };
        case "delete":
          return { delete: 0, filter: { _id: idOf(one.of) } };
      }
    });
    const command = { bulkWrite: 1, ops, nsInfo: [{ ns: "test.c" }], ordered };
    const outline = async (endpoint: Endpoint): Promise<Doc> => {
      const reply = await runOn(endpoint, command, "admin");
      const { firstBatch = [] } = (reply.cursor ?? {}) as { firstBatch?: Doc[] };
      const results = firstBatch.map(({ ok, idx, n, nModified, code }) => ({ ok, idx, n, nModified, code }));
      const { ok, code, nErrors, nInserted, nMatched, nModified, nDeleted } = reply;
      return { ok, code, nErrors, nInserted, nMatched, nModified, nDeleted, results };
    };
    expect(await outline(this.cluster.router)).toEqual(await outline(this.single));
  }

  async #updateOne(filter: Doc, change: Change, ofId: number | undefined): Promise<void> {
    if (ofId !== undefined) {
      const updates = [{ q: { $and: [{ _id: idOf(ofId) }, filter] }, u: updateOf(change, ++this.#marks) }];
      return this.#sameReply({ update: "c", updates }, ["n", "nModified", "writeErrors"], this.#retryable());
    }
    // Any match will do: see which one it was, and let the other side change the same.
    const mark = ++this.#marks;
    const u = updateOf(change, mark);
    const reply = await this.cluster.run("test", {
      update: "c",
      updates: [{ q: filter, u }],
      ...this.#retryable(),
    });
    const possible = await rowsOf(this.single, { find: "c", filter });
    if (possible.code !== undefined) return expect(codeOf(reply)).toBe(possible.code);
    expect([reply.ok, reply.writeErrors], JSON.stringify(reply)).toEqual([1, undefined]);
    expect(reply.n).toBe(Math.min(1, possible.rows.length));
    const changed = (await rowsOf(this.cluster.router, { find: "c", filter: { mark } })).rows;
    expect(changed.length).toBe(reply.n);
    if (changed.length === 0) return;
    const q = { $and: [{ _id: decodeExactly(changed[0]!)._id }, filter] };
    expect((await runOn(this.single, { update: "c", updates: [{ q, u }] })).n, "a match was changed").toBe(1);
  }

  async #deleteOne(filter: Doc, ofId: number | undefined): Promise<void> {
    if (ofId !== undefined) {
      const deletes = [{ q: { ...filter, _id: idOf(ofId) }, limit: 1 }];
      return this.#sameReply({ delete: "c", deletes }, ["n", "writeErrors"]);
    }
    const ids = async (): Promise<string[]> =>
      (await rowsOf(this.cluster.router, { find: "c", projection: { _id: 1 } })).rows.map(shown);
    const before = await rowsOf(this.cluster.router, { find: "c", projection: { _id: 1 } });
    const reply = await this.cluster.run("test", { delete: "c", deletes: [{ q: filter, limit: 1 }] });
    const left = new Set(await ids());
    const possible = await rowsOf(this.single, { find: "c", filter });
    if (possible.code !== undefined) return expect(codeOf(reply)).toBe(possible.code);
    const gone = before.rows.filter((row) => !left.has(shown(row)));
    expect([reply.n, gone.length]).toEqual([Math.min(1, possible.rows.length), reply.n]);
    if (gone.length === 0) return;
    const q = { $and: [{ _id: decodeExactly(gone[0]!)._id }, filter] };
    expect((await runOn(this.single, { delete: "c", deletes: [{ q, limit: 1 }] })).n, "a match is gone").toBe(
      1,
    );
  }

  /** Some of the matches: a collection that is empty early shows nothing. */
  #deleteMany(filter: Doc): Promise<void> {
    const q = { $and: [filter, { q: { $mod: [6, 0] } }] };
    return this.#sameReply({ delete: "c", deletes: [{ q, limit: 0 }] }, ["n", "writeErrors"]);
  }

  #findAndModify(operation: Operation & { op: "findAndModify" }): Promise<void> {
    const { filter: query, sort, change } = operation;
    const what =
      change === "remove"
        ? { remove: true }
        : { update: updateOf(change, ++this.#marks), new: operation.new };
    return this.#sameReply(
      { findAndModify: "c", query, sort, ...what },
      ["lastErrorObject", "value"],
      this.#retryable(),
    );
  }

  #upsert({ key, body, exists }: Operation & { op: "upsert" }): Promise<void> {
    const ordinal = exists ? Number(body.q) % this.#inserted : this.#inserted++;
    const named = this.#paths.slice(0, 1 + (Number(body.q) % 3)).map((path, i) => [path, { $eq: key[i] }]);
    const q = { ...(exists ? {} : Object.fromEntries(named)), _id: idOf(ordinal) };
    const u = Number(body.q) % 2 ? { $set: { s: "ab" }, $inc: { q: 1 } } : body;
    const updates = [{ q, u, upsert: true }];
    return this.#sameReply(
      { update: "c", updates },
      ["n", "nModified", "upserted", "writeErrors"],
      this.#retryable(),
    );
  }

  /** Another value for a key field of one document, which may have to go to another shard. */
  #changeKey({ of, field, value, form }: Operation & { op: "changeKey" }): Promise<void> {
    const path = this.#paths[field % this.#paths.length]!;
    const [top, inner] = path.split(".") as [string, string?];
    const u = {
      $set: { $set: { [path]: value } },
      $unset: { $unset: { [path]: 1 } },
      pipeline: [{ $set: { [path]: { $literal: value } } }],
      replacement: { [top]: inner ? { [inner]: value } : value, q: 7 },
    }[form];
    return this.#sameReply(
      { update: "c", updates: [{ q: { _id: idOf(of) }, u }] },
      ["n", "nModified", "writeErrors"],
      this.#retryable(),
    );
  }

  async #split(at: SplitAt): Promise<void> {
    const values = "of" in at ? await this.#keyOfDocument(at.of) : undefined;
    if ("of" in at && !values) return;
    const middle = Object.fromEntries(
      Object.entries(this.key).map(([path, kind], i) => {
        if (values) return [path, values[i]];
        const given = at as { values: unknown[]; hash: bigint };
        return [path, kind === "hashed" ? given.hash : given.values[i]];
      }),
    );
    const reply = await this.cluster.run("admin", { split: "test.c", middle });
    // A bound that exists already is refused, and so is what cannot be one.
    if (reply.ok !== 1)
      expect(reply.errmsg).toMatch(/is a boundary key of existing chunk|is not valid for shard key/);
  }

  async #keyOfDocument(ordinal: number): Promise<unknown[] | undefined> {
    const { rows } = await rowsOf(this.single, { find: "c", filter: { _id: idOf(ordinal) } });
    const [row] = rows;
    return (
      row && this.#keyOf(row).map((value) => decodeExactly(new DocumentWriter().field("v", value).finish()).v)
    );
  }

  async #move(chunk: number, to: number): Promise<void> {
    const rows = await this.#chunkDocuments();
    const { min, max } = decodeExactly(rows[chunk % rows.length]!);
    const shard = `shard${String.fromCharCode(65 + (to % this.shards))}`;
    await this.cluster.admin({ moveChunk: "test.c", bounds: [min, max], to: shard });
  }

  async #chunkDocuments(): Promise<readonly Uint8Array[]> {
    const config = (command: Doc): Promise<Outcome> => rowsOf(this.cluster.router, command, "config");
    const [entry] = (await config({ find: "collections", filter: { _id: "test.c" } })).rows;
    const { uuid } = decodeExactly(entry!);
    return (await config({ find: "chunks", filter: { uuid }, sort: { min: 1 } })).rows;
  }

  async #chunks(): Promise<ChunkRow[]> {
    const rows = await this.#chunkDocuments();
    return rows.map((row) => {
      const bound = (name: string): RawValue[] =>
        fields(asDocument(getField(row, name)!)).map(([, value]) => value);
      return { min: bound("min"), max: bound("max"), shard: String(decodeExactly(row).shard) };
    });
  }

  /** A document's point of chunk space: missing is null, hashed where the key is hashed. */
  #keyOf(row: Uint8Array): RawValue[] {
    return Object.entries(this.key).map(([path, kind]) => {
      let value: RawValue | undefined;
      let inside: Uint8Array | undefined = row;
      for (const part of path.split(".")) {
        value = inside && getField(inside, part);
        inside = value?.type === BsonType.object ? asDocument(value) : undefined;
      }
      return kind === "hashed" ? encodeValue(hash64(value)) : (value ?? NULL);
    });
  }
}

/** All documents of a find or an aggregate, over all batches; or the code of the refusal. */
async function rowsOf(endpoint: Endpoint, command: Doc, db = "test"): Promise<Outcome> {
  const rows: Uint8Array[] = [];
  let reply = await endpoint.run(request(db, command));
  for (;;) {
    if (!isOk(reply)) return { code: codeOf(fromDocument(reply.body)), rows: [] };
    const { id, batch } = readCursorReply(reply);
    rows.push(...batch);
    if (id === 0n) return { code: undefined, rows };
    const collection = String(Object.values(command)[0]);
    reply = await endpoint.run(request(db, { getMore: id, collection, batchSize: 5 }));
  }
}

async function runOn(endpoint: Endpoint, command: Doc, db = "test"): Promise<Doc> {
  return fromDocument((await endpoint.run(request(db, command))).body);
}

/** The code of a failure, of the command or of its first write. */
function codeOf(reply: Doc): number {
  const [first] = (reply.writeErrors ?? [reply]) as { code: number }[];
  return first!.code;
}

/** What of a reply must be the same on both sides. */
function outlineOf(reply: Doc, names: readonly string[]): Doc {
  const writeErrors = (reply.writeErrors as Doc[] | undefined)?.map(({ index, code }) => ({ index, code }));
  const whole: Doc = { ...reply, writeErrors };
  return Object.fromEntries(["ok", "code", ...names].map((name) => [name, whole[name]]));
}

/** Fails unless each row is one of `all`, no row more than once. */
function expectSome(rows: readonly Uint8Array[], all: readonly Uint8Array[]): void {
  const possible = new Set(all.map(shown));
  for (const row of rows)
    expect(possible.delete(shown(row)), `${shown(row)} is no match, or came twice`).toBe(true);
}

/** The update of a change, which leaves its mark on the document. */
function updateOf(change: Change, mark: number): Doc | Doc[] {
  switch (change.form) {
    case "operators":
      return { ...change.update, $set: { ...(change.update.$set as Doc | undefined), mark } };
    case "pipeline":
      return [...change.update, { $set: { mark } }];
    case "replacement":
      return { ...change.body, mark };
  }
}
