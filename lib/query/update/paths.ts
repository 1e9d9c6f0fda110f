/** Update paths: their rules, their order, and which of them stand in each other's way. */
import { CommandError, ErrorCode } from "../../protocol/index.js";

/** `$[]` or `$[identifier]`. */
export function isArrayPlaceholder(part: string): boolean {
  return part.startsWith("$[") && part.endsWith("]");
}

/** The positional `$`: the array element that the filter matched. */
export function isPositional(part: string): boolean {
  return part === "$";
}

/** A component that stands for elements which only a document shows. */
export function isDynamic(part: string): boolean {
  return isPositional(part) || isArrayPlaceholder(part);
}

const INDEX = /^(0|[1-9][0-9]*)$/;

/** A component that can name an element of an array; longer ones than an array can have are still numbers. */
export function isIndex(part: string): boolean {
  return INDEX.test(part);
}

/** Components that a path may have: as many levels as a document. */
const MAX_PARTS = 200;

/** @throws CommandError Overflow (15) for a path that no document could have */
export function checkDepth(path: string): void {
  let parts = 1;
  for (let dot = path.indexOf("."); dot >= 0; dot = path.indexOf(".", dot + 1)) {
    if (++parts > MAX_PARTS) throw new CommandError(ErrorCode.Overflow, "FieldPath is too long");
  }
}

function badPath(message: string): CommandError {
  return new CommandError(ErrorCode.BadValue, message);
}

/**
 * Components of an update path.
 * @throws CommandError EmptyFieldName (56) for empty ones, BadValue (2) for a placeholder in front or a second `$`,
 *   Overflow (15)
 */
export function updatePathParts(path: string): string[] {
  if (path === "") throw new CommandError(ErrorCode.EmptyFieldName, "An empty update path is not valid.");
  checkDepth(path);
  const parts = path.split(".");
  if (parts.includes("")) {
    throw new CommandError(
      ErrorCode.EmptyFieldName,
      `The update path '${path}' contains an empty field name, which is not allowed.`,
    );
  }
  if (parts.filter(isPositional).length > 1)
    throw badPath(`Too many positional (i.e. '$') elements found in path '${path}'`);
  if (isPositional(parts[0]!))
    throw badPath(`Cannot have positional (i.e. '$') element in the first position in path '${path}'`);
  if (isArrayPlaceholder(parts[0]!)) {
    throw badPath(
      `Cannot have array filter identifier (i.e. '$[<id>]') element in the first position in path '${path}'`,
    );
  }
  return parts;
}

/** The order in which paths are updated and new fields are appended: by name, numbers by value. */
export function compareUpdatePaths(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const left = a[i]!;
    const right = b[i]!;
    if (left === right) continue;
    if (isIndex(left) && isIndex(right)) return left.length - right.length || (left < right ? -1 : 1);
    return left < right ? -1 : 1;
  }
  return a.length - b.length;
}

/** Refuses two paths of which one lies in the other (40 ConflictingUpdateOperators). */
export class PathConflicts {
  readonly #paths = new Set<string>();
  readonly #prefixes = new Set<string>();

  /** @throws CommandError 40 */
  add(path: string): void {
    for (const prefix of prefixesOf(path)) if (this.#paths.has(prefix)) throw conflict(path, prefix);
    if (this.#paths.has(path) || this.#prefixes.has(path)) throw conflict(path, path);
    this.#paths.add(path);
    for (const prefix of prefixesOf(path)) this.#prefixes.add(prefix);
  }
}

/** "a" and "a.b" of "a.b.c". */
export function* prefixesOf(path: string): Iterable<string> {
  for (let dot = path.indexOf("."); dot >= 0; dot = path.indexOf(".", dot + 1)) yield path.slice(0, dot);
}

function conflict(path: string, at: string): CommandError {
  return new CommandError(
    ErrorCode.ConflictingUpdateOperators,
    `Updating the path '${path}' would create a conflict at '${at}'`,
  );
}
