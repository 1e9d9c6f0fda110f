/**
 * From a query to a chain of stages.
 *
 *     find({device: "dev-42"}).sort({n: 1}).skip(10).limit(5), no index for the order:
 *
 *     SKIP 10 ← SORT (keeps 15) ← FETCH ← IXSCAN device
 *
 * In an index's own order the sort falls away and the scan ends after 15.
 */
import { BsonType, fields, isNumeric } from "../../bson/index.js";
import type { Collection } from "../storage/collection.js";
import type { Access } from "./access.js";
import { chooseAccess } from "./access.js";
import type { Interrupt } from "./interrupt.js";
import type { PlanStage } from "./planStage.js";
import type { Query } from "./query.js";
import { isEmpty } from "./query.js";
import { CollectionScan, EofStage, ExpressScan, IndexScan, OrStage } from "./scans.js";
import { Fetch, Limit, Projection, Skip, SortStage } from "./shapingStages.js";

/**
 * Plans a query.
 * @param collection undefined when it does not exist: the plan is empty
 * @throws CommandError see {@link chooseAccess}
 */
export function planQuery(collection: Collection | undefined, query: Query, interrupt: Interrupt): PlanStage {
  if (!collection) return new EofStage("nonExistentNamespace");
  if (query.filter.node.op === "alwaysFalse") return new EofStage("predicateEvalsToFalse");
  const access = chooseAccess(collection, query);
  let stage = readStage(collection, query, access, interrupt);
  const sorted = access.kind === "express" || ("sorted" in access && access.sorted) || !query.sort;
  const wanted = query.limit > 0 ? query.limit + query.skip : 0;
  if (!sorted && query.sort) stage = new SortStage(stage, query.sort.compiled, query.sort.pattern, wanted);
  if (query.projection) {
    const { spec, apply } = query.projection;
    stage = new Projection(stage, apply, spec, isSimple(spec) ? "PROJECTION_SIMPLE" : "PROJECTION_DEFAULT");
  }
  if (query.skip > 0) stage = new Skip(stage, query.skip);
  if (query.limit > 0 && sorted && access.kind !== "express") stage = new Limit(stage, query.limit);
  return stage;
}

/** The stages that find and fetch the records. */
function readStage(collection: Collection, query: Query, access: Access, interrupt: Interrupt): PlanStage {
  const filter = isTrivial(query) ? undefined : query.filter;
  switch (access.kind) {
    case "collection":
      return new CollectionScan(collection, filter, access.backward, interrupt);
    case "express":
      return new ExpressScan(collection, access.key);
    case "index":
      access.index.accesses++;
      return new Fetch(
        new IndexScan(collection, access, interrupt),
        collection,
        filter,
        access.exact ? access.index : undefined,
      );
    case "or": {
      const scans = access.branches.map((branch) => {
        branch.index.accesses++;
        return new IndexScan(collection, branch, interrupt);
      });
      return new Fetch(new OrStage(scans), collection, filter);
    }
  }
}

/** Whether the filter lets everything through. */
function isTrivial(query: Query): boolean {
  const { node } = query.filter;
  return isEmpty(query.filterDocument) || (node.op === "and" && node.children.length === 0);
}

/** Whether a projection only takes or leaves whole top-level fields. */
function isSimple(spec: Uint8Array): boolean {
  return fields(spec).every(
    ([name, value]) => !name.includes(".") && (isNumeric(value) || value.type === BsonType.bool),
  );
}
