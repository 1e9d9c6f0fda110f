import { describe, expect, test } from "vitest";
import { NOT_BUILT, STAGES } from "../../lib/query/pipeline/stages/index.js";
import { TestMongod } from "../mongod/support.js";
import { rows, type StageRow } from "./tables/stage.table.js";
import { coverage } from "./tables/row.js";

/** Stages of which the table is somebody else's. */
const ELSEWHERE = new Set(["$densify", "$fill", "$setWindowFields"]);

async function run(row: StageRow): Promise<unknown> {
  const t = new TestMongod();
  if (row.docs.length > 0) await t.insert("c", ...row.docs);
  for (const [name, docs] of Object.entries(row.others ?? {})) await t.insert(name, ...docs);
  const command = { aggregate: row.database === undefined ? "c" : 1, pipeline: row.pipeline, cursor: {} };
  const reply = await t.reply(command, row.database ?? "library");
  if (row.error !== undefined) return reply["code"];
  expect(reply).toMatchObject({ ok: 1 });
  if (row.written !== undefined) return t.find(row.written, {}, { sort: { _id: 1 } });
  return reply["cursor"].firstBatch;
}

describe("every stage as MongoDB documents it", () => {
  test.each(
    rows.map((row, i) => [`${row.op} ${row.kind} ${i}: ${JSON.stringify(row.pipeline)}`, row] as const),
  )("%s", async (_, row) => {
    expect(await run(row)).toEqual(row.error ?? row.gives);
  });

  test("each stage has a row of a scalar, of null or missing, and of an array", () => {
    const built = [...STAGES.keys()].filter((name) => !ELSEWHERE.has(name));
    expect(built.length).toBeGreaterThan(20);
    coverage(rows, built);
  });

  test("what is not built is refused by name, what does not exist is 40324", async () => {
    const t = new TestMongod();
    for (const name of NOT_BUILT) {
      const reply = await t.reply({ aggregate: "c", pipeline: [{ [name]: {} }], cursor: {} });
      expect(reply).toMatchObject({ code: 238, errmsg: expect.stringContaining(name) });
    }
    expect(await t.reply({ aggregate: "c", pipeline: [{ $nonsense: 1 }], cursor: {} })).toMatchObject({
      code: 40324,
      codeName: "Location40324",
      errmsg: "Unrecognized pipeline stage name: '$nonsense'",
    });
  });
});
