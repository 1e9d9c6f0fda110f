import { compileFilter, explainFailure } from "../../lib/query/index.js";
import { asDocument, BsonType } from "shardlab/bson";
import { expect } from "vitest";
import { bson, js } from "./support.js";

/** `errInfo.details` for a document that the filter does not match. */
export function details(filter: object, doc: object): unknown {
  expect(compileFilter(bson(filter)).matches(bson(doc))).toBe(false);
  const result = explainFailure(bson(filter), bson(doc));
  expect(result.type).toBe(BsonType.object);
  return js(asDocument(result));
}
