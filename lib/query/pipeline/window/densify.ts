/**
 * `$densify`: documents for the values that a field leaves out.
 *
 *     { field: "n", range: { step: 1, bounds: "full" } }   on n: 1, 3   →   { n: 1 }, { n: 2 }, { n: 3 }
 *
 * The documents are sorted by partition and field. Each partition goes up its
 * own ladder of values — from its first one, from the least of all, or from
 * the lower bound — and wherever the next document lies above the next rung,
 * the rung becomes a document. Documents between two rungs don't shift the
 * ladder, and those without a value pass by.
 */
import {
  BsonType,
  DocumentWriter,
  EMPTY_DOCUMENT,
  asDocument,
  compareValues,
  date,
  fields,
  document,
  getField,
  isNumeric,
  sortableValue,
  string,
  toDocument,
  type RawValue,
} from "../../../bson/index.js";
import { CommandError } from "../../../protocol/index.js";
import { add } from "../../expression/arithmetic.js";
import { compileExpression } from "../../expression/compile.js";
import { expressionContext, type Expression, type ExpressionOptions } from "../../expression/context.js";
import { instant } from "../../expression/dateArguments.js";
import { compileSort } from "../../sort/index.js";
import { int64Of } from "../../values/numeric.js";
import { dateAdd } from "../../values/timeUnits.js";
import { UTC } from "../../values/timeZone.js";
import { isNullish } from "../../values/types.js";
import { SortStage } from "../sort.js";
import type { Emit, Stage, StageParser } from "../stage.js";
import { StageMemory } from "../stageMemory.js";
import { parseDensify, type DensifySpec } from "./densifySpec.js";

/** Documents that one run may make. */
const MAX_GENERATED = 500_000;

/** A partition on its way up. */
interface Ladder {
  /** The fields that its generated documents have beside the value. */
  readonly template: Uint8Array;
  /** The value of the next document to be made, unless one has it. */
  next: RawValue;
}

class DensifyStage implements Stage {
  readonly name = "$densify";
  readonly satisfied = false;
  readonly #sorted: SortStage;
  readonly #partition: Expression | undefined;
  readonly #ladders = new Map<string, Ladder>();
  #least: RawValue | undefined;
  #greatest: RawValue | undefined;
  #generated = 0;

  constructor(
    readonly spec: DensifySpec,
    readonly options: ExpressionOptions,
  ) {
    const { field, partitionBy, bounds } = spec;
    const paths = [...(bounds === "full" ? [] : partitionBy), field].map((parts) => parts.join("."));
    this.#sorted = new SortStage(
      compileSort(toDocument(Object.fromEntries(paths.map((path) => [path, 1]))), options),
      StageMemory.of("$sort", options),
    );
    if (partitionBy.length > 0) this.#partition = compileExpression(nestedPaths(partitionBy), options);
  }

  push(doc: Uint8Array): void {
    this.#sorted.push(doc);
  }

  finish(emit: Emit): void {
    this.#sorted.finish((doc) => this.#take(doc, emit));
    this.#complete(emit);
    this.#ladders.clear();
  }

  /** Takes the next document in order; false when no more is wanted. */
  #take(doc: Uint8Array, emit: Emit): boolean {
    const value = this.#valueOf(doc);
    if (value === undefined) return emit(doc) !== false;
    this.#least ??= value;
    this.#greatest = value;
    const ladder = this.#ladderOf(doc, value);
    if (!this.#climb(ladder, value, false, emit)) return false;
    if (compareValues(ladder.next, value) === 0) ladder.next = this.#above(ladder.next);
    return emit(doc) !== false;
  }

  /** The field's value; undefined where it is null or missing. Throws 5733201 or 6053600 for the wrong type. */
  #valueOf(doc: Uint8Array): RawValue | undefined {
    const value = nestedField(doc, this.spec.field);
    if (isNullish(value)) return undefined;
    const isDate = value.type === BsonType.date;
    if (!isDate && !isNumeric(value)) {
      throw new CommandError(5733201, "Densify field type must be numeric or a date");
    }
    if (isDate !== (this.spec.unit !== undefined)) {
      throw new CommandError(
        6053600,
        isDate
          ? "Encountered date densify value in collection when step does not have a date unit."
          : "Encountered numeric densify value in collection when step has a date unit.",
      );
    }
    return value;
  }

  #ladderOf(doc: Uint8Array, value: RawValue): Ladder {
    const group = this.#partition?.(expressionContext(doc));
    const key = group === undefined ? "" : sortableValue(group, this.options.collation);
    let ladder = this.#ladders.get(key);
    if (ladder === undefined) {
      const { bounds } = this.spec;
      const next = typeof bounds !== "string" ? bounds.from : bounds === "full" ? this.#least! : value;
      const template = group === undefined ? EMPTY_DOCUMENT : asDocument(group);
      ladder = { template: template.slice(), next };
      this.#ladders.set(key, ladder);
    }
    return ladder;
  }

  /** Makes documents for all rungs below a value (`including` itself) and within the bounds. */
  #climb(ladder: Ladder, limit: RawValue, including: boolean, emit: Emit): boolean {
    const { bounds } = this.spec;
    const end = typeof bounds === "string" ? undefined : bounds.to;
    for (;;) {
      const order = compareValues(ladder.next, limit);
      if (order > 0 || (order === 0 && !including)) return true;
      if (end !== undefined && compareValues(ladder.next, end) >= 0) return true;
      if (++this.#generated > MAX_GENERATED) {
        throw new CommandError(
          5897900,
          `Generated ${this.#generated} documents in $densify, which is over the limit of ${MAX_GENERATED}. Increase the 'internalQueryMaxAllowedDensifyDocs' parameter to allow more generated documents`,
        );
      }
      if (emit(withField(ladder.template, this.spec.field, 0, ladder.next)) === false) return false;
      const above = this.#above(ladder.next);
      // A step that is lost in a large double would go on for ever.
      if (compareValues(above, ladder.next) <= 0) return true;
      ladder.next = above;
    }
  }

  #above(value: RawValue): RawValue {
    const { step, unit } = this.spec;
    if (unit === undefined) return add([value, step])!;
    return date(dateAdd(instant(value), unit, int64Of(step)!, UTC));
  }

  /** The rest of every ladder, when all documents are in. */
  #complete(emit: Emit): void {
    const { bounds, partitionBy } = this.spec;
    if (typeof bounds !== "string") {
      if (this.#ladders.size === 0 && partitionBy.length === 0) {
        this.#climb({ template: EMPTY_DOCUMENT, next: bounds.from }, bounds.to, false, emit);
      }
      for (const ladder of this.#ladders.values()) if (!this.#climb(ladder, bounds.to, false, emit)) return;
    } else if (bounds === "full" && this.#greatest !== undefined && partitionBy.length > 0) {
      for (const ladder of this.#ladders.values()) {
        if (!this.#climb(ladder, this.#greatest, true, emit)) return;
      }
    }
  }
}

/** The value at a path of objects only. */
function nestedField(doc: Uint8Array, path: readonly string[]): RawValue | undefined {
  let value: RawValue = document(doc);
  for (const name of path) {
    if (value.type !== BsonType.object) return undefined;
    const inner = getField(asDocument(value), name);
    if (inner === undefined) return undefined;
    value = inner;
  }
  return value;
}

/** `{ a: { b: "$a.b" } }` for the path a.b: an expression that keeps the fields where they are. */
function nestedPaths(paths: ReadonlyArray<readonly string[]>): RawValue {
  let doc = EMPTY_DOCUMENT;
  for (const path of paths) doc = withField(doc, path, 0, string(`$${path.join(".")}`));
  return document(doc);
}

/**
 * A document with a value at path[from…], objects being made on the way.
 * @throws CommandError 5733307 for an array on the way, 5733308 for anything else that isn't an object
 */
function withField(doc: Uint8Array, path: readonly string[], from: number, value: RawValue): Uint8Array {
  const name = path[from]!;
  const isLast = from === path.length - 1;
  const inner = getField(doc, name);
  if (inner?.type === BsonType.array) {
    throw new CommandError(5733307, "$densify cannot generate fields nested inside arrays");
  }
  if (inner !== undefined && inner.type !== BsonType.object && !isLast) {
    throw new CommandError(5733308, "$densify cannot overwrite non-object values with objects");
  }
  const rest = inner?.type === BsonType.object ? asDocument(inner) : EMPTY_DOCUMENT;
  const set = isLast ? value : document(withField(rest, path, from + 1, value));
  const writer = new DocumentWriter();
  for (const [each, old] of fields(doc)) writer.field(each, each === name ? set : old);
  if (inner === undefined) writer.field(name, set);
  return writer.finish();
}

/**
 * `$densify`.
 * @throws CommandError 9 for no object, 5733401 and its neighbours for a bad range; running it throws 5733201 and
 *   6053600 for values of the wrong type, 5897900 beyond 500,000 generated documents
 * @since MongoDB 5.1
 */
export const densify: StageParser = (spec, options) => {
  const parsed = parseDensify(spec);
  return { create: () => new DensifyStage(parsed, options) };
};
