/**
 * Twenty thousand messages that no driver would send, to a real mongod on a port: random bytes, valid messages cut
 * short, with bits turned over, with pieces of others in their middle. Each is answered or ends its connection.
 */
import { setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { serialize } from "bson";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Mongod } from "../../lib/mongod/index.js";
import type { TcpServer } from "../../lib/net/index.js";
import { serve } from "../../lib/net/index.js";
import { replyDocument, request } from "../../lib/protocol/index.js";
import { TestEnvironment } from "../mongod/support.js";
import {
  body,
  int32,
  largeInsert,
  message,
  opMsg,
  opQuery,
  sequence,
  withChecksum,
} from "../protocol/frames.js";
import { RawClient } from "./rawClient.js";

const MESSAGES = 20_000;
const ROUND = 500;
const PER_CONNECTION = 5;

/** Valid messages of every kind: what is mutated. */
const SEEDS: readonly Uint8Array[] = [
  ...[
    {
      find: "c",
      filter: { a: { $gt: 5, $in: [1, "x"] }, $or: [{ b: 1 }, { c: null }] },
      sort: { a: -1 },
      limit: 5,
    },
    { find: "c", filter: { a: { $elemMatch: { b: 1 } } }, projection: { a: { $slice: 2 } }, hint: { a: 1 } },
    {
      find: "c",
      filter: { s: { $regex: "^a.*b$", $options: "i" } },
      collation: { locale: "en", strength: 2 },
    },
    {
      aggregate: "c",
      pipeline: [{ $match: { a: 1 } }, { $group: { _id: "$b", n: { $sum: 1 } } }],
      cursor: {},
    },
    {
      aggregate: "c",
      pipeline: [{ $project: { x: { $add: ["$a", 1] } } }, { $unwind: "$a" }],
      cursor: { batchSize: 2 },
    },
    {
      update: "c",
      updates: [{ q: { a: 1 }, u: { $set: { b: 2 }, $inc: { n: 1 } }, multi: true, upsert: true }],
    },
    { update: "c", updates: [{ q: { _id: 1 }, u: { $push: { l: { $each: [1, 2], $slice: -3 } } } }] },
    { delete: "c", deletes: [{ q: { a: { $lt: 1 } }, limit: 0 }], ordered: false },
    { findAndModify: "c", query: { a: 1 }, update: { $unset: { b: 1 } }, new: true },
    {
      insert: "c",
      documents: [
        { a: 1, b: [1, { c: "x" }], d: new Date(5), e: /x/i },
        { _id: 7, l: [] },
      ],
    },
    { createIndexes: "c", indexes: [{ key: { a: 1, b: -1 }, name: "a_1_b_-1", unique: true }] },
    { createIndexes: "d", indexes: [{ key: { at: 1 }, name: "at_1", expireAfterSeconds: 5 }] },
    { dropIndexes: "c", index: "*" },
    { create: "k", capped: true, size: 5000 },
    { collMod: "k", cappedSize: 6000 },
    { count: "c", query: { a: 1 } },
    { distinct: "c", key: "a", query: { b: 1 } },
    { explain: { find: "c", filter: { a: 1 } }, verbosity: "executionStats" },
    { listIndexes: "c" },
    { listCollections: 1, filter: { name: "c" } },
    { getMore: 5n, collection: "c" },
    { drop: "d" },
    { hello: 1, client: { driver: { name: "x", version: "1" }, os: { type: "Linux" } } },
    { ping: 1, lsid: { id: new Uint8Array(16) }, $clusterTime: { clusterTime: 5n } },
  ].map((command) => opMsg([body({ ...command, $db: "library" })])),
  opMsg([
    sequence("documents", [{ a: 1 }, { a: 2, s: "x".repeat(40) }]),
    body({ insert: "c", $db: "library" }),
  ]),
  opMsg([body({ update: "c", $db: "library" }), sequence("updates", [{ q: { a: 1 }, u: { a: 5 } }])]),
  withChecksum([body({ ping: 1, $db: "admin" })]),
  opQuery("admin.$cmd", { ismaster: 1, helloOk: true }),
  message(2005, [...int32(0), 97, 0, ...int32(0)]),
  message(2012, [...int32(2013), ...int32(20), 2, 1, 2, 3]),
];

class Mutator {
  constructor(private readonly random: () => number) {}

  private below(n: number): number {
    return Math.floor(this.random() * n);
  }

  private seed(): Uint8Array {
    return SEEDS[this.below(SEEDS.length)]!.slice();
  }

  /** The next message, and whether its framing is sound. */
  next(): { bytes: Uint8Array; framed: boolean } {
    const kind = this.below(10);
    if (kind === 0) return { bytes: this.noise(this.below(200)), framed: false };
    let bytes: Uint8Array = kind === 1 ? this.noise(16 + this.below(200)) : this.seed();
    if (kind >= 5) bytes = this.spliced(bytes);
    if (kind !== 2) for (let n = this.below(4) + 1; n > 0; n--) this.flip(bytes);
    if (kind === 3) bytes = bytes.subarray(0, 16 + this.below(bytes.length - 16));
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const framed = kind !== 4 && bytes.length >= 16;
    if (framed) {
      // A sound length and mostly a sound opcode, so that the contents are looked at.
      view.setInt32(0, bytes.length, true);
      if (this.below(20) > 0 && kind !== 1) view.setInt32(12, 2013, true);
    }
    return { bytes, framed };
  }

  private noise(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(256));
  }

  private flip(bytes: Uint8Array): void {
    const at = this.below(bytes.length);
    if (this.below(3) === 0) bytes[at] = [0, 1, 0x7f, 0x80, 0xff][this.below(5)]!;
    else bytes[at]! ^= 1 << this.below(8);
  }

  /** With a piece of another message in its middle, the lengths around it left as they were. */
  private spliced(bytes: Uint8Array): Uint8Array {
    const other = this.seed();
    const at = 16 + this.below(bytes.length - 16);
    const from = this.below(other.length);
    const piece = other.subarray(from, from + this.below(20));
    if (this.below(2) === 0) {
      bytes.set(piece.subarray(0, bytes.length - at), at);
      return bytes;
    }
    return Uint8Array.from([...bytes.subarray(0, at), ...piece, ...bytes.subarray(at)]);
  }
}

/** Bytes in use that stay: buffers are freed beside the program, and closed sockets a little later. */
async function memory(): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  let least = Infinity;
  for (let i = 0; i < 10; i++) {
    collect();
    await setTimeout(50);
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    least = Math.min(least, heapUsed + arrayBuffers);
  }
  return least;
}

let mongod: Mongod;
let server: TcpServer;
beforeEach(async () => {
  server = await serve((host) => (mongod = new Mongod({ environment: new TestEnvironment(), host })));
});
afterEach(async () => {
  await server.close();
  mongod.close();
});

describe("a mongod on a port", () => {
  it(`answers after ${MESSAGES} broken messages as if nothing had been, and has not grown`, async () => {
    const mutator = new Mutator(new TestEnvironment(2026).random);
    const good = await RawClient.to(server.port);
    const documents = Array.from({ length: 50 }, (_, i) => ({ _id: i, a: i % 7, s: `text ${i}` }));
    good.send(opMsg([body({ insert: "safe", documents, $db: "mine" })]));
    expect((await good.next())!.document).toEqual({ n: 50, ok: 1 });
    const counts = { answered: 0, closed: 0 };
    let before = 0;
    for (let sent = 0; sent < MESSAGES; sent += ROUND) {
      const clients = await Promise.all(
        Array.from({ length: ROUND / PER_CONNECTION }, () => RawClient.to(server.port)),
      );
      await Promise.all(
        clients.map(async (client) => {
          const messages = Array.from({ length: PER_CONNECTION }, () => mutator.next());
          // Those that end the connection last, so that the others are looked at.
          messages.sort((a, b) => Number(b.framed) - Number(a.framed));
          for (const { bytes } of messages) client.send(bytes);
          client.socket.end();
          while (await client.nextHeader()) counts.answered++;
          counts.closed++;
        }),
      );
      good.send(opMsg([body({ count: "safe", query: { a: 3 }, $db: "mine" })]));
      expect((await good.next())!.document).toEqual({ n: 7, ok: 1 });
      // What the first rounds leave is code that was compiled; what later ones leave would be a leak.
      if (sent === ROUND * 5) before = await memory();
    }
    expect((await memory()) - before).toBeLessThan(20_000_000);
    good.close();
    expect(counts.closed).toBe(MESSAGES / PER_CONNECTION);
    expect(counts.answered).toBeGreaterThan(MESSAGES / 4);
    for (const db of ["mine", "library"]) {
      const { cursor } = replyDocument(
        await mongod.run(request(db, { listCollections: 1, filter: { type: "collection" } })),
      ) as { cursor: { firstBatch: { name: string }[] } };
      for (const { name } of cursor.firstBatch) {
        if (name.startsWith("system.")) continue;
        expect(replyDocument(await mongod.run(request(db, { validate: name })))).toMatchObject({
          valid: true,
        });
      }
    }
  });
});

describe("limits", () => {
  const OVERHEAD = serialize({ _id: 1, text: "" }).length;
  /** A document of exactly so many bytes. */
  const sized = (bytes: number): object => ({ _id: 1, text: "x".repeat(bytes - OVERHEAD) });
  const insert = async (document: object): Promise<Record<string, unknown>> =>
    replyDocument(
      await mongod.run(
        request("library", serialize({ insert: "c" }), {
          documents: [serialize(document, { checkKeys: false })],
        }),
      ),
    );
  const MAX = 16_777_216;

  it("of 16 MiB holds for a document to the byte: more is a write error, far more a failed command", async () => {
    expect(await insert(sized(MAX))).toEqual({ n: 1, ok: 1 });
    expect(await insert(sized(MAX + 1))).toMatchObject({
      n: 0,
      ok: 1,
      writeErrors: [
        { code: 2, errmsg: "object to insert too large. size in bytes: 16777217, max size: 16777216" },
      ],
    });
    expect(await insert(sized(MAX + 16 * 1024 + 1))).toMatchObject({ ok: 0, code: 10334 });
    const grow = { update: "c", updates: [{ q: { _id: 1 }, u: { $set: { more: 1 } } }] };
    expect(replyDocument(await mongod.run(request("library", grow)))).toMatchObject({
      n: 0,
      ok: 1,
      writeErrors: [{ code: 17419 }],
    });
  });

  it("of 200 levels holds for a message: more is refused, the connection goes on", async () => {
    const nested = (levels: number): object => {
      let document: object = {};
      for (let i = 1; i < levels; i++) document = { a: document };
      return document;
    };
    const client = await RawClient.to(server.port);
    client.send(
      opMsg([body({ find: "c", filter: nested(199), $db: "library" })], 0, 1),
      opMsg([body({ find: "c", filter: nested(200), $db: "library" })], 0, 2),
      opMsg([body({ ping: 1, $db: "library" })], 0, 3),
    );
    const [deep, deeper, after] = [await client.next(), await client.next(), await client.next()];
    expect(deep!.document["code"]).not.toBe(15);
    expect(deeper!.document).toMatchObject({
      code: 15,
      codeName: "Overflow",
      errmsg: "BSONObj exceeds maximum nested object depth",
    });
    expect(after!.document).toEqual({ ok: 1 });
    client.close();
  });

  it("of 48,000,000 bytes holds for a message", async () => {
    const client = await RawClient.to(server.port);
    const documents = [1, 2].map((_id) => ({ _id, text: "x".repeat(16_000_000) }));
    client.send(largeInsert("c", documents, 1));
    expect((await client.next())!.document).toEqual({ n: 2, ok: 1 });
    client.send(Uint8Array.from([...int32(48_000_001), ...int32(2), ...int32(0), ...int32(2013)]));
    expect(await client.next()).toBeUndefined();
  });
});
