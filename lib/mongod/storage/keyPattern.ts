/** Key patterns: `{region: 1, device: "hashed"}`, what an index is sorted by. */
import type { RawValue } from "../../bson/index.js";
import {
  asNumber,
  asString,
  BsonType,
  compareDocuments,
  describeDocument,
  fields,
  isNumeric,
} from "../../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";
import type { KeyField } from "../../query/index.js";
import { typeName } from "../../query/index.js";

/** Kinds of index that MongoDB has, or had, and the engine does not. */
const OTHER_KINDS: ReadonlySet<string> = new Set([
  "text",
  "2d",
  "2dsphere",
  "2dsphere_bucket",
  "columnstore",
  "wildcard",
]);
/** Kinds that no server of today creates, with what it says. */
const GONE: Readonly<Record<string, string>> = {
  geoHaystack: "GeoHaystack indexes cannot be created in version 5.0 and above",
  queryable_encrypted_range: "EncryptedRange indexes cannot be created",
};

const MOST_BYTES = 2048;
const MOST_FIELDS = 32;

/**
 * Reads a key pattern.
 * @throws CommandError CannotCreateIndex (67), BadValue (2) for a field that is named twice, 13103, 31303, or 238 for
 *   kinds of index that are not simulated
 */
export function parseKeyPattern(pattern: Uint8Array): KeyField[] {
  const parts = fields(pattern);
  const names = new Set<string>();
  for (const [name] of parts) {
    if (names.has(name)) {
      throw new CommandError(
        ErrorCode.BadValue,
        `The field '${name}' appears multiple times in the index key pattern ${describeDocument(pattern)}`,
      );
    }
    names.add(name);
  }
  if (pattern.length > MOST_BYTES) throw cannotCreate("Index key pattern too large.");
  if (parts.length === 0) throw cannotCreate("Index keys cannot be empty.");
  const plugin = pluginOf(parts);
  const result = parts.map(([path, value]): KeyField => {
    const kind = parseKind(value, plugin);
    checkPath(path);
    return { path, kind };
  });
  if (result.length > MOST_FIELDS)
    throw new CommandError(13103, `too many compound keys ${describeDocument(pattern)}`);
  const hashed = result.filter((field) => field.kind === "hashed").length;
  if (hashed > 1) {
    throw new CommandError(
      31303,
      `A maximum of one index field is allowed to be hashed but found ${hashed} for 'key' ${describeDocument(pattern)}`,
    );
  }
  return result;
}

/** What kind of index a pattern asks for beside the ordinary one: the first string in it. */
function pluginOf(parts: readonly (readonly [string, RawValue])[]): string {
  for (const [path, value] of parts) {
    if (path === "$**" || path.endsWith(".$**")) throw notSimulated("wildcard indexes");
    if (value.type !== BsonType.string) continue;
    const name = asString(value);
    const gone = GONE[name];
    if (gone !== undefined) throw cannotCreate(gone);
    if (OTHER_KINDS.has(name)) throw notSimulated(`${name} indexes`);
    if (name !== "" && name !== "hashed") throw cannotCreate(`Unknown index plugin '${name}'`);
    return name;
  }
  return "";
}

function parseKind(value: RawValue, plugin: string): KeyField["kind"] {
  if (isNumeric(value)) {
    const direction = asNumber(value);
    if (Number.isNaN(direction)) throw cannotCreate("Values in the index key pattern cannot be NaN.");
    if (direction === 0) throw cannotCreate("Values in the index key pattern cannot be 0.");
    return direction > 0 ? 1 : -1;
  }
  if (value.type !== BsonType.string) {
    throw cannotCreate(
      `Values in v:2 index key pattern cannot be of type ${typeName(value)}. Only numbers > 0, numbers < 0, and strings are allowed.`,
    );
  }
  if (asString(value) !== plugin)
    throw cannotCreate("Can't use more than one index plugin for a single index.");
  if (plugin === "") throw cannotCreate("Values in the index key pattern cannot be empty strings");
  return "hashed";
}

/** `$id`, `$ref` and `$db` may stand behind another component: they are the fields of a DBRef. */
function checkPath(path: string): void {
  if (path === "") throw cannotCreate("Index keys cannot be an empty field.");
  if (path === "_fts") throw cannotCreate("Index key contains an illegal field name: '_fts'");
  path.split(".").forEach((part, i) => {
    if (part === "") throw cannotCreate("Index keys cannot contain an empty field.");
    if (!part.startsWith("$")) return;
    if (i > 0 && (part === "$id" || part === "$ref" || part === "$db")) return;
    throw cannotCreate("Index key contains an illegal field name: field name starts with '$'.");
  });
}

/** Whether the pattern is one that MongoDB takes for the `_id` index's: `{_id: 1}` or `{_id: -1}`. */
export function isIdPattern(pattern: Uint8Array): boolean {
  const [first, second] = fields(pattern);
  if (!first || second || first[0] !== "_id" || !isNumeric(first[1])) return false;
  return Math.abs(Math.trunc(asNumber(first[1]))) === 1;
}

/** Whether two patterns are the same: names and values in order; 1 and 1.0 are the same, 1 and 2 are not. */
export function samePattern(a: Uint8Array, b: Uint8Array): boolean {
  return compareDocuments(a, b) === 0;
}

/** CannotCreateIndex (67). */
export function cannotCreate(message: string): CommandError {
  return new CommandError(ErrorCode.CannotCreateIndex, message);
}
