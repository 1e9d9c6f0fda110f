/**
 * `$graphLookup`: everything that can be reached from a document.
 *
 *     startWith: "$manager", connectFromField: "manager", connectToField: "name"
 *
 *     ann → (manager bob) → bob → (manager cid) → cid → (no manager)      depth 0: bob, 1: cid
 *
 * A search in breadth: the values reached at one depth are looked up together,
 * what they find gives the values of the next. A document is taken once, by
 * its `_id`, so that circles end; a value is looked up once.
 */
import {
  BsonType,
  asDocument,
  asNumber,
  asString,
  describeValue,
  elements,
  fields,
  getField,
  int64,
  isNumeric,
  sortableValue,
  type RawValue,
} from "../../../bson/index.js";
import { CommandError, ErrorCode } from "../../../protocol/index.js";
import { compileExpression } from "../../expression/compile.js";
import { expressionContext, type Expression, type ExpressionOptions } from "../../expression/context.js";
import { pathParts } from "../../expression/fieldPath.js";
import { compileFilter, type Filter } from "../../filter/compile.js";
import { typeName } from "../../values/types.js";
import { hostOf, remembered, sourceOf } from "../host.js";
import type { ParsedStage, StageParser, UnwindSpec } from "../stage.js";
import { matchJoin, type Join } from "./join.js";
import { JoiningStage, newReadStats } from "./joiningStage.js";
import { visitValues, withField } from "./paths.js";

/** Most bytes of documents that one search may hold. */
const MAX_BYTES = 100 * 1024 * 1024;

interface GraphSpec {
  readonly from: string;
  readonly as: readonly string[];
  readonly startWith: Expression;
  readonly connectFrom: readonly string[];
  readonly connectTo: string;
  readonly maxDepth: number;
  readonly depthField: readonly string[] | undefined;
  readonly restriction: Filter | undefined;
}

export const graphLookup: StageParser = (spec, options) => {
  const parsed = parseGraph(spec, options);
  const from = { db: undefined, collection: parsed.from };
  const as = parsed.as.join(".");
  const make = (unwinding?: UnwindSpec): JoiningStage => {
    const stats = newReadStats();
    const host = hostOf(options, "$graphLookup").observing(stats);
    const source = sourceOf(host, from);
    const join = remembered(host, parsed, () => matchJoin(host, source, parsed.connectTo, options));
    const search = new GraphSearch(parsed, join, options, `${source.db}.${source.collection}`);
    return new JoiningStage("$graphLookup", parsed.as, (doc) => search.from(doc), unwinding, stats);
  };
  return {
    reads: [from],
    needsHost: true,
    moves: { kind: "only", paths: [as] },
    create: () => make(),
    absorb: (next: ParsedStage) => (next.unwind?.path === as ? () => make(next.unwind) : undefined),
  };
};

class GraphSearch {
  constructor(
    readonly spec: GraphSpec,
    readonly join: Join,
    readonly options: ExpressionOptions,
    readonly namespace: string,
  ) {}

  /** All documents that a document leads to, the nearest first. */
  from(doc: Uint8Array): Uint8Array[] {
    const { maxDepth } = this.spec;
    const found: Uint8Array[] = [];
    const visited = new Set<string>();
    const asked = new Set<string>();
    let bytes = 0;
    let frontier = this.#start(doc, asked);
    for (let depth = 0; frontier.length > 0 && depth <= maxDepth; depth++) {
      const next: RawValue[] = [];
      for (const other of this.join.find(frontier)) {
        if (this.spec.restriction && !this.spec.restriction.matches(other)) continue;
        const shown = this.#visit(other, depth, visited, asked, next);
        if (shown === undefined) continue;
        found.push(shown);
        bytes += shown.length;
        this.options.host?.step();
        if (bytes > MAX_BYTES)
          throw new CommandError(40099, "$graphLookup reached maximum memory consumption");
      }
      frontier = next;
    }
    return found;
  }

  #start(doc: Uint8Array, asked: Set<string>): RawValue[] {
    const value = this.spec.startWith(expressionContext(doc));
    if (value === undefined) return [];
    const frontier: RawValue[] = [];
    const list = value.type === BsonType.array ? elements(asDocument(value)) : [value];
    for (const each of list) this.#ask(each, asked, frontier);
    return frontier;
  }

  #ask(value: RawValue, asked: Set<string>, frontier: RawValue[]): void {
    const key = sortableValue(value, this.options.collation);
    if (asked.has(key)) return;
    asked.add(key);
    frontier.push(value);
  }

  /** Takes a document for the first time; undefined when it was met before. */
  #visit(
    doc: Uint8Array,
    depth: number,
    visited: Set<string>,
    asked: Set<string>,
    next: RawValue[],
  ): Uint8Array | undefined {
    const id = getField(doc, "_id");
    if (id === undefined) {
      throw new CommandError(
        40271,
        `Documents in the '${this.namespace}' namespace must contain an _id for de-duplication in $graphLookup`,
      );
    }
    const key = sortableValue(id);
    if (visited.has(key)) return undefined;
    visited.add(key);
    const { depthField, connectFrom } = this.spec;
    const shown = depthField ? withField(doc, depthField, int64(depth)) : doc;
    visitValues(shown, connectFrom, (value) => this.#ask(value, asked, next));
    return shown;
  }
}

function parseGraph(spec: RawValue, options: ExpressionOptions): GraphSpec {
  if (spec.type !== BsonType.object) {
    throw new CommandError(
      ErrorCode.FailedToParse,
      `the $graphLookup stage specification must be an object, but found ${typeName(spec)}`,
    );
  }
  if (getField(asDocument(spec), "from") === undefined) {
    throw new CommandError(
      ErrorCode.FailedToParse,
      `missing 'from' option to $graphLookup stage specification: ${describeValue(spec)}`,
    );
  }
  const texts = new Map<string, string>();
  let startWith: Expression | undefined;
  let maxDepth = Infinity;
  let restriction: Filter | undefined;
  for (const [name, value] of fields(asDocument(spec))) {
    switch (name) {
      case "startWith":
        startWith = compileExpression(value, options);
        break;
      case "maxDepth":
        maxDepth = parseMaxDepth(value);
        break;
      case "restrictSearchWithMatch":
        restriction = parseRestriction(value, options);
        break;
      case "from":
      case "as":
      case "connectFromField":
      case "connectToField":
      case "depthField":
        if (value.type !== BsonType.string) {
          throw new CommandError(40103, `expected string as argument for ${name}, found: ${typeName(value)}`);
        }
        texts.set(name, asString(value));
        break;
      default:
        throw new CommandError(40104, `Unknown argument to $graphLookup: ${name}`);
    }
  }
  const from = texts.get("from");
  const as = texts.get("as");
  const connectFrom = texts.get("connectFromField");
  const connectTo = texts.get("connectToField");
  if (!from || !as || !connectFrom || !connectTo || startWith === undefined) {
    throw new CommandError(
      40105,
      "$graphLookup requires 'from', 'as', 'startWith', 'connectFromField', and 'connectToField' to be specified.",
    );
  }
  const depthField = texts.get("depthField");
  return {
    from,
    as: pathParts(as),
    startWith,
    connectFrom: pathParts(connectFrom),
    connectTo: pathParts(connectTo).join("."),
    maxDepth,
    depthField: depthField === undefined ? undefined : pathParts(depthField),
    restriction,
  };
}

function parseMaxDepth(value: RawValue): number {
  if (!isNumeric(value)) {
    throw new CommandError(40100, `maxDepth must be numeric, found type: ${typeName(value)}`);
  }
  const depth = asNumber(value);
  const whole = Number.isNaN(depth) ? 0 : Math.trunc(depth);
  if (whole < 0) throw new CommandError(40101, `maxDepth requires a nonnegative argument, found: ${whole}`);
  if (whole !== depth || whole >= 2 ** 63) {
    throw new CommandError(40102, `maxDepth could not be represented as a long long: ${whole}`);
  }
  return whole;
}

function parseRestriction(value: RawValue, options: ExpressionOptions): Filter {
  if (value.type !== BsonType.object) {
    throw new CommandError(40185, `restrictSearchWithMatch must be an object, found ${typeName(value)}`);
  }
  try {
    return compileFilter(asDocument(value), options);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(
      error.code,
      `Failed to parse 'restrictSearchWithMatch' option to $graphLookup :: caused by :: ${error.message}`,
    );
  }
}
