/**
 * Reply documents as trees that keep their number types.
 *
 * `explain` replies are rearranged on their way through the router. Decoding
 * them with the driver's usual promotion would lose whether a number was an
 * int32 or a long, so numbers stay wrapped here.
 */
import { deserialize, Double, Int32, Long } from "bson";

/** A document whose numbers are wrapped (Int32, Long, Double). */
export type Tree = Record<string, unknown>;

/** Decodes a reply, keeping number types. */
export function treeOf(body: Uint8Array): Tree {
  return deserialize(body, { promoteValues: false, promoteBuffers: false, bsonRegExp: true });
}

/** A sub-document of a tree. */
export function subtree(tree: Tree | undefined, name: string): Tree | undefined {
  const value = tree?.[name];
  return isTree(value) ? value : undefined;
}

/** The list of sub-documents under a name; empty when it is none. */
export function subtrees(tree: Tree | undefined, name: string): Tree[] {
  const value = tree?.[name];
  return Array.isArray(value) ? value.filter(isTree) : [];
}

/** A wrapped or plain number. */
export function numberOf(value: unknown): number {
  if (typeof value === "number") return value;
  if (value instanceof Int32 || value instanceof Double) return Number(value.valueOf());
  if (value instanceof Long) return value.toNumber();
  return 0;
}

/** The stages below a stage. */
export function inputsOf(plan: Tree): Tree[] {
  const only = subtree(plan, "inputStage");
  return only ? [only] : subtrees(plan, "inputStages");
}

/** A number of every stage in a plan, added up. */
export function sumOver(plan: Tree, name: string): number {
  return inputsOf(plan).reduce((sum, input) => sum + sumOver(input, name), numberOf(plan[name]));
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !("_bsontype" in value);
}
