import { inspect } from "node:util";
import { MinKey } from "mongodb";
import type { Document, MongoClient } from "mongodb";
import { describe, expect, it } from "vitest";
import { BalancerRound, LabBalancer } from "../../lib/lab/balancer.js";
import { startLab } from "../../lib/lab/startLab.js";

const MOVE = {
  ns: "library.events",
  min: { ts: new MinKey() },
  max: { ts: 1000 },
  from: "shardB",
  to: "shardA",
  reason: "chunksImbalance",
  documents: 512,
  bytes: 65_536,
};

/** A router that answers each round with the next of these. */
function balancer(...rounds: Document[]): { balancer: LabBalancer; asked: Document[] } {
  const asked: Document[] = [];
  const command = (sent: Document): Promise<Document> => {
    asked.push(sent);
    return Promise.resolve({ migrations: [], splits: [], ok: 1, ...rounds[asked.length - 1] });
  };
  const client = { db: () => ({ command }) } as unknown as MongoClient;
  return { balancer: new LabBalancer(() => client), asked };
}

describe("lab.balancer", () => {
  it("asks for one round and shows it a line a migration", async () => {
    const { balancer: hand, asked } = balancer({ migrations: [MOVE] });
    const round = await hand.step();
    expect(asked).toEqual([{ balancerRound: 1 }]);
    expect(round.isBalanced).toBe(false);
    expect(inspect(round)).toBe(
      "library.events  { ts: MinKey() } … { ts: 1000 }  shardB → shardA  512 documents  65536 bytes  (chunksImbalance)",
    );
  });

  it("shows what failed, and what was cut for its zones", () => {
    const error = { code: 153, errmsg: "chunk too big" };
    expect(
      String(new BalancerRound({ migrations: [{ ...MOVE, error }], splits: [{ ns: "library.loans" }] })),
    ).toBe(
      "library.loans  split at the bounds of its zones\n" +
        "library.events  { ts: MinKey() } … { ts: 1000 }  shardB → shardA  failed: chunk too big  (chunksImbalance)",
    );
    expect(String(new BalancerRound({}))).toBe("nothing to move");
  });

  it("settles: rounds until one has nothing to do", async () => {
    const { balancer: hand, asked } = balancer({ migrations: [MOVE] }, { migrations: [MOVE] }, {});
    expect(await hand.settle()).toHaveLength(2);
    expect(asked).toHaveLength(3);
  });

  it("does not ask for ever where nothing gets done", async () => {
    const stuck = { migrations: [{ ...MOVE, error: "jumbo" }] };
    const { balancer: hand, asked } = balancer(stuck, stuck, stuck);
    expect(await hand.settle()).toHaveLength(1);
    expect(asked).toHaveLength(1);
    const moving = Array.from({ length: 5 }, () => ({ migrations: [MOVE] }));
    expect(await balancer(...moving).balancer.settle(3)).toHaveLength(3);
  });
});

describe("lab.balancer on a lab", () => {
  it("moves a chunk's size from the full shard to the empty one, until they differ by less than three", async () => {
    await using lab = await startLab({ shards: 2, seed: 7, chunkSize: "64KB" });
    await lab.sh.shardCollection("library.events", { ts: 1 });
    // A document has 490 bytes: 4 + 17 for _id + 8 for ts + 460 for pad + 1.
    const documents = Array.from({ length: 2000 }, (_, ts) => ({ ts, pad: "x".repeat(450) }));
    await lab.db("library").collection("events").insertMany(documents);
    const home = (await lab.sh.getShardLocation("library.events")).shards[0];

    const first = await lab.balancer.step();
    // 133 documents are 65,170 bytes; one more and it were more than 65,536.
    expect(first.migrations).toMatchObject([
      { ns: "library.events", from: home, max: { ts: 133 }, documents: 133, bytes: 65_170 },
    ]);
    const rest = await lab.balancer.settle();
    // Of 980,000 bytes, k rounds leave a difference of 980,000 - k * 130,340. Six leave 197,960, above three times
    // 65,536; seven leave 67,620.
    expect(rest).toHaveLength(6);
    const { Totals, ...shards } = await lab.sh.getShardDistribution("library.events");
    expect(Object.values(shards).map(({ docs }) => docs as number)).toEqual(
      home === "shardA" ? [2000 - 7 * 133, 7 * 133] : [7 * 133, 2000 - 7 * 133],
    );
    expect(Totals!["docs"]).toBe(2000);
    expect((await lab.balancer.step()).isBalanced).toBe(true);
    const moves = (await lab.trace()).filter(({ op }) => op === "moveRange");
    expect(moves).toHaveLength(7);
  });
});
