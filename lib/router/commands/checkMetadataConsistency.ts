/**
 * `checkMetadataConsistency`: looks for contradictions in the catalog, and between it and the shards.
 *
 *     admin     {checkMetadataConsistency: 1}           the whole cluster
 *     library   {checkMetadataConsistency: 1}           one database
 *     library   {checkMetadataConsistency: "loans"}     one collection
 *
 * The reply is a cursor with one document for each contradiction; nothing is changed.
 */
import { asNumber, asString, BsonType, firstField, isNumeric } from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { Arguments, checkNamespace, CommandError, ErrorCode } from "../../protocol/index.js";
import type { Scope } from "../consistency/check.js";
import { findInconsistencies } from "../consistency/check.js";
import type { Command, RouterContext } from "../context.js";
import { flag, optionalDocument, wrongType } from "../context.js";
import { BufferStream } from "../merging/streams.js";
import { originOf } from "../support/cursorOrigin.js";

/** @since MongoDB 7.0 */
export const checkMetadataConsistency: Command = {
  name: "checkMetadataConsistency",
  fields: ["cursor", "checkIndexes"],
  help: "Checks the consistency of the metadata of the cluster, a database or a collection",
  async run(context, request) {
    const scope = scopeOf(context, request);
    const batchSize = batchSizeOf(request);
    const found = await findInconsistencies(context, scope);
    const ns = `${request.db}.${scope.name ?? "$cmd.aggregate"}`;
    const stream = new BufferStream(found);
    return context.cursors.firstReply(ns, stream, [], batchSize, false, originOf(request));
  },
};

/** @throws CommandError TypeMismatch (14), FailedToParse (9), InvalidNamespace (73), NamespaceNotFound (26) */
function scopeOf({ catalog }: RouterContext, request: Request): Scope {
  const value = firstField(request.body)?.[1];
  const checkIndexes = flag(request, "checkIndexes");
  const { db } = request;
  let name: string | undefined;
  if (value?.type === BsonType.string) {
    name = asString(value);
    checkNamespace(db, name);
  } else if (!value || !isNumeric(value)) {
    throw wrongType(request, request.command, "string");
  } else if (asNumber(value) !== 1) {
    throw new CommandError(
      ErrorCode.FailedToParse,
      `Invalid command format: the '${request.command}' field must specify a collection name or 1`,
    );
  }
  // On admin it is about the whole cluster, whatever it names.
  if (db === "admin") return { checkIndexes };
  if (db !== "config" && !catalog.database(db)) {
    throw new CommandError(ErrorCode.NamespaceNotFound, `Database ${db} not found`);
  }
  return { db, ...(name !== undefined && { name }), checkIndexes };
}

function batchSizeOf(request: Request): number | undefined {
  const cursor = optionalDocument(request, "cursor");
  if (!cursor) return undefined;
  return new Arguments(`${request.command}.cursor`, cursor, { fields: ["batchSize"] }, false).count(
    "batchSize",
  );
}
