/**
 * Which queries take the shortest way: an equality that at most one document meets.
 *
 *     {_id: 7}                          EXPRESS_IXSCAN on _id_
 *     {email: "x"}, email_1 unique      EXPRESS_IXSCAN on email_1
 *     {dept: "x"} with limit 1          EXPRESS_IXSCAN on dept_1, or an index that begins with dept
 *     {_id: 7} with returnKey           IDHACK
 *
 * The conditions are those of 8.x. Everything else is planned.
 */
import type { RawValue } from "../../bson/index.js";
import { BsonType, EMPTY_DOCUMENT, sameCollation } from "../../bson/index.js";
import { implies, isSimpleProjection } from "../../query/index.js";
import type { Collection } from "../storage/collection.js";
import type { CollectionIndex } from "../storage/collectionIndex.js";
import type { FieldCodec } from "./bounds/keyIntervals.js";
import { KeyDocuments } from "./covering.js";
import { fieldCodecs, indexCollation } from "./indexInfo.js";
import type { PlanStage } from "./planStage.js";
import type { Query } from "./query.js";
import { ExpressScan, IdHack } from "./stages/express.js";
import { Limit, Projection, ReturnKey } from "./stages/shaping.js";

/** The plan, or undefined where the query has to be planned. */
export function expressPlan(collection: Collection, query: Query): PlanStage | undefined {
  const { node } = query.filter;
  if (node.op !== "eq" || !isExact(node.value)) return undefined;
  if (query.skip > 0 || query.hint || query.min || query.max || query.showRecordId || query.tailable)
    return undefined;
  const { projection } = query;
  const express =
    !query.returnKey && !query.hasBatchSize && (!projection || isSimpleProjection(projection.spec));
  if (node.path === "_id") {
    const { idIndex } = collection;
    if (!sameCollation(query.options.collation, collection.collation)) return undefined;
    const key = keyOf(idIndex, node.value);
    idIndex.accesses++;
    return express ? new ExpressScan(collection, idIndex, key, projection) : idHack(collection, key, query);
  }
  if (!express || projection || query.sort || query.forWrite) return undefined;
  const index = equalityIndex(collection, query, node.path, node.value);
  if (!index) return undefined;
  index.accesses++;
  return new ExpressScan(collection, index, keyOf(index, node.value), undefined);
}

function idHack(collection: Collection, key: string, query: Query): PlanStage {
  const { projection, returnKey, sort } = query;
  const wantsKey = returnKey ?? projection?.usesMeta;
  const keys = wantsKey ? new KeyDocuments(collection.idIndex) : undefined;
  let stage: PlanStage = new IdHack(collection, key, keys);
  if (returnKey) stage = new ReturnKey(stage, EMPTY_DOCUMENT);
  else if (projection) {
    const { spec, apply, usesMeta } = projection;
    stage = new Projection(
      isSimpleProjection(spec) ? "PROJECTION_SIMPLE" : "PROJECTION_DEFAULT",
      stage,
      apply,
      spec,
      usesMeta &&
        (({ document, recordId, indexKey }) => ({
          recordId,
          ...(indexKey && { indexKey }),
          ...(sort && { sortKey: sort.compiled.values(document) }),
        })),
    );
  }
  return query.limit > 0 ? new Limit(stage, query.limit) : stage;
}

function keyOf(index: CollectionIndex, value: RawValue): string {
  return (fieldCodecs(index)[0] as FieldCodec).component(value);
}

/** The index with the fewest fields among those that give the one document. */
function equalityIndex(
  collection: Collection,
  query: Query,
  path: string,
  value: RawValue,
): CollectionIndex | undefined {
  let best: CollectionIndex | undefined;
  for (const index of collection.indexes) {
    const { spec } = index;
    const first = spec.fields[0];
    if (spec.hidden || first?.path !== path || spec.fields.some(({ kind }) => kind === "hashed")) continue;
    if (!(spec.unique && spec.fields.length === 1) && query.limit !== 1) continue;
    if (holdsStrings(value) && !sameCollation(query.options.collation, indexCollation(index))) continue;
    if (spec.partialFilter && !implies(query.filter.node, spec.partialFilter.filter.node)) continue;
    if (isNumberedPath(path)) continue;
    if (!best || spec.fields.length < best.spec.fields.length) best = index;
  }
  return best;
}

/** A number in a path may name a field or pick an element: the index tells only one of them. */
function isNumberedPath(path: string): boolean {
  return path.split(".").some((part) => /^\d+$/.test(part));
}

function holdsStrings({ type }: RawValue): boolean {
  return type === BsonType.string || type === BsonType.object || type === BsonType.array;
}

/** Values whose key, and only theirs, says that a document matches. */
function isExact({ type }: RawValue): boolean {
  switch (type) {
    case BsonType.array:
    case BsonType.regex:
    case BsonType.null:
    case BsonType.undefined:
      return false;
    default:
      return true;
  }
}
