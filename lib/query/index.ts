/**
 * MongoDB's query language on raw BSON: filters and the key bounds they imply,
 * projections, sorts, updates, aggregation. Shared by the shard, which runs
 * it on its documents, and the router, which targets and merges with it.
 */
export * from "./bounds/index.js";
export { parseCollation } from "./collation.js";
export { compileExpression } from "./expression/compile.js";
export {
  expressionContext,
  type Expression,
  type ExpressionContext,
  type ExpressionOptions,
  type ExternalVariable,
} from "./expression/context.js";
export { checkLet } from "./expression/variables.js";
export * from "./filter/index.js";
export { carryMeta, metaNames, metaOf, setMeta, usesMeta, type DocumentMeta } from "./meta.js";
export * from "./pipeline/index.js";
export type { MergeModes, PipelineHost, PreparedRead, ReadStats, Source } from "./pipeline/host.js";
export {
  compileProjection,
  isPositionalProjection,
  isSimpleProjection,
  projectedPaths,
  type ProjectedPaths,
} from "./projection/index.js";
export { compileSort, type Sort, type SortField } from "./sort/index.js";
export * from "./update/index.js";
export { typeName } from "./values/types.js";
export { countAsAggregate, distinctAsAggregate, findAsAggregate } from "./viewReads.js";
