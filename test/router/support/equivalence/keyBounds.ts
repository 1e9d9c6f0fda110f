/**
 * Filters whose key bounds are known because both are made together, and the
 * shards that must be asked, found by looking at every chunk.
 *
 * This is the rule of facts-mongos.md §4.1 once more, written without the
 * router's code: values instead of filters, a loop over all chunks instead of a
 * search. Only the order of BSON values and hash64 are shared; both have their
 * own tests with values written by hand.
 */
import { BSONRegExp, Decimal128, MaxKey, MinKey } from "bson";
import fc from "fast-check";
import type { RawValue } from "shardlab/bson";
import { compareValues, encodeValue, hash64 } from "shardlab/bson";
import type { Doc } from "../cluster.js";
import { pointValues, smallInts, texts } from "./values.js";

/** What a filter says about one field of the key. */
export type FieldChoice =
  | { is: "free" }
  | { is: "equal"; value: unknown; form: "literal" | "$eq" | "$in" | "$and" }
  | { is: "in"; values: unknown[] }
  | { is: "between"; low: unknown; high: unknown; closed: boolean }
  | { is: "below" | "above"; value: number; closed: boolean }
  | { is: "textBelow" | "textAbove"; value: string; closed: boolean }
  | { is: "prefix"; text: string }
  | { is: "expr"; value: unknown };

const choices: fc.Arbitrary<FieldChoice> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({ is: "free" as const }) },
  {
    weight: 5,
    arbitrary: fc.record({
      is: fc.constant("equal" as const),
      value: pointValues,
      form: fc.constantFrom("literal", "$eq", "$in", "$and"),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ is: fc.constant("in" as const), values: fc.array(pointValues, { maxLength: 4 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      is: fc.constant("between" as const),
      low: smallInts,
      high: smallInts,
      closed: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      is: fc.constantFrom("below" as const, "above" as const),
      value: smallInts,
      closed: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      is: fc.constantFrom("textBelow" as const, "textAbove" as const),
      value: texts,
      closed: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom("a", "ab", "z").map((text) => ({ is: "prefix" as const, text })) },
  {
    weight: 1,
    arbitrary: fc
      .oneof(smallInts, fc.constantFrom("a", "b"))
      .map((value) => ({ is: "expr" as const, value })),
  },
);

/** One branch per entry of an `$or`, or a single one; in each a choice per position of the key. */
export const keyChoices: fc.Arbitrary<FieldChoice[][]> = fc.array(
  fc.array(choices, { minLength: 3, maxLength: 3 }),
  {
    minLength: 1,
    maxLength: 3,
  },
);

/** The filter that says it. */
export function filterOf(key: Doc, branches: readonly FieldChoice[][]): Doc {
  const each = branches.map((fields) => {
    const conditions = Object.keys(key).map((path, i) => conditionOf(path, fields[i]!));
    const filter: Doc = {};
    const all: Doc[] = [];
    for (const condition of conditions) {
      if (Object.keys(condition).some((name) => name in filter || name.startsWith("$"))) all.push(condition);
      else Object.assign(filter, condition);
    }
    return all.length > 0 ? { ...filter, $and: all } : filter;
  });
  return each.length === 1 ? each[0]! : { $or: each };
}

function conditionOf(path: string, choice: FieldChoice): Doc {
  const closed = "closed" in choice && choice.closed ? "e" : "";
  switch (choice.is) {
    case "free":
      return {};
    case "equal":
      if (choice.form === "$in") return { [path]: { $in: [choice.value] } };
      if (choice.form === "$and") return { $and: [{ [path]: { $eq: choice.value } }] };
      return { [path]: choice.form === "$eq" ? { $eq: choice.value } : choice.value };
    case "in":
      return { [path]: { $in: choice.values } };
    case "between":
      return { [path]: { $gte: choice.low, [`$lt${closed}`]: choice.high } };
    case "below":
    case "textBelow":
      return { [path]: { [`$lt${closed}`]: choice.value } };
    case "above":
    case "textAbove":
      return { [path]: { [`$gt${closed}`]: choice.value } };
    case "prefix":
      return { [path]: { $regex: `^${choice.text}` } };
    case "expr":
      return { $expr: { $eq: [`$${path}`, choice.value] } };
  }
}

/** A closed interval of one field's values. */
type Interval = readonly [low: RawValue, high: RawValue];

const EVERYTHING: Interval = [encodeValue(new MinKey()), encodeValue(new MaxKey())];

/** Values of one field that can match, in chunk space. */
function intervalsOf(choice: FieldChoice, hashed: boolean): Interval[] {
  const points = (values: readonly unknown[]): Interval[] =>
    values.map((value) => {
      const point = hashed ? encodeValue(hash64(encodeValue(value))) : encodeValue(value);
      return [point, point];
    });
  const from = (low: unknown, high: unknown): Interval[] =>
    hashed ? [EVERYTHING] : [[encodeValue(low), encodeValue(high)]];
  switch (choice.is) {
    case "free":
      return [EVERYTHING];
    case "equal":
    case "expr":
      return points([choice.value]);
    case "in":
      return union(points(choice.values));
    case "between": {
      const { low, high, closed } = choice as { low: number; high: number; closed: boolean };
      if (hashed) return [EVERYTHING];
      return low > high || (low === high && !closed) ? [] : from(low, high);
    }
    case "below":
      return from(-Infinity, choice.value);
    case "above":
      return from(choice.value, Infinity);
    case "textBelow":
      // Nothing is less than the empty text.
      return choice.value === "" && !choice.closed && !hashed ? [] : from("", choice.value);
    case "textAbove":
      // Texts end where objects begin.
      return from(choice.value, {});
    case "prefix": {
      const { text } = choice;
      const next = text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + 1);
      const regex = new BSONRegExp(`^${text}`);
      return hashed ? [EVERYTHING] : [...from(text, next), ...from(regex, regex)];
    }
  }
}

/** Intervals in ascending order, those that touch made one. */
function union(intervals: readonly Interval[]): Interval[] {
  const sorted = [...intervals].sort((x, y) => compareValues(x[0], y[0]) || compareValues(x[1], y[1]));
  const merged: Interval[] = [];
  for (const interval of sorted) {
    const last = merged[merged.length - 1];
    if (last && compareValues(interval[0], last[1]) <= 0) {
      merged[merged.length - 1] = [last[0], compareValues(interval[1], last[1]) > 0 ? interval[1] : last[1]];
    } else merged.push(interval);
  }
  return merged;
}

const isFree = (field: readonly Interval[]): boolean =>
  field.length === 1 &&
  compareValues(field[0]![0], EVERYTHING[0]) === 0 &&
  compareValues(field[0]![1], EVERYTHING[1]) === 0;

/** A chunk as config.chunks has it. */
export interface ChunkRow {
  readonly min: readonly RawValue[];
  readonly max: readonly RawValue[];
  readonly shard: string;
}

/**
 * The shards that a filter made of choices must be sent to, by §4.1; ascending.
 * @returns undefined where one branch of several cannot match: the facts do not say whether it still widens the others
 */
export function expectedShards(
  key: Doc,
  branches: readonly FieldChoice[][],
  chunks: readonly ChunkRow[],
): string[] | undefined {
  const kinds = Object.values(key).map((kind) => kind === "hashed");
  // A double's fraction is cut off before hashing, a decimal's rounded (§2.1): one value, two places.
  const fraction = (value: unknown): boolean =>
    value instanceof Decimal128 || (typeof value === "number" && !Number.isInteger(value));
  const pointsOf = (choice: FieldChoice): unknown[] =>
    choice.is === "in" ? choice.values : "value" in choice ? [choice.value] : [];
  if (branches.some((fields) => kinds.some((hashed, i) => hashed && pointsOf(fields[i]!).some(fraction))))
    return undefined;
  const perBranch = branches.map((fields) => kinds.map((hashed, i) => intervalsOf(fields[i]!, hashed)));
  const possible = perBranch.filter((fields) => fields.every((field) => field.length > 0));
  if (possible.length < branches.length) return branches.length > 1 ? undefined : [chunks[0]!.shard];
  const ownersOf = (rows: readonly ChunkRow[]): string[] =>
    [...new Set(rows.map(({ shard }) => shard))].sort();
  // Without a condition on the key's first field there is no way to use the key as an index.
  if (possible.some((fields) => isFree(fields[0]!))) return ownersOf(chunks);
  const fields = kinds.map((_, i) => union(possible.flatMap((branch) => branch[i]!)));
  const met = chunks.filter((chunk, position) =>
    wholeKeys(fields).some(
      ([low, high]) =>
        compareTuples(high, chunk.min) >= 0 &&
        (position === chunks.length - 1 || compareTuples(low, chunk.max) < 0),
    ),
  );
  return ownersOf(met);
}

/** §4.1 step 2: points are kept, the first other field fans out, later ones only widen. */
function wholeKeys(fields: readonly Interval[][]): [low: RawValue[], high: RawValue[]][] {
  const first = fields.findIndex(
    (field) => field.length > 1 || compareValues(field[0]![0], field[0]![1]) !== 0,
  );
  const fan = first < 0 ? fields.length - 1 : first;
  return fields[fan]!.map(([low, high]) => [
    fields.map((field, i) => (i === fan ? low : field[0]![0])),
    fields.map((field, i) => (i === fan ? high : field[field.length - 1]![1])),
  ]);
}

export function compareTuples(x: readonly RawValue[], y: readonly RawValue[]): number {
  for (let i = 0; i < x.length; i++) {
    const order = compareValues(x[i]!, y[i]!);
    if (order !== 0) return order;
  }
  return 0;
}
