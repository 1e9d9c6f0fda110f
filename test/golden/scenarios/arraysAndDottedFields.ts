/** Keys inside of documents, and arrays, which no key may have. */
import type { Scenario } from "../scenario.js";
import { layOut, range, refused, routed } from "../scenario.js";

const ONE = "[MinKey, 100) A";
const TWO = "[100, MaxKey) B";

export const arraysAndDottedFields: Scenario = {
  file: "arrays-and-dotted-fields",
  title: 'A key inside of documents, {"a.b": 1}; and arrays, which no key may have',
  setUp: async (cluster) => {
    await layOut(cluster, "test.nested", { "a.b": 1 }, [[{ "a.b": 100 }, "B"]]);
    await cluster.ok("test", { insert: "nested", documents: range(0, 200).map((b) => ({ _id: b, a: { b } })) });
  },
  steps: [
    routed("The dotted path by equality", "§4.1", { find: "nested", filter: { "a.b": 42 } }, "shardKey", "A", [ONE]),
    routed("The embedded document by equality pins what is inside", "§4.1", { find: "nested", filter: { a: { b: 150 } } }, "shardKey", "B", [TWO]),
    routed("Also with more in it", "§4.1", { find: "nested", filter: { a: { b: 42, c: 1 } } }, "shardKey", "A", [ONE]),
    routed("A range on the path", "§4.1", { find: "nested", filter: { "a.b": { $gte: 120 } } }, "bounds", "B", [TWO]),
    routed("Another path in the same document", "§4.1", { find: "nested", filter: { "a.c": 1 } }, "allShards", "AB", [ONE, TWO]),
    routed("An embedded document without the field: it is missing, so null", "§4.2", { insert: "nested", documents: [{ _id: "none", a: {} }] }, "shardKey", "A", [`${ONE} 1`], { n: 1 }),
    refused("An array as the key's value", "§4.2", { insert: "nested", documents: [{ a: { b: [1, 2] } }] }, 61),
    refused("An array on the key's path", "§4.2", { insert: "nested", documents: [{ a: [{ b: 1 }] }] }, 61),
    routed("Other fields may have arrays", "§4.2", { insert: "nested", documents: [{ _id: "tags", a: { b: 5 }, tags: [1, 2] }] }, "shardKey", "A", [`${ONE} 1`], { n: 1 }),
  ],
};
