/**
 * splitVector: where a range of an index can be cut into pieces of about half a chunk's size. Internal, for the members of
 * a cluster; nothing is cut here.
 *
 *     {splitVector: "library.loans", keyPattern: {memberId: 1}, min: {…}, max: {…}, maxChunkSizeBytes: 1048576}
 *     {splitVector: "library.loans", keyPattern: {memberId: 1}, force: true}        in the middle, however little there is
 *     → {splitKeys: [{memberId: 17}, …], ok: 1}
 *
 * Every so many entries the index is cut, by the average size of a document. Entries with one key value stay together.
 */
import type { RawValue } from "../../bson/index.js";
import {
  asNumber,
  document as documentValue,
  DocumentWriter,
  fields,
  isNumeric,
  MAX_KEY,
  MIN_KEY,
  documentSortableKey,
} from "../../bson/index.js";
import type { Reply } from "../../protocol/index.js";
import { checkNamespace, CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { Arguments, Command } from "../command.js";
import { planQuery } from "../planner/plan.js";
import { compileQuery } from "../planner/query.js";
import { splitNamespace } from "../storage/catalog.js";

const MEGABYTE = 1024 * 1024;
const EMPTY = new DocumentWriter().finish();

export const splitVector: Command = {
  name: "splitVector",
  fields: [
    "keyPattern",
    "min",
    "max",
    "maxChunkSize",
    "maxChunkSizeBytes",
    "maxChunkObjects",
    "maxSplitPoints",
    "force",
  ],
  help: "Internal command: where a range of an index can be cut",
  run({ server, arguments: args, interrupt }) {
    const namespace = args.string("splitVector") ?? "";
    const { db, collection: name } = splitNamespace(namespace);
    if (!namespace.includes(".")) {
      throw new CommandError(ErrorCode.InvalidNamespace, `Invalid namespace specified '${namespace}'`);
    }
    checkNamespace(db, name);
    const keyPattern = args.document("keyPattern");
    if (!keyPattern || keyPattern.length === EMPTY.length)
      throw refuse("no key pattern found in splitVector");
    const bounds = boundsOf(args);
    const force = args.boolean("force");
    const size = force ? Infinity : chunkSize(args);
    const collection = server.catalog.findCollection(namespace);
    if (!collection) throw new CommandError(ErrorCode.NamespaceNotFound, "ns not found");
    const { count, dataSize } = collection.records;
    const spec = collection.indexes
      .map((index) => index.spec)
      .find((each) => !each.sparse && !each.partialFilter && startsWith(each.keyPattern, keyPattern));
    if (!spec) throw new CommandError(ErrorCode.IndexNotFound, "couldn't find index over splitting key");
    if (count === 0 || (!force && dataSize < size)) return splitKeys([]);
    const index = spec.keyPattern;
    const query = compileQuery({
      hint: documentValue(index),
      ...(bounds && { min: extended(bounds.min, index), max: extended(bounds.max, index) }),
      returnKey: true,
    });
    const plan = planQuery(collection, query, interrupt);
    const length = fields(keyPattern).length;
    const keys: Uint8Array[] = [];
    while (plan.next()) keys.push(firstFields(plan.document, length));
    const most = args.count("maxChunkObjects") || Infinity;
    const every = force
      ? Math.floor(keys.length / 2)
      : Math.floor(Math.min(most, size / 2 / (dataSize / count)));
    return splitKeys(cut(keys, Math.max(1, every), force ? 1 : args.count("maxSplitPoints") || Infinity));
  },
};

/** Both bounds, or none. @throws CommandError BadValue (2) for one alone */
function boundsOf(args: Arguments): { min: Uint8Array; max: Uint8Array } | undefined {
  const min = args.document("min") ?? EMPTY;
  const max = args.document("max") ?? EMPTY;
  if ((min.length === EMPTY.length) !== (max.length === EMPTY.length)) {
    throw refuse("either provide both min and max or leave both empty");
  }
  return min.length === EMPTY.length ? undefined : { min, max };
}

/** In bytes. @throws CommandError BadValue (2) */
function chunkSize(args: Arguments): number {
  const bytes = args.count("maxChunkSizeBytes") || (args.count("maxChunkSize") ?? 0) * MEGABYTE;
  if (bytes > 0) return bytes;
  throw refuse("need to specify the desired max chunk size (maxChunkSize or maxChunkSizeBytes)");
}

/** Every so many keys one; where it is the same as the last one, or the very first, the next that is another. */
function cut(keys: readonly Uint8Array[], every: number, most: number): Uint8Array[] {
  const points: Uint8Array[] = [];
  let last = keys[0] && documentSortableKey(keys[0]);
  let since = 0;
  for (const key of keys) {
    if (points.length >= most) break;
    if (since++ < every) continue;
    const here = documentSortableKey(key);
    if (here === last) continue;
    points.push(key);
    last = here;
    since = 1;
  }
  return points;
}

function startsWith(index: Uint8Array, pattern: Uint8Array): boolean {
  const own = fields(index);
  const kind = (value: RawValue | undefined): unknown =>
    value && isNumeric(value) ? asNumber(value) : "hashed";
  return fields(pattern).every(([path, value], i) => own[i]?.[0] === path && kind(own[i][1]) === kind(value));
}

/** A bound of the whole index: what it does not say sorts first. */
function extended(bound: Uint8Array, index: Uint8Array): Uint8Array {
  const given = new Map(fields(bound));
  const writer = new DocumentWriter();
  for (const [path, kind] of fields(index)) {
    writer.field(path, given.get(path) ?? (isNumeric(kind) && asNumber(kind) < 0 ? MAX_KEY : MIN_KEY));
  }
  return writer.finish();
}

function firstFields(key: Uint8Array, length: number): Uint8Array {
  const writer = new DocumentWriter();
  for (const [path, value] of fields(key).slice(0, length)) writer.field(path, value);
  return writer.finish();
}

const splitKeys = (points: readonly Uint8Array[]): Reply =>
  okReply(new DocumentWriter().arrayOf("splitKeys", points).finish());

const refuse = (message: string): CommandError => new CommandError(ErrorCode.BadValue, message);
