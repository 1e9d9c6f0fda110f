/**
 * Golden routing traces.
 *
 * Each scenario sets a collection up, runs operations and writes what the router did with them to a `.trace`
 * file that reads as teaching material. Beside each trace stands what was expected: shards and ranges written by
 * hand, with the § of facts-mongos.md that they follow from. They are asserted here one by one; a snapshot alone
 * would only say that nothing has changed, and `-u` would accept a fault.
 */
import { expect, test } from "vitest";
import { startCluster } from "../router/support/cluster.js";
import { rangeText, renderStep, stepText } from "./render.js";
import { SCENARIOS } from "./scenarios/index.js";

for (const { file, title, rules, setUp, steps } of SCENARIOS) {
  test(`${file}: ${title}`, async () => {
    const cluster = await startCluster({ shards: 3, ...(rules && { rules }) });
    await setUp(cluster);
    const parts = [`# ${title}${rules ? ` (rules ${rules})` : ""}`];
    for (const step of steps) {
      const { command, expected } = step;
      const what = `${step.lesson}: ${JSON.stringify(command, (_, v) => (typeof v === "bigint" ? String(v) : (v as unknown)))}`;
      let reply = {} as Record<string, unknown>;
      const entries = await cluster.traced(async () => {
        reply = await cluster.run("test", command);
      });
      const [failure] = (reply.writeErrors ?? []) as { code: number }[];
      if ("code" in expected) {
        expect(failure?.code ?? reply.code, what).toBe(expected.code);
      } else {
        expect(reply.ok === 1 && !failure ? "ok" : (reply.errmsg ?? failure), what).toBe("ok");
        expect(entries, what).toHaveLength(1);
        const entry = entries[0]!;
        const asked = [...new Set(entry.shards.map(({ shard }) => shard.slice(-1)))].join("");
        expect(
          { kind: entry.targeting.kind, asks: asked, ranges: entry.ranges.map(rangeText) },
          what,
        ).toEqual({ kind: expected.kind, asks: expected.asks, ranges: expected.ranges });
        if (expected.steps) expect(entry.shards.map(stepText), what).toEqual(expected.steps);
        if (expected.reply) expect(reply, what).toMatchObject(expected.reply);
      }
      parts.push(renderStep(step, entries, reply));
    }
    await expect(`${parts.join("\n\n")}\n`).toMatchFileSnapshot(`./${file}.trace`);
  });
}

test("there are at least 60 operations to read, and each names its facts", () => {
  const steps = SCENARIOS.flatMap((scenario) => scenario.steps);
  expect(steps.length).toBeGreaterThanOrEqual(60);
  for (const { facts, lesson } of steps) expect(facts, lesson).toMatch(/^§\d/);
});

test("an insert tells the keys of its first three documents, and where hashed ones lie (§2.2)", async () => {
  const cluster = await startCluster({ shards: 2 });
  await cluster.admin({ enableSharding: "test", primaryShard: "shardA" });
  await cluster.admin({ shardCollection: "test.events", key: { deviceId: "hashed" } });
  const documents = [{ deviceId: "dev-42" }, { deviceId: ["dev-1"] }, { i: 1 }, { deviceId: "dev-0" }];
  const [entry] = await cluster.traced(() => cluster.run("test", { insert: "events", documents, ordered: false }));
  // The second is refused: an array in the key.
  expect(entry!.targeting.samples).toEqual([
    '{ deviceId: "dev-42" } is at { deviceId: 7632986869154119240 }',
    "{ deviceId: null } is at { deviceId: 2338878944348059895 }",
  ]);
});
