/**
 * The table of stages: what each is parsed by, and where it may stand.
 *
 * A stage that MongoDB has and this engine does not is in {@link NOT_BUILT}
 * and refused with 238; any other name is 40324.
 */
import type { StageDefinition, StageParser, Within } from "../stage.js";
import { densify, fill, setWindowFields } from "../window/index.js";
import { bucket } from "./bucket.js";
import { bucketAuto } from "./bucketAuto.js";
import { count, sortByCount } from "./counting.js";
import { documents } from "./documents.js";
import { facet } from "./facet.js";
import { graphLookup } from "./graphLookup.js";
import { group } from "./group.js";
import { HOST_SOURCES } from "./hostSources.js";
import { limit, skip } from "./limits.js";
import { lookup } from "./lookup.js";
import { match } from "./match.js";
import { merge } from "./merge.js";
import { out } from "./out.js";
import { redact } from "./redact.js";
import { sample } from "./sample.js";
import { addFields, project, replaceRoot, replaceWith, unset } from "./shaping.js";
import { sort } from "./sort.js";
import { unionWith } from "./unionWith.js";
import { unwind } from "./unwind.js";

const EVERYWHERE: readonly Within[] = ["$facet", "$lookup", "$unionWith"];

function anywhere(parse: StageParser): StageDefinition {
  return { parse };
}

export const STAGES: ReadonlyMap<string, StageDefinition> = new Map<string, StageDefinition>([
  ["$addFields", anywhere(addFields)],
  ["$bucket", anywhere(bucket)],
  ["$bucketAuto", anywhere(bucketAuto)],
  ["$count", anywhere(count)],
  ["$densify", anywhere(densify)],
  ["$documents", { parse: documents, position: "first", notWithin: ["$facet"], collectionless: "only" }],
  ["$fill", anywhere(fill)],
  ["$facet", { parse: facet, notWithin: ["$facet"] }],
  ["$graphLookup", anywhere(graphLookup)],
  ["$group", anywhere(group)],
  ["$limit", anywhere(limit)],
  ["$lookup", anywhere(lookup)],
  ["$match", anywhere(match)],
  ["$merge", { parse: merge, position: "last", notWithin: EVERYWHERE }],
  ["$out", { parse: out, position: "last", notWithin: EVERYWHERE }],
  ["$project", anywhere(project)],
  ["$redact", anywhere(redact)],
  ["$replaceRoot", anywhere(replaceRoot)],
  ["$replaceWith", anywhere(replaceWith)],
  ["$sample", anywhere(sample)],
  ["$set", anywhere(addFields)],
  ["$setWindowFields", anywhere(setWindowFields)],
  ["$skip", anywhere(skip)],
  ["$sort", anywhere(sort)],
  ["$sortByCount", anywhere(sortByCount)],
  ["$unionWith", anywhere(unionWith)],
  ["$unset", anywhere(unset)],
  ["$unwind", anywhere(unwind)],
  ...HOST_SOURCES,
]);

/** Stages of MongoDB that are refused with 238. */
export const NOT_BUILT: ReadonlySet<string> = new Set([
  "$changeStream",
  "$changeStreamSplitLargeEvent",
  "$geoNear",
  "$listSearchIndexes",
  "$querySettings",
  "$queryStats",
  "$rankFusion",
  "$score",
  "$scoreFusion",
  "$search",
  "$searchMeta",
  "$vectorSearch",
]);

/** Stages that an update's pipeline may have. */
export const UPDATE_STAGES: ReadonlySet<string> = new Set([
  "$addFields",
  "$project",
  "$replaceRoot",
  "$replaceWith",
  "$set",
  "$unset",
]);
