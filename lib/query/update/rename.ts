/**
 * `$rename`: takes a field from one path to another.
 *
 * Both paths lead through objects only. A field that is not there makes the
 * rename do nothing; one that is there leaves its old place when its value has
 * arrived at the new one.
 */
import { BsonType, asString, describeValue, type RawValue } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { EditableNode } from "../values/editor.js";
import { describeId } from "./context.js";
import { isDynamic, isIndex } from "./paths.js";

function badValue(message: string): CommandError {
  return new CommandError(ErrorCode.BadValue, message);
}

/** The destination of a rename. @throws CommandError BadValue (2) when it is no string */
export function renameTarget(path: string, value: RawValue): string {
  if (value.type !== BsonType.string)
    throw badValue(`The 'to' field for $rename must be a string: ${path}: ${describeValue(value)}`);
  const to = asString(value);
  if (to.includes("\0")) throw badValue("The 'to' field for $rename cannot contain an embedded null byte");
  return to;
}

/** Checks the two paths of a rename against each other. @throws CommandError BadValue (2) */
export function checkRename(from: readonly string[], to: readonly string[], text: string): void {
  const [source, target] = [from.join("."), to.join(".")];
  if (source === target) throw badValue(`The source and target field for $rename must differ: ${text}`);
  if (target.startsWith(`${source}.`) || source.startsWith(`${target}.`))
    throw badValue(`The source and target field for $rename must not be on the same path: ${text}`);
  if (from.some(isDynamic)) throw badValue(`The source field for $rename may not be dynamic: ${source}`);
  if (to.some(isDynamic)) throw badValue(`The destination field for $rename may not be dynamic: ${target}`);
}

/**
 * The value to be renamed; undefined where there is none.
 * @param to the destination's path: it must not lead through an array either
 * @throws CommandError PathNotViable (28) for a source behind a scalar, BadValue (2) for an array on either path
 */
export function renamed(
  root: EditableNode,
  from: readonly string[],
  to: string,
  doc: Uint8Array,
): RawValue | undefined {
  const value = valueAt(root, from, doc);
  if (value !== undefined) checkDestination(root, to, doc);
  return value;
}

function valueAt(root: EditableNode, from: readonly string[], doc: Uint8Array): RawValue | undefined {
  let node = root;
  let array: string | undefined;
  for (const [i, part] of from.entries()) {
    if (node.isArray && !isIndex(part)) throw notViable(from, i, node.toValue());
    const member = node.find(part);
    if (member === undefined) return undefined;
    if (node.isArray) array = from[i - 1]!;
    if (i === from.length - 1) {
      if (array !== undefined) throw throughArray("source", from.join("."), array, doc);
      return node.valueOf(member);
    }
    const inner = node.open(member);
    if (inner === undefined) throw notViable(from, i + 1, member.value);
    node = inner;
  }
  return undefined;
}

/** @param at the component that cannot be followed from `value` */
function notViable(path: readonly string[], at: number, value: RawValue): CommandError {
  const name = path[at - 1]!;
  return new CommandError(
    ErrorCode.PathNotViable,
    `cannot use the part (${name} of ${path.join(".")}) to traverse the element ({${name}: ${describeValue(value)}})`,
  );
}

function checkDestination(root: EditableNode, to: string, doc: Uint8Array): void {
  const parts = to.split(".");
  let node = root;
  let array: string | undefined;
  for (const part of parts.slice(0, -1)) {
    const member = node.find(part);
    const inner = member && node.open(member);
    if (inner === undefined) break;
    if (inner.isArray) array = part;
    node = inner;
  }
  if (array !== undefined) throw throughArray("destination", to, array, doc);
}

function throughArray(
  which: "source" | "destination",
  path: string,
  field: string,
  doc: Uint8Array,
): CommandError {
  return badValue(
    `The ${which} field cannot be an array element, '${path}' in doc with ${describeId(doc)} has an array field called '${field}'`,
  );
}

/** Takes the renamed field out of its old place. */
export function removeSource(root: EditableNode, from: readonly string[]): void {
  const trail = [root];
  for (const part of from.slice(0, -1)) {
    const node = trail.at(-1)!;
    trail.push(node.open(node.find(part)!)!);
  }
  trail.at(-1)!.unset(from.at(-1)!);
  for (const node of trail) node.touch();
}
