import type * as Bson from "bson";
import { describe, expect, it, vi } from "vitest";
import { startCluster } from "./support/cluster.js";

/** How many documents of the kind that the test inserts have been decoded or encoded by the BSON library. */
const touched = { decoded: 0, encoded: 0 };

vi.mock("bson", async (importOriginal) => {
  const bson = await importOriginal<typeof Bson>();
  return {
    ...bson,
    deserialize: (...args: Parameters<typeof bson.deserialize>) => {
      const document = bson.deserialize(...args);
      if ("payload" in document) touched.decoded++;
      return document;
    },
    serialize: (...args: Parameters<typeof bson.serialize>) => {
      if ("payload" in args[0]) touched.encoded++;
      return bson.serialize(...args);
    },
  };
});

const { toDocument } = await import("shardlab/bson");
const { request, readCursorReply } = await import("shardlab/protocol");

describe("documents pass through router and shards as the bytes they are", () => {
  it("decodes and encodes none of 1,000 inserted documents, nor of those read back", async () => {
    const t = await startCluster({ shards: 2 });
    await t.admin({ shardCollection: "test.events", key: { deviceId: "hashed" } });
    const documents = Array.from({ length: 1000 }, (_, i) =>
      toDocument({ _id: i, deviceId: `dev-${i}`, payload: { at: new Date(i), parts: [1, 2.5, "x"] } }),
    );
    expect(touched).toEqual({ decoded: 0, encoded: 1000 }); // the counter counts: the test itself has encoded them
    touched.encoded = 0;

    const reply = await t.ok("test", { insert: "events", ordered: false }, { documents });
    expect(reply["n"]).toBe(1000);
    const found = await t.router.run(request("test", { find: "events", sort: { _id: 1 }, batchSize: 1000 }));
    const { batch } = readCursorReply(found);
    expect(touched).toEqual({ decoded: 0, encoded: 0 });

    expect(batch).toHaveLength(1000);
    expect(Buffer.compare(batch[42]!, documents[42]!)).toBe(0);
  });
});
