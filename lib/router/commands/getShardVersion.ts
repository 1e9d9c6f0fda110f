/** `getShardVersion`: the version of a collection's chunk map, and with `fullMetadata` its ranges; or of a database. */
import { array, asString, BsonType, document, DocumentWriter, getField, int32 } from "../../bson/index.js";
import type { Reply } from "../../protocol/index.js";
import {
  CommandError,
  ErrorCode,
  MAX_BSON_OBJECT_BYTES,
  okReply,
  readCursorReply,
  request as commandTo,
} from "../../protocol/index.js";
import { lastmodOf } from "../catalog/documents.js";
import { CONFIG_SHARD } from "../catalog/shards.js";
import type { Command, RouterContext } from "../context.js";
import { flag, requiredField } from "../context.js";

export const getShardVersion: Command = {
  name: "getShardVersion",
  aliases: ["getshardversion"],
  adminOnly: true,
  fields: ["fullMetadata"],
  help: " example: { getShardVersion : 'library.events' } ",
  run(context, request) {
    const value = requiredField(request, request.command);
    if (value.type !== BsonType.string) {
      throw new CommandError(ErrorCode.BadValue, "namespace has invalid type, expected a string");
    }
    const ns = asString(value);
    return ns.includes(".")
      ? collectionVersion(context, ns, flag(request, "fullMetadata"))
      : databaseVersion(context, ns);
  },
};

async function databaseVersion(context: RouterContext, name: string): Promise<Reply> {
  const stored = await catalogDocument(context, "databases", name);
  const primary = stored && getField(stored, "primary");
  const version = stored && getField(stored, "version");
  if (!primary || !version) throw new CommandError(ErrorCode.NamespaceNotFound, `database ${name} not found`);
  return okReply(new DocumentWriter().field("primaryShard", primary).field("version", version).finish());
}

async function collectionVersion(context: RouterContext, ns: string, full: boolean): Promise<Reply> {
  const collection = context.catalog.collection(ns);
  const stored = collection && (await catalogDocument(context, "collections", ns));
  const epoch = stored && getField(stored, "lastmodEpoch");
  const timestamp = stored && getField(stored, "timestamp");
  if (!collection || !epoch || !timestamp) {
    throw new CommandError(ErrorCode.NamespaceNotSharded, `Collection ${ns} is not sharded.`);
  }
  const answer = new DocumentWriter()
    .field("version", lastmodOf(collection.version))
    .field("versionEpoch", epoch)
    .field("versionTimestamp", timestamp);
  if (!full) return okReply(answer.finish());
  const ranges: Uint8Array[] = [];
  let bytes = 0;
  for (let index = 0; index < collection.chunks.size; index++) {
    const { min, max } = collection.chunks.chunk(index);
    // An array within the array: its name, its type and the two bounds.
    bytes += min.length + max.length + 32;
    if (bytes > MAX_BSON_OBJECT_BYTES) return okReply(answer.bool("exceededSize", true).finish());
    ranges.push(new DocumentWriter().values("range", [document(min), document(max)]).finish());
  }
  return okReply(answer.field("chunks", array(ranges.map((range) => getField(range, "range")!))).finish());
}

/** A document of the catalog as it is stored. */
async function catalogDocument(
  context: RouterContext,
  collection: string,
  id: string,
): Promise<Uint8Array | undefined> {
  const find = new DocumentWriter()
    .string("find", collection)
    .document("filter", new DocumentWriter().string("_id", id).finish())
    .field("limit", int32(1));
  return readCursorReply(await context.shards.run(CONFIG_SHARD, commandTo("config", find.finish()))).batch[0];
}
