/**
 * A whole cluster under broken commands: good framing, random bytes changed
 * inside. Every message gets its reply, and the others' work goes on.
 */
import fc from "fast-check";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cluster } from "../../lib/cluster/index.js";
import { RawClient } from "../net/rawClient.js";
import { body, opMsg, sequence } from "../protocol/frames.js";

const LOAN = { memberId: 5, isbn: "x", history: [1, { returned: null }] };
const COMMANDS: readonly number[][][] = [
  [body({ insert: "loans", $db: "library" }), sequence("documents", [LOAN, { memberId: 7, isbn: null }])],
  [
    body({
      find: "loans",
      filter: { memberId: { $gt: 3, $in: [5, 7] } },
      sort: { isbn: 1 },
      limit: 5,
      $db: "library",
    }),
  ],
  [
    body({ update: "loans", $db: "library" }),
    sequence("updates", [
      { q: { memberId: 5, isbn: "x" }, u: { $set: { z: 1 }, $inc: { k: 2 } }, upsert: true },
    ]),
  ],
  [body({ delete: "loans", deletes: [{ q: { memberId: 5 }, limit: 0 }], $db: "library" })],
  [
    body({
      aggregate: "loans",
      pipeline: [
        { $match: { memberId: 5 } },
        { $group: { _id: "$isbn", n: { $sum: 1 } } },
        { $sort: { n: -1 } },
      ],
      cursor: {},
      $db: "library",
    }),
  ],
  [body({ explain: { find: "loans", filter: { memberId: 5 } }, verbosity: "queryPlanner", $db: "library" })],
  [body({ count: "loans", query: { isbn: "x" }, $db: "library" })],
  [
    body({
      createIndexes: "loans",
      indexes: [{ key: { memberId: 1, due: -1 }, name: "due" }],
      $db: "library",
    }),
  ],
  [body({ split: "library.loans", middle: { memberId: 6 }, $db: "admin" })],
  [body({ moveChunk: "library.loans", find: { memberId: 6 }, to: "shardB", $db: "admin" })],
];

let cluster: Cluster;
beforeAll(async () => (cluster = await Cluster.start({ seed: 1 })));
afterAll(() => cluster.close());

describe("broken commands", () => {
  it("are all answered, and harm nobody else", async () => {
    const driver = await new MongoClient(cluster.info.uri, { serverSelectionTimeoutMS: 5_000 }).connect();
    await driver.db("admin").command({ shardCollection: "library.loans", key: { memberId: 1 } });
    const marks = driver.db("other").collection<{ _id: number }>("marks");
    const hostile = await RawClient.to(Number(new URL(cluster.info.uri).port));
    const broken = fc
      .record({
        sections: fc.constantFrom(...COMMANDS),
        flips: fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 3 }),
      })
      .map(({ sections, flips }) => {
        const bytes = opMsg(sections);
        // Header and flags stay good; a reply is owed to each.
        for (const [at, bits] of flips) bytes[20 + (at % (bytes.length - 20))]! ^= bits;
        return bytes;
      });
    let marked = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(broken, { minLength: 30, maxLength: 30 }), async (messages) => {
        hostile.send(...messages);
        for (const _ of messages)
          expect(await hostile.nextHeader()).toMatchObject({ responseTo: 7, opCode: 2013 });
        await marks.insertOne({ _id: marked++ });
      }),
      { numRuns: 100 },
    );
    expect(await marks.countDocuments()).toBe(marked);
    hostile.close();
    await driver.close();
  });
});
