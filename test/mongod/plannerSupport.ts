/** Collections and short questions for the tests of the planner. */
import type { Document } from "bson";
import { TestMongod } from "./support.js";

/** A collection with these documents (numbered) and indexes. */
export async function collection(
  documents: object[],
  ...indexes: [Record<string, unknown>, object?][]
): Promise<TestMongod> {
  const t = new TestMongod();
  await t.insert("c", ...documents.map((document, i) => ({ _id: i, ...document })));
  for (const [key, options] of indexes) await t.createIndex("c", key, options ?? {});
  return t;
}
export const many = (n: number, make: (i: number) => object): object[] =>
  Array.from({ length: n }, (_, i) => make(i));
export const winner = async (t: TestMongod, command: object): Promise<Document> =>
  (await t.explain({ find: "c", ...command }))["queryPlanner"].winningPlan;
/** The lowest stage of a plan without branches. */
export function bottom(plan: Document): Document {
  return plan["inputStage"] ? bottom(plan["inputStage"]) : plan;
}
export const ids = async (t: TestMongod, filter: object, options: object = {}): Promise<unknown[]> =>
  (await t.find("c", filter, options)).map(({ _id }) => _id);
export const sortedIds = async (t: TestMongod, filter: object): Promise<unknown[]> =>
  (await ids(t, filter)).sort((x, y) => Number(x) - Number(y));
