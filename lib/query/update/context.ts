/** What an update knows while it is applied to one document. */
import { getField, describeDocument, describeValue, type RawValue } from "../../bson/index.js";
import type { FilterNode } from "../filter/node.js";

export interface UpdateContext {
  /** The clock of `$currentDate` and `$$NOW`: milliseconds since 1970, or a Date. */
  readonly now: Date | number;
  /** The document is being made by an upsert: `$setOnInsert` applies. */
  readonly isInsert?: boolean;
  /** The filter that chose the document. */
  readonly filter?: FilterNode;
}

/** Milliseconds since 1970. */
export function milliseconds(now: Date | number): number {
  return Math.trunc(typeof now === "number" ? now : now.getTime());
}

/** `{ _id: 1 }`, for error messages; the whole document where it has no `_id`. */
export function identify(doc: Uint8Array): string {
  const id = getField(doc, "_id");
  return id === undefined ? describeDocument(doc) : `{ _id: ${describeValue(id)} }`;
}

/** One operator at one path. */
export interface FieldOperator {
  /** Creates the path where it is missing; the others leave such documents alone. */
  readonly creates: boolean;
  /**
   * The new value, {@link REMOVE}, or undefined for "no change".
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
export type OperatorParser = (argument: RawValue, path: string) => FieldOperator;
