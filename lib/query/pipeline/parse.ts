/**
 * Reads pipelines: each stage document has one field, the stage's name, and
 * the table below says what becomes of it.
 */
import {
  BsonType,
  DocumentWriter,
  asDocument,
  asString,
  describeDocument,
  describeValue,
  document,
  fields,
  getField,
  int32,
  isEmptyDocument,
  type RawValue,
} from "../../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";
import { compileExpression } from "../expression/compile.js";
import { expressionContext, type ExpressionOptions } from "../expression/context.js";
import { compileFilter } from "../filter/compile.js";
import { allOf, ALWAYS_TRUE, type FilterNode } from "../filter/node.js";
import { parseAddFields, parseProjection, parseUnset, type ProjectionTree } from "../projection/index.js";
import { compileSort } from "../sort/index.js";
import { wholeNumber } from "../values/numeric.js";
import { typeName } from "../values/types.js";
import { GroupStage, parseGroup } from "./group.js";
import { SortStage } from "./sort.js";
import { streaming, type Emit, type ParsedStage, type Stage } from "./stage.js";
import { parseUnwind } from "./unwind.js";

type Parsed = Pick<ParsedStage, "create" | "filter" | "count">;
type StageParser = (spec: RawValue, options: ExpressionOptions, name: string) => Parsed;

function objectSpec(spec: RawValue, code: number, message: string): Uint8Array {
  if (spec.type !== BsonType.object) throw new CommandError(code, message);
  return asDocument(spec);
}

const match: StageParser = (spec, options) => {
  const filter = compileFilter(
    objectSpec(spec, 15959, "the match filter must be an expression in an object"),
    options,
  );
  return {
    filter: filter.node,
    create: () =>
      streaming("$match", (doc, emit) => {
        if (filter.matches(doc)) emit(doc);
      }),
  };
};

function projecting(name: string, tree: ProjectionTree): Parsed {
  return { create: () => streaming(name, (doc, emit) => emit(tree.apply(doc))) };
}

const project: StageParser = (spec, options, name) => {
  const doc = objectSpec(spec, 15969, "$project specification must be an object");
  if (isEmptyDocument(doc))
    throw new CommandError(
      51272,
      "Invalid $project :: caused by :: projection specification must have at least one field",
    );
  return projecting(name, parseProjection(doc, "$project", options));
};

const addFields: StageParser = (spec, options, name) => {
  const doc = objectSpec(spec, 40272, `${name} specification stage must be an object, got ${typeName(spec)}`);
  if (isEmptyDocument(doc))
    throw new CommandError(
      40177,
      `Invalid ${name} :: caused by :: specification must have at least one field`,
    );
  return projecting(name, parseAddFields(doc, options));
};

const unset: StageParser = (spec, _, name) => projecting(name, parseUnset(spec));

const group: StageParser = (spec, options) => {
  const parsed = parseGroup(spec, options);
  return { create: () => new GroupStage(parsed) };
};

const sort: StageParser = (spec) => {
  const doc = objectSpec(spec, 15973, "the $sort key specification must be an object");
  if (isEmptyDocument(doc)) throw new CommandError(15976, "$sort stage must have at least one sort key");
  const compiled = compileSort(doc);
  if (compiled.natural !== undefined)
    throw new CommandError(
      ErrorCode.BadValue,
      "$natural sort cannot be set to a value other than -1 or 1 in $sort",
    );
  return { create: () => new SortStage(compiled) };
};

const limit: StageParser = (spec) => {
  const count = wholeNumber(spec);
  if (count === undefined) {
    throw new CommandError(
      2107201,
      `invalid argument to $limit stage: Expected a number in: $limit: ${describeValue(spec)}`,
    );
  }
  if (count < 0)
    throw new CommandError(
      2107201,
      `invalid argument to $limit stage: Expected a non-negative number in: $limit: ${count}`,
    );
  if (count === 0) throw new CommandError(15958, "the limit must be positive");
  return { count, create: () => new LimitStage(count) };
};

class LimitStage implements Stage {
  readonly name = "$limit";
  #left: number;

  constructor(count: number) {
    this.#left = count;
  }

  push(doc: Uint8Array, emit: Emit): void {
    if (this.#left === 0) return;
    this.#left--;
    emit(doc);
  }

  finish(): void {
    // Nothing is held back.
  }

  get satisfied(): boolean {
    return this.#left === 0;
  }
}

const skip: StageParser = (spec) => {
  const count = wholeNumber(spec);
  if (count === undefined || count < 0) {
    throw new CommandError(
      5107200,
      `invalid argument to $skip stage: Expected a non-negative number in: $skip: ${describeValue(spec)}`,
    );
  }
  return {
    count,
    create: () => {
      let left = count;
      return streaming("$skip", (doc, emit) => {
        if (left > 0) left--;
        else emit(doc);
      });
    },
  };
};

const count: StageParser = (spec) => {
  if (spec.type !== BsonType.string)
    throw new CommandError(40156, "the count field must be a non-empty string");
  const field = asString(spec);
  if (field === "") throw new CommandError(40156, "the count field must be a non-empty string");
  if (field.startsWith("$")) throw new CommandError(40158, "the count field cannot be a $-prefixed path");
  if (field.includes("\0")) throw new CommandError(40159, "the count field cannot contain a null byte");
  if (field.includes(".")) throw new CommandError(40160, "the count field cannot contain '.'");
  return {
    create: () => {
      let n = 0;
      return {
        name: "$count",
        satisfied: false,
        push: () => void n++,
        finish(emit: Emit) {
          if (n > 0) emit(new DocumentWriter().int32(field, n).finish());
        },
      };
    },
  };
};

/** `$group` by the expression, counting, the greatest group first. */
const sortByCount: StageParser = (spec, options) => {
  const isExpression =
    (spec.type === BsonType.string && asString(spec).startsWith("$")) ||
    (spec.type === BsonType.object && fields(asDocument(spec))[0]?.[0].startsWith("$"));
  if (!isExpression) {
    throw new CommandError(
      40149,
      "the sortByCount field must be defined as a $-prefixed path or an expression inside an object",
    );
  }
  const [grouping, ordering] = sortByCountParts(spec);
  const parsed = parseGroup(document(grouping), options);
  const byCount = compileSort(ordering);
  return {
    create: () => {
      const groups = new GroupStage(parsed);
      const sorted = new SortStage(byCount);
      return {
        name: "$sortByCount",
        satisfied: false,
        push: (doc: Uint8Array) => groups.push(doc),
        finish(emit: Emit) {
          groups.finish((doc) => sorted.push(doc));
          sorted.finish(emit);
        },
      };
    },
  };
};

/** The `$group` and `$sort` specifications that a `$sortByCount` stands for. */
export function sortByCountParts(spec: RawValue): [group: Uint8Array, sort: Uint8Array] {
  const one = document(new DocumentWriter().field("$sum", int32(1)).finish());
  return [
    new DocumentWriter().field("_id", spec).field("count", one).finish(),
    new DocumentWriter().int32("count", -1).finish(),
  ];
}

function replacing(name: string, source: RawValue, options: ExpressionOptions): Parsed {
  const expression = compileExpression(source, options);
  const what = name === "$replaceRoot" ? "'newRoot' expression " : "'replacement document' ";
  return {
    create: () =>
      streaming(name, (doc, emit) => {
        const value = expression(expressionContext(doc));
        if (value?.type !== BsonType.object) {
          throw new CommandError(
            40228,
            `${what} must evaluate to an object, but resulting value was: ${value === undefined ? "MISSING" : describeValue(value)}. ` +
              `Type of resulting value: '${typeName(value)}'. Input document: ${describeDocument(doc)}`,
          );
        }
        emit(asDocument(value));
      }),
  };
}

const replaceRoot: StageParser = (spec, options, name) => {
  const newRoot = getField(
    objectSpec(
      spec,
      40229,
      `expected an object as specification for $replaceRoot stage, got ${typeName(spec)}`,
    ),
    "newRoot",
  );
  if (newRoot === undefined) throw new CommandError(40231, "no newRoot specified for the $replaceRoot stage");
  return replacing(name, newRoot, options);
};

const replaceWith: StageParser = (spec, options, name) => replacing(name, spec, options);

const STAGES: ReadonlyMap<string, StageParser> = new Map<string, StageParser>([
  ["$match", match],
  ["$project", project],
  ["$addFields", addFields],
  ["$set", addFields],
  ["$unset", unset],
  ["$group", group],
  ["$sort", sort],
  ["$limit", limit],
  ["$skip", skip],
  ["$count", count],
  ["$sortByCount", sortByCount],
  ["$unwind", (spec) => ({ create: parseUnwind(spec) })],
  ["$replaceRoot", replaceRoot],
  ["$replaceWith", replaceWith],
]);

/** Stages that produce documents out of the server's state: recognised here, answered by shard or router. */
const SOURCES = new Set([
  "$collStats",
  "$currentOp",
  "$indexStats",
  "$listCatalog",
  "$listClusterCatalog",
  "$listLocalSessions",
  "$listSessions",
  "$planCacheStats",
  "$shardedDataDistribution",
]);

const NOT_BUILT = new Set([
  "$bucket",
  "$bucketAuto",
  "$changeStream",
  "$changeStreamSplitLargeEvent",
  "$densify",
  "$documents",
  "$facet",
  "$fill",
  "$geoNear",
  "$graphLookup",
  "$listSampledQueries",
  "$listSearchIndexes",
  "$lookup",
  "$merge",
  "$out",
  "$querySettings",
  "$queryStats",
  "$rankFusion",
  "$redact",
  "$sample",
  "$scoreFusion",
  "$search",
  "$searchMeta",
  "$setWindowFields",
  "$unionWith",
  "$vectorSearch",
]);

const MAX_STAGES = 1000;

/**
 * Parses a pipeline and checks every stage.
 * @param stages stage documents, each with one field
 * @param options the command's `let` and the clock of `$$NOW`
 * @throws CommandError 40324 for an unknown stage, 40323 for a stage of several fields, 238 for stages that aren't
 *   simulated, and the stages' own codes
 */
export function parsePipeline(stages: readonly Uint8Array[], options: ExpressionOptions = {}): ParsedStage[] {
  if (stages.length > MAX_STAGES) {
    throw new CommandError(
      ErrorCode.FailedToParse,
      `Pipeline length must be no longer than ${MAX_STAGES} stages`,
    );
  }
  return stages.map((raw, i) => {
    const list = fields(raw);
    if (list.length !== 1) {
      throw new CommandError(40323, "A pipeline stage specification object must contain exactly one field.");
    }
    const [name, spec] = list[0]!;
    const parser = STAGES.get(name);
    if (parser !== undefined) return { name, spec, raw, isSource: false, ...parser(spec, options, name) };
    if (SOURCES.has(name)) return source(name, spec, raw, i);
    if (NOT_BUILT.has(name)) throw notSimulated(`stage ${name}`);
    throw new CommandError(ErrorCode.UnrecognizedStage, `Unrecognized pipeline stage name: '${name}'`);
  });
}

function source(name: string, spec: RawValue, raw: Uint8Array, position: number): ParsedStage {
  if (position > 0) throw new CommandError(40602, `${name} is only valid as the first stage in a pipeline.`);
  return {
    name,
    spec,
    raw,
    isSource: true,
    create: () => {
      throw notSimulated(`stage ${name} here`);
    },
  };
}

/**
 * The condition that every document must meet to be of any use to the
 * pipeline: its leading `$match` stages, also behind a `$sort`, which changes
 * no document. Routing and index choice go by it.
 */
export function leadingMatch(stages: readonly ParsedStage[]): FilterNode {
  const filters: FilterNode[] = [];
  for (const stage of stages) {
    if (stage.filter !== undefined) filters.push(stage.filter);
    else if (stage.name !== "$sort") break;
  }
  return filters.length === 0 ? ALWAYS_TRUE : allOf(filters);
}
