/** Update paths: their rules, their order, and which of them stand in each other's way. */
import { CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";
import { isArrayIndex } from "../values/types.js";

/** `$[]` or `$[identifier]`. */
export function isArrayPlaceholder(part: string): boolean {
  return part.startsWith("$[") && part.endsWith("]");
}

/** Components of an update path. Throws 56 for empty ones, 52 for `$` in front, 238 for the positional `$`. */
export function updatePathParts(path: string): string[] {
  if (path === "") throw new CommandError(ErrorCode.EmptyFieldName, "An empty update path is not valid.");
  const parts = path.split(".");
  parts.forEach((part, i) => {
    if (part === "") {
      throw new CommandError(
        ErrorCode.EmptyFieldName,
        `The update path '${path}' contains an empty field name, which is not allowed.`,
      );
    }
    if (!part.startsWith("$")) return;
    if (part === "$" && i > 0) throw notSimulated(`the positional operator in the update path '${path}'`);
    if (isArrayPlaceholder(part)) {
      if (i > 0) return;
      throw new CommandError(
        ErrorCode.BadValue,
        `Cannot have array filter identifier (i.e. '$[<id>]') element in the first position in path '${path}'`,
      );
    }
    throw new CommandError(
      ErrorCode.DollarPrefixedFieldName,
      `The dollar ($) prefixed field '${part}' in '${path}' is not allowed in the context of an update's replacement ` +
        "document. Consider using an aggregation pipeline with $replaceWith.",
    );
  });
  return parts;
}

/** The order in which new fields are appended: by name, numbers by value. */
export function compareUpdatePaths(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const left = a[i]!;
    const right = b[i]!;
    if (left === right) continue;
    if (isArrayIndex(left) && isArrayIndex(right)) return Number(left) - Number(right);
    return left < right ? -1 : 1;
  }
  return a.length - b.length;
}

/** Refuses two paths of which one lies in the other (40 ConflictingUpdateOperators). */
export class PathConflicts {
  readonly #paths = new Set<string>();
  readonly #prefixes = new Set<string>();

  add(path: string): void {
    const parts = path.split(".");
    for (let i = 1; i <= parts.length; i++) {
      const prefix = parts.slice(0, i).join(".");
      if (this.#paths.has(prefix)) throw this.#conflict(path, prefix);
    }
    if (this.#prefixes.has(path)) throw this.#conflict(path, path);
    this.#paths.add(path);
    for (let i = 1; i < parts.length; i++) this.#prefixes.add(parts.slice(0, i).join("."));
  }

  #conflict(path: string, at: string): CommandError {
    return new CommandError(
      ErrorCode.ConflictingUpdateOperators,
      `Updating the path '${path}' would create a conflict at '${at}'`,
    );
  }
}
