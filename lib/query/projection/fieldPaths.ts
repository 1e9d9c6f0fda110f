/** Paths of projections: what may stand as a field's name, and the tree they grow into. */
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { ProjectionTree, type ProjectionEntry } from "./tree.js";

const MAX_PARTS = 200;
/** Names with a dollar that fields may have: parts of a DBRef, and what a router asks of its shards. */
const ALLOWED = new Set(["$id", "$ref", "$db", "$sortKey", "$recordId"]);

/**
 * Components of a field path.
 * @throws CommandError 40352, 40353, 15998 for empty parts, 16410 for a `$` in front, Overflow (15)
 */
export function fieldPathParts(path: string): string[] {
  if (path === "") throw new CommandError(40352, "FieldPath cannot be constructed with empty string");
  if (path.endsWith(".")) throw new CommandError(40353, "FieldPath must not end with a '.'.");
  const parts = path.split(".", MAX_PARTS + 1);
  if (parts.length > MAX_PARTS) throw new CommandError(ErrorCode.Overflow, "FieldPath is too long");
  for (const part of parts) {
    if (part === "") throw new CommandError(15998, "FieldPath field names may not be empty strings.");
    if (part.startsWith("$") && !ALLOWED.has(part)) {
      throw new CommandError(
        16410,
        "FieldPath field names may not start with '$'. Consider using $getField or $setField.",
      );
    }
  }
  return parts;
}

/**
 * Hangs an entry into a tree, making the levels of its path.
 * @throws CommandError 31249, 31250 where the path meets another
 */
export function insert(tree: ProjectionTree, path: string, entry: ProjectionEntry): void {
  const parts = fieldPathParts(path);
  let level = tree;
  for (let i = 0; i < parts.length - 1; i++) {
    const existing = level.entries.get(parts[i]!);
    if (existing === undefined) {
      const inner = new ProjectionTree(level.rest);
      level.entries.set(parts[i]!, { kind: "tree", tree: inner });
      level = inner;
    } else if (existing.kind === "tree") {
      level = existing.tree;
    } else {
      throw new CommandError(
        31249,
        `Path collision at ${path} remaining portion ${parts.slice(1).join(".")}`,
      );
    }
  }
  const last = parts.at(-1)!;
  if (level.entries.has(last)) throw new CommandError(31250, `Path collision at ${path}`);
  level.entries.set(last, entry);
}
