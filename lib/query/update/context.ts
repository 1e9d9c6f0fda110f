/** What an update knows while it is applied to one document, and what an operator is. */
import { describeValue, getField, type RawValue } from "../../bson/index.js";
import type { ExpressionOptions } from "../expression/context.js";
import type { FilterNode } from "../filter/node.js";

export interface UpdateContext {
  /** The clock of `$currentDate` and `$$NOW`: milliseconds since 1970, or a Date. */
  readonly now: Date | number;
  /** The document is being made by an upsert: `$setOnInsert` applies. */
  readonly isInsert?: boolean;
  /** The filter that chose the document: it tells the element that the positional `$` stands for. */
  readonly filter?: FilterNode;
  /** A timestamp later than all before, for `$currentDate` and empty timestamps; the clock's second and 1 without it. */
  readonly nextTimestamp?: () => RawValue;
}

/** Milliseconds since 1970. */
export function milliseconds(now: Date | number): number {
  return Math.trunc(typeof now === "number" ? now : now.getTime());
}

/** `_id: 1`, as error messages name a document. */
export function describeId(doc: Uint8Array): string {
  const id = getField(doc, "_id");
  return id === undefined ? "no id" : `_id: ${describeValue(id)}`;
}

/** `{_id: 1}`, as error messages name a document. */
export function identify(doc: Uint8Array): string {
  return `{${describeId(doc)}}`;
}

/** The last component of a path: what MongoDB's messages call "the field". */
export function fieldName(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1);
}

/** One operator at one path. */
export interface FieldOperator {
  /**
   * Where the path does not lead to a value: "create" makes it, "refuse" leaves such a document alone unless the
   * path could not be made at all (a scalar stands in its way), "ignore" leaves it alone in any case.
   */
  readonly missing: "create" | "refuse" | "ignore";
  /**
   * The new value, {@link REMOVE}, or undefined for "no change". A value that is the old one byte for byte still
   * counts as a modification.
   * @param existing the value at the path, undefined where it is missing
   */
  update(existing: RawValue | undefined, at: Site): RawValue | typeof REMOVE | undefined;
}

/** Where an operator is being applied. */
export interface Site {
  /** The path, array indexes filled in. */
  readonly path: string;
  readonly doc: Uint8Array;
  readonly context: UpdateContext;
}

export const REMOVE = Symbol("remove");

/** Makes the operator for one path from its argument. */
export type OperatorParser = (argument: RawValue, path: string, options: ExpressionOptions) => FieldOperator;
