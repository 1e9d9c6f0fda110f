/**
 * `$bucket`: groups by ranges of a value.
 *
 *     boundaries [0, 10, 20], default "other"
 *
 *     _id 0: 0 ≤ v < 10     _id 10: 10 ≤ v < 20     _id "other": all else
 *
 * It stands for a `$group` whose `_id` is a `$switch` over the ranges, and a
 * `$sort` by `_id`; explain shows it so. What runs finds the range by binary
 * search, in BSON order like `$switch` with `$gte` and `$lt` would.
 */
import {
  BsonType,
  DocumentWriter,
  array,
  asDocument,
  canonicalType,
  compareValues,
  describeValue,
  document,
  elements,
  fields,
  int32,
  type RawValue,
} from "../../../bson/index.js";
import { CommandError } from "../../../protocol/index.js";
import { compileExpression, constantOf } from "../../expression/compile.js";
import type { Expression, ExpressionOptions } from "../../expression/context.js";
import { compileSort } from "../../sort/index.js";
import { typeName } from "../../values/types.js";
import { GroupStage, parseGroup } from "../group.js";
import { SortStage } from "../sort.js";
import type { Emit, Stage, StageParser } from "../stage.js";
import { StageMemory } from "../stageMemory.js";
import { isExpression } from "./spec.js";

interface BucketSpec {
  readonly groupBy: RawValue;
  readonly boundaries: readonly RawValue[];
  readonly otherwise: RawValue | undefined;
  readonly output: Uint8Array | undefined;
}

export const bucket: StageParser = (spec, options) => {
  const parsed = parse(spec, options);
  const { groupBy, boundaries, otherwise, output } = parsed;
  const grouping = groupDocument(int32(0), output);
  const group = parseGroup(document(grouping), options);
  const value = compileExpression(groupBy, options);
  const id = bucketOf(value, boundaries, otherwise, options);
  const byId = compileSort(new DocumentWriter().int32("_id", 1).finish(), options);
  return {
    explain: () => explained(parsed),
    create: () =>
      sortedGroups(
        "$bucket",
        new GroupStage({ ...group, id }),
        new SortStage(byId, StageMemory.of("$sort", options)),
      ),
  };
};

/** A `$group` whose groups come out sorted. */
function sortedGroups(name: string, groups: GroupStage, sorted: SortStage): Stage {
  return {
    name,
    satisfied: false,
    push: (doc: Uint8Array) => groups.push(doc),
    finish(emit: Emit) {
      groups.finish((doc) => sorted.push(doc));
      sorted.finish(emit);
    },
  };
}

/** The specification of the `$group`: without outputs it counts. */
function groupDocument(id: RawValue, output: Uint8Array | undefined): Uint8Array {
  const writer = new DocumentWriter().field("_id", id);
  if (output) return writer.fieldsOf(output).finish();
  return writer.document("count", new DocumentWriter().int32("$sum", 1).finish()).finish();
}

/** The lower boundary of the range that a value lies in. */
function bucketOf(
  value: Expression,
  boundaries: readonly RawValue[],
  otherwise: RawValue | undefined,
  { collation }: ExpressionOptions,
): Expression {
  return (context) => {
    const v = value(context);
    let low = 0;
    let high = v === undefined ? 0 : boundaries.length;
    // The number of boundaries that are not above the value.
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareValues(boundaries[middle]!, v!, collation) <= 0) low = middle + 1;
      else high = middle;
    }
    if (low > 0 && low < boundaries.length) return boundaries[low - 1];
    if (otherwise !== undefined) return otherwise;
    throw new CommandError(
      40066,
      "$switch could not find a matching branch for an input, and no default was specified.",
    );
  };
}

function parse(spec: RawValue, options: ExpressionOptions): BucketSpec {
  if (spec.type !== BsonType.object) {
    throw new CommandError(
      40201,
      `Argument to $bucket stage must be an object, but found type: ${typeName(spec)}.`,
    );
  }
  let groupBy: RawValue | undefined;
  let boundaries: RawValue[] | undefined;
  let otherwise: RawValue | undefined;
  let output: Uint8Array | undefined;
  for (const [name, value] of fields(asDocument(spec))) {
    switch (name) {
      case "groupBy":
        if (!isExpression(value)) {
          throw new CommandError(
            40202,
            `The $bucket 'groupBy' field must be defined as a $-prefixed path or an expression, but found: ${describeValue(value)}.`,
          );
        }
        groupBy = value;
        break;
      case "boundaries":
        boundaries = parseBoundaries(value, options);
        break;
      case "default":
        otherwise = constantOf(compileExpression(value, options));
        if (otherwise === undefined) {
          throw new CommandError(
            40195,
            `The $bucket 'default' field must be a constant expression, but found: ${describeValue(value)}.`,
          );
        }
        break;
      case "output":
        if (value.type !== BsonType.object) {
          throw new CommandError(
            40196,
            `The $bucket 'output' field must be an object, but found type: ${typeName(value)}.`,
          );
        }
        output = asDocument(value);
        break;
      default:
        throw new CommandError(40197, `Unrecognized option to $bucket: ${name}.`);
    }
  }
  if (groupBy === undefined || boundaries === undefined) {
    throw new CommandError(40198, "$bucket requires 'groupBy' and 'boundaries' to be specified.");
  }
  checkDefault(otherwise, boundaries, options);
  return { groupBy, boundaries, otherwise, output };
}

function parseBoundaries(value: RawValue, options: ExpressionOptions): RawValue[] {
  if (value.type !== BsonType.array) {
    throw new CommandError(
      40200,
      `The $bucket 'boundaries' field must be an array, but found type: ${typeName(value)}.`,
    );
  }
  const boundaries = elements(asDocument(value)).map((element) => {
    const boundary = constantOf(compileExpression(element, options));
    if (boundary === undefined) {
      throw new CommandError(
        40191,
        `The $bucket 'boundaries' field must be an array of constant values, but found value: ${describeValue(element)}.`,
      );
    }
    return boundary;
  });
  if (boundaries.length < 2) {
    throw new CommandError(
      40192,
      `The $bucket 'boundaries' field must have at least 2 values, but found ${boundaries.length} value(s).`,
    );
  }
  for (let i = 1; i < boundaries.length; i++) {
    const lower = boundaries[i - 1]!;
    const upper = boundaries[i]!;
    if (canonicalType(lower.type) !== canonicalType(upper.type)) {
      throw new CommandError(
        40193,
        "All values in the the 'boundaries' option to $bucket must have the same type. " +
          `Found conflicting types ${typeName(lower)} and ${typeName(upper)}.`,
      );
    }
    if (compareValues(lower, upper, options.collation) >= 0) {
      throw new CommandError(
        40194,
        `The 'boundaries' option to $bucket must be sorted, but elements ${i - 1} and ${i} are not in ` +
          `ascending order (${describeValue(lower)} is not less than ${describeValue(upper)}).`,
      );
    }
  }
  return boundaries;
}

/** A default of the boundaries' type must not look like one of the buckets' values. */
function checkDefault(
  otherwise: RawValue | undefined,
  boundaries: readonly RawValue[],
  { collation }: ExpressionOptions,
): void {
  const lowest = boundaries[0]!;
  const highest = boundaries.at(-1)!;
  if (otherwise === undefined || canonicalType(otherwise.type) !== canonicalType(lowest.type)) return;
  if (compareValues(otherwise, lowest, collation) < 0 || compareValues(otherwise, highest, collation) >= 0)
    return;
  throw new CommandError(
    40199,
    "The $bucket 'default' field must be less than the lowest boundary or greater than or equal to the highest boundary.",
  );
}

/** `{op: [left, right]}`, compared with a constant. */
function comparison(name: string, left: RawValue, right: RawValue): RawValue {
  const literal = document(new DocumentWriter().field("$const", right).finish());
  return document(new DocumentWriter().values(name, [left, literal]).finish());
}

function explained({ groupBy, boundaries, otherwise, output }: BucketSpec): Uint8Array[] {
  const branches = boundaries.slice(1).map((upper, i) => {
    const inside = [comparison("$gte", groupBy, boundaries[i]!), comparison("$lt", groupBy, upper)];
    const condition = new DocumentWriter().values("$and", inside).finish();
    const then = new DocumentWriter().field("$const", boundaries[i]!).finish();
    return document(new DocumentWriter().document("case", condition).document("then", then).finish());
  });
  const switching = new DocumentWriter().field("branches", array(branches));
  if (otherwise) {
    switching.document("default", new DocumentWriter().field("$const", otherwise).finish());
  }
  const id = document(new DocumentWriter().document("$switch", switching.finish()).finish());
  const sort = new DocumentWriter().document("sortKey", new DocumentWriter().int32("_id", 1).finish());
  return [
    new DocumentWriter().document("$group", groupDocument(id, output)).finish(),
    new DocumentWriter().document("$sort", sort.finish()).finish(),
  ];
}
