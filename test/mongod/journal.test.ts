/**
 * A server whose journal is kept: whatever happened to it, one that is made from the journal has the same content.
 *
 * "Content" is what a client can see: collections with their options, UUIDs and indexes, views, documents in their
 * order, and what the indexes find.
 */
import { UUID } from "bson";
import fc from "fast-check";
import { fromDocument, toDocument } from "shardlab/bson";
import type { Journal, ServerStorage } from "shardlab/mongod";
import { JournalError, Mongod } from "shardlab/mongod";
import { request } from "shardlab/protocol";
import { describe, expect, it } from "vitest";
import type { Doc } from "../router/support/cluster.js";
import { seeded } from "../router/support/cluster.js";

/** A disk: keeps the journal's pieces. */
class Disk implements ServerStorage {
  frames: Uint8Array[] = [];
  journal!: Journal;
  snapshot!: () => Iterable<Uint8Array>;

  constructor(frames: readonly Uint8Array[] = []) {
    this.frames = [...frames];
  }

  start(journal: Journal, snapshot: () => Iterable<Uint8Array>): void {
    this.journal = journal;
    this.snapshot = snapshot;
    this.checkpoint();
  }

  checkpoint(): void {
    this.frames = Array.from(this.snapshot(), (piece) => piece.slice());
  }

  keep(): void {
    if (this.journal.pending > 0) this.frames.push(this.journal.take().slice());
  }
}

class Kept {
  readonly disk: Disk;
  readonly mongod: Mongod;

  constructor(frames: readonly Uint8Array[] = [], replSet?: string) {
    this.disk = new Disk(frames);
    let time = Date.UTC(2026, 0, 1);
    this.mongod = new Mongod({
      environment: { now: () => (time += 1), random: seeded(frames.length + 1) },
      host: "127.0.0.1:27018",
      storage: this.disk,
      ...(replSet !== undefined && { replSet, initiated: false }),
    });
  }

  async run(db: string, command: Doc): Promise<Doc> {
    const reply = fromDocument((await this.mongod.run(request(db, command))).body) as Doc;
    this.disk.keep();
    return reply;
  }

  /** The same directory after `kill -9`. */
  again(replSet?: string): Kept {
    return new Kept(this.disk.frames, replSet);
  }
}

async function contentOf(server: Kept): Promise<Doc> {
  const content: Doc = {};
  const { databases } = await server.run("admin", { listDatabases: 1 });
  for (const { name: db } of databases as { name: string }[]) {
    const { cursor } = await server.run(db, { listCollections: 1 });
    for (const entry of (cursor as { firstBatch: Doc[] }).firstBatch) {
      const name = String(entry["name"]);
      const indexes = await server.run(db, { listIndexes: name });
      const documents = await server.run(db, { find: name, batchSize: 100_000 });
      const byX = await server.run(db, { find: name, filter: { x: { $gte: 0 } }, sort: { x: 1, _id: 1 } });
      const batch = ({ cursor, code }: Doc): unknown => (cursor as Doc | undefined)?.["firstBatch"] ?? code;
      content[`${db}.${name}`] = {
        entry,
        indexes: batch(indexes),
        documents: batch(documents),
        byX: batch(byX),
      };
    }
  }
  return content;
}

describe("a server that is made again from its journal", () => {
  it("has the documents, in their order, and the indexes", async () => {
    const server = new Kept();
    await server.run("library", {
      create: "loans",
      validator: { x: { $gte: 0 } },
      collation: { locale: "fr" },
    });
    await server.run("library", {
      createIndexes: "loans",
      indexes: [
        { key: { x: 1 }, name: "x", unique: true },
        { key: { due: 1 }, name: "due", expireAfterSeconds: 3600 },
        { key: { t: "hashed" }, name: "t", collation: { locale: "simple" } },
      ],
    });
    await server.run("library", {
      insert: "loans",
      documents: [2, 0, 1].map((x) => ({ _id: x, x, t: `${x}` })),
    });
    await server.run("library", {
      update: "loans",
      updates: [{ q: { _id: 0 }, u: { $set: { t: "zero" } } }],
    });
    await server.run("library", { delete: "loans", deletes: [{ q: { _id: 1 }, limit: 1 }] });
    const back = server.again();
    expect(await contentOf(back)).toEqual(await contentOf(server));
    const { cursor } = await back.run("library", { find: "loans" });
    expect((cursor as Doc)["firstBatch"]).toEqual([
      { _id: 2, x: 2, t: "2" },
      { _id: 0, x: 0, t: "zero" },
    ]);
    // Uniqueness, the validator and the order of record ids are in force again.
    const again = await back.run("library", {
      insert: "loans",
      documents: [
        { _id: 9, x: 2 },
        { _id: 8, x: -1 },
      ],
    });
    expect(again["writeErrors"]).toMatchObject([{ code: 11000 }]);
    const refused = await back.run("library", { insert: "loans", documents: [{ _id: 8, x: -1 }] });
    expect(refused["writeErrors"]).toMatchObject([{ code: 121 }]);
    await back.run("library", { insert: "loans", documents: [{ _id: 7, x: 7 }] });
    const last = await back.run("library", { find: "loans", sort: { $natural: -1 }, limit: 1 });
    expect((last["cursor"] as Doc)["firstBatch"]).toEqual([{ _id: 7, x: 7 }]);
  });

  it("has views, also views on views, and their documents in system.views", async () => {
    const server = new Kept();
    await server.run("d", { insert: "c", documents: [{ _id: 1 }, { _id: 2 }] });
    await server.run("d", { create: "a", viewOn: "b", pipeline: [] });
    await server.run("d", { create: "b", viewOn: "c", pipeline: [{ $match: { _id: 2 } }] });
    await server.run("d", { collMod: "a", viewOn: "b", pipeline: [{ $set: { a: 1 } }] });
    await server.run("d", { create: "gone", viewOn: "c", pipeline: [] });
    await server.run("d", { drop: "gone" });
    const back = server.again();
    expect((await back.run("d", { find: "a" }))["cursor"]).toMatchObject({ firstBatch: [{ _id: 2, a: 1 }] });
    const views = (await back.run("d", { find: "system.views", sort: { _id: 1 } }))["cursor"];
    expect(views).toMatchObject({ firstBatch: [{ _id: "d.a" }, { _id: "d.b" }] });
  });

  it("has what $out, renameCollection, convertToCapped and dropDatabase left", async () => {
    const server = new Kept();
    await server.run("d", { insert: "c", documents: [1, 2, 3].map((_id) => ({ _id, x: _id })) });
    await server.run("d", { aggregate: "c", pipeline: [{ $out: "copy" }], cursor: {} });
    await server.run("admin", { renameCollection: "d.copy", to: "e.copy" });
    await server.run("admin", { renameCollection: "d.c", to: "d.renamed" });
    await server.run("d", { convertToCapped: "renamed", size: 4096 });
    await server.run("f", { insert: "c", documents: [{}] });
    await server.run("f", { dropDatabase: 1 });
    expect(Object.keys(await contentOf(server))).toEqual(["d.renamed", "e.copy"]);
    expect(await contentOf(server.again())).toEqual(await contentOf(server));
  });

  it("is the primary of its replica set, in the next term", async () => {
    const server = new Kept([], "rs");
    await server.run("admin", {
      replSetInitiate: { _id: "rs", members: [{ _id: 0, host: "127.0.0.1:27018" }] },
    });
    await server.run("d", { insert: "c", documents: [{ _id: 1 }] });
    const back = server.again("rs").again("rs");
    expect(await back.run("admin", { hello: 1 })).toMatchObject({ isWritablePrimary: true, setName: "rs" });
    expect(await back.run("admin", { replSetGetStatus: 1 })).toMatchObject({ term: 3 });
    expect(await back.run("admin", { replSetInitiate: {} })).toMatchObject({ code: 23 });
    expect(await back.run("d", { count: "c" })).toMatchObject({ n: 1 });
    // As a server without a set it has the documents, and keeps what the set was.
    const alone = back.again();
    expect(await alone.run("d", { count: "c" })).toMatchObject({ n: 1 });
    expect(await alone.again("rs").run("admin", { hello: 1 })).toMatchObject({ isWritablePrimary: true });
  });

  it("whatever random commands did to it", async () => {
    const name = fc.constantFrom("a", "b", "c");
    const x = fc.integer({ min: 0, max: 20 });
    const command = fc.oneof(
      fc.tuple(name, fc.array(x, { minLength: 1, maxLength: 30 })).map(([insert, xs]) => ({
        insert,
        documents: xs.map((x, i) => ({ _id: x * 100 + i, x, pad: "p".repeat(x * 300) })),
        ordered: false,
      })),
      fc.tuple(name, x, x).map(([update, a, b]) => ({
        update,
        updates: [{ q: { x: { $gt: a } }, u: { $set: { x: b, n: "n".repeat(b) } }, multi: true }],
      })),
      fc.tuple(name, x).map(([drop, a]) => ({ delete: drop, deletes: [{ q: { x: a }, limit: 0 }] })),
      fc.tuple(name, fc.boolean()).map(([createIndexes, unique]) => ({
        createIndexes,
        indexes: [{ key: { x: 1, ...(unique && { _id: 1 }) }, name: unique ? "u" : "x", unique }],
      })),
      name.map((dropIndexes) => ({ dropIndexes, index: "x" })),
      fc.tuple(name, fc.boolean()).map(([collMod, hidden]) => ({ collMod, index: { name: "x", hidden } })),
      name.map((drop) => ({ drop })),
      fc.tuple(name, name).map(([aggregate, out]) => ({ aggregate, pipeline: [{ $out: out }], cursor: {} })),
      fc.constant({ checkpoint: 1 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 40 }), async (commands) => {
        const server = new Kept();
        for (const one of commands) {
          if ("checkpoint" in one) server.disk.checkpoint();
          else await server.run("d", one);
        }
        expect(await contentOf(server.again())).toEqual(await contentOf(server));
      }),
      { numRuns: 60 },
    );
  });

  it("does not take something else for a journal", () => {
    expect(() => new Kept([toDocument({ a: 1 })])).toThrow(JournalError);
    expect(() => new Kept([Uint8Array.of(6, 1, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 0)])).toThrow(
      "a record of collection 1, which is not defined",
    );
  });
});

describe("a retryable write that is sent again after a restart", () => {
  /** With the driver's session and number. */
  const numbered = (command: Doc, txnNumber: bigint): Doc => ({
    ...command,
    lsid: { id: new UUID("00112233445566778899aabbccddeeff") },
    txnNumber,
  });
  const set = { $inc: { n: 1 } };
  const commands: [string, string, Doc][] = [
    ["insert", "d", { insert: "c", documents: [{ _id: 7 }, { _id: 8 }] }],
    ["update", "d", { update: "c", updates: [{ q: { _id: 1 }, u: set }] }],
    ["upsert", "d", { update: "c", updates: [{ q: { x: 5 }, u: set, upsert: true }] }],
    ["delete of any one", "d", { delete: "c", deletes: [{ q: {}, limit: 1 }] }],
    ["findAndModify", "d", { findAndModify: "c", query: { _id: 1 }, update: set, new: true }],
    ["remove", "d", { findAndModify: "c", query: {}, sort: { _id: -1 }, remove: true }],
    ["nothing found", "d", { findAndModify: "c", query: { _id: 99 }, update: set }],
    [
      "bulkWrite",
      "admin",
      {
        bulkWrite: 1,
        ops: [
          { update: 0, filter: { _id: 1 }, updateMods: set },
          { update: 0, filter: { x: 6 }, updateMods: { $set: { x: 6 } }, upsert: true },
          { insert: 0, document: { _id: 9 } },
        ],
        nsInfo: [{ ns: "d.c" }],
      },
    ],
  ];

  it.each(commands)("%s: gets its first answer, and nothing happens twice", async (_, db, command) => {
    const server = new Kept();
    const three = [1, 2, 3].map((_id) => ({ _id, n: 0 }));
    await server.run("d", { insert: "c", documents: three });
    const first = await server.run(db, numbered(command, 5n));
    expect(first).toMatchObject({ ok: 1 });
    const content = await contentOf(server);
    const again = server.again(); // begins with a snapshot: the second one has read what the first one wrote so
    for (const restarted of [again, again.again()]) {
      expect(await restarted.run(db, numbered(command, 5n))).toEqual(first);
      expect(await contentOf(restarted)).toEqual(content);
      expect(await restarted.run(db, numbered(command, 4n))).toMatchObject({ code: 225 });
    }
  });

  it("statements that had failed or had not been reached run", async () => {
    const server = new Kept();
    await server.run("d", { insert: "c", documents: [{ _id: 2 }] });
    const insert = numbered({ insert: "c", documents: [{ _id: 1 }, { _id: 2 }, { _id: 3 }] }, 1n);
    expect(await server.run("d", insert)).toMatchObject({ n: 1, writeErrors: [{ index: 1, code: 11000 }] });
    await server.run("d", { delete: "c", deletes: [{ q: { _id: 2 }, limit: 1 }] });
    expect(await server.again().run("d", insert)).toMatchObject({ n: 3, ok: 1 });
  });
});
