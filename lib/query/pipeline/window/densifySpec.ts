/** How `$densify` reads its specification: `{ field, partitionByFields, range: { step, unit, bounds } }`. */
import {
  BsonType,
  asDocument,
  asString,
  compareValues,
  elements,
  int32,
  isNumeric,
  type RawValue,
} from "../../../bson/index.js";
import { CommandError, ErrorCode } from "../../../protocol/index.js";
import { pathParts } from "../../expression/fieldPath.js";
import { int64Of } from "../../values/numeric.js";
import { timeUnit, type TimeUnit } from "../../values/timeUnits.js";
import { typeName } from "../../values/types.js";
import { checkStageFields, wrongType } from "./setWindowFields.js";

export interface DensifySpec {
  readonly field: readonly string[];
  readonly partitionBy: ReadonlyArray<readonly string[]>;
  readonly step: RawValue;
  readonly unit: TimeUnit | undefined;
  /** `"full"`: from the least to the greatest value of all; `"partition"`: of each partition; or explicit ones. */
  readonly bounds: "full" | "partition" | { readonly from: RawValue; readonly to: RawValue };
}

function text(v: RawValue, path: string): string {
  if (v.type !== BsonType.string) throw wrongType(path, v, "string");
  return asString(v);
}

/** Parses the value of `$densify`. */
export function parseDensify(spec: RawValue): DensifySpec {
  const stage = "$densify";
  if (spec.type !== BsonType.object) {
    throw new CommandError(
      ErrorCode.FailedToParse,
      `The ${stage} stage specification must be an object, found ${typeName(spec)}`,
    );
  }
  const allowed = ["field", "partitionByFields", "range"];
  const named = checkStageFields(asDocument(spec), stage, allowed, ["field", "range"]);
  const field = text(named.get("field")!, `${stage}.field`);
  const range = named.get("range")!;
  if (range.type !== BsonType.object) throw wrongType(`${stage}.range`, range, "object");
  const ranged = parseRange(asDocument(range), `${stage}.range`);
  const partitions = partitionFields(named.get("partitionByFields"), stage);
  if (partitions.includes(field)) {
    throw new CommandError(
      8993000,
      "BSON field '$densify.partitionByFields' contains the field that is being densified",
    );
  }
  const partitionBy = partitions.map(pathParts);
  const parts = pathParts(field);
  if (ranged.bounds === "partition" && partitions.length === 0) {
    throw new CommandError(
      5733408,
      "One cannot specify the bounds as 'partition' without specifying a non-empty array of partitionByFields. You may have meant to specify 'full' bounds.",
    );
  }
  return { field: parts, partitionBy, ...ranged };
}

function partitionFields(v: RawValue | undefined, stage: string): string[] {
  if (v === undefined) return [];
  const path = `${stage}.partitionByFields`;
  if (v.type !== BsonType.array) throw wrongType(path, v, "array");
  return elements(asDocument(v)).map((each, i) => text(each, `${path}.${i}`));
}

function parseRange(doc: Uint8Array, path: string): Pick<DensifySpec, "step" | "unit" | "bounds"> {
  const named = checkStageFields(doc, path, ["step", "bounds", "unit"], ["step", "bounds"]);
  const step = named.get("step")!;
  if (!isNumeric(step) || compareValues(step, int32(0)) <= 0) {
    throw new CommandError(
      5733401,
      "The step parameter in a range statement must be a strictly positive numeric value",
    );
  }
  const unitValue = named.get("unit");
  let unit: TimeUnit | undefined;
  if (unitValue !== undefined) {
    const name = text(unitValue, `${path}.unit`);
    if (int64Of(step) === undefined) {
      throw new CommandError(
        6586400,
        "The step parameter in a range statement must be a whole number when densifying a date range",
      );
    }
    unit = timeUnit(name);
  }
  return { step, unit, bounds: parseBounds(named.get("bounds")!, step, unit) };
}

function parseBounds(v: RawValue, step: RawValue, unit: TimeUnit | undefined): DensifySpec["bounds"] {
  if (v.type === BsonType.string) {
    const name = asString(v);
    if (name === "full" || name === "partition") return name;
    throw new CommandError(5946802, "Bounds string must either be 'full' or 'partition'");
  }
  if (v.type !== BsonType.array) {
    throw new CommandError(
      5733404,
      "The bounds in a range statement must be the string 'full', 'partition', or an ascending array of two numbers or two dates",
    );
  }
  const list = elements(asDocument(v));
  const [from, to] = list;
  if (list.length !== 2 || from === undefined || to === undefined) {
    throw new CommandError(5733403, "A bounding array in a range statement must have exactly two elements");
  }
  if (compareValues(from, to) > 0) {
    throw new CommandError(
      5733402,
      "A bounding array must be an ascending array of either two dates or two numbers",
    );
  }
  const mixed = "A bounding array must contain either both dates or both numeric types";
  if (isNumeric(from)) {
    if (unit !== undefined) throw new CommandError(5733409, "Numeric bounds may not have unit parameter");
    if (!isNumeric(to)) throw new CommandError(5733406, mixed);
    if (from.type !== to.type || from.type !== step.type) {
      throw new CommandError(5876900, "Upper bound, lower bound, and step must all have the same type");
    }
  } else if (from.type === BsonType.date) {
    if (to.type !== BsonType.date) throw new CommandError(5733405, mixed);
    if (unit === undefined) {
      throw new CommandError(5733410, "A bounding array of dates must specify a unit");
    }
  } else {
    throw new CommandError(5946800, "Explicit bounds must be numeric or dates");
  }
  return { from, to };
}
