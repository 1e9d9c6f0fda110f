/**
 * renameCollection: gives a collection another name, within its database or in another.
 *
 * Within a database only the name changes. In another database it is a copy:
 * documents, options and indexes move, the UUID is new.
 */
import type { RawValue } from "../../bson/index.js";
import { asString, BsonType, isTruthy } from "../../bson/index.js";
import { checkNamespace, CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import { copyDocuments } from "../capping.js";
import type { Arguments, Command, Server } from "../command.js";
import { splitNamespace } from "../storage/catalog.js";
import type { Collection } from "../storage/collection.js";

/** System collections that never change their name. */
const FIXED = ["system.views", "system.js", "system.users"];

export const renameCollection: Command = {
  name: "renameCollection",
  fields: ["to", "dropTarget", "stayTemp"],
  refused: { collectionUUID: "renameCollection with collectionUUID" },
  writes: true,
  adminOnly: true,
  help: "rename a collection",
  run({ server, arguments: args }) {
    const from = namespaceOf(args, "renameCollection", args.main);
    const to = namespaceOf(args, "to", args.get("to") ?? args.missing("to"));
    if (from === to) throw illegal("Can't rename a collection to itself");
    checkNames(from, to);
    const source = sourceOf(server, from);
    const dropTarget = args.get("dropTarget");
    const drop = dropTarget?.type === BsonType.binary || isTruthy(dropTarget);
    makeRoom(server, to, drop);
    if (splitNamespace(from).db === splitNamespace(to).db) server.catalog.rename(source, to);
    else moveToOtherDatabase(server, source, to);
    server.cursors.collectionRenamed(from, to);
    return okReply();
  },
};

function namespaceOf(args: Arguments, field: string, value: RawValue): string {
  if (value.type !== BsonType.string) throw args.wrongType(field, value, "string");
  const namespace = asString(value);
  if (!namespace.includes(".")) {
    throw new CommandError(ErrorCode.InvalidNamespace, `Invalid namespace specified '${namespace}'`);
  }
  const { db, collection } = splitNamespace(namespace);
  checkNamespace(db, collection);
  return namespace;
}

/** @throws CommandError IllegalOperation (20), InvalidNamespace (73) for names of the system */
function checkNames(from: string, to: string): void {
  const names = [splitNamespace(from), splitNamespace(to)];
  if (from === "admin.system.version") {
    throw illegal("renaming the server configuration collection (admin.system.version) is not allowed");
  }
  for (const fixed of FIXED) {
    if (names.some(({ collection }) => collection === fixed))
      throw illegal(`renaming ${fixed} collection or renaming to ${fixed} is not allowed`);
  }
  if (names[1]?.collection.startsWith("system.")) {
    throw new CommandError(
      ErrorCode.InvalidNamespace,
      `error with target namespace: Invalid system namespace: ${to}`,
    );
  }
  if (names[0]!.db !== names[1]!.db && names.some(({ db }) => db === "local")) {
    throw illegal("Cannot rename collections between a replicated and an unreplicated database");
  }
}

/** @throws CommandError CommandNotSupportedOnView (166), NamespaceNotFound (26) */
function sourceOf({ catalog }: Server, namespace: string): Collection {
  const { db } = splitNamespace(namespace);
  const source = catalog.find(namespace);
  if (source) return source;
  if (catalog.findView(namespace)) {
    throw new CommandError(ErrorCode.CommandNotSupportedOnView, `cannot rename view: ${namespace}`);
  }
  throw new CommandError(
    ErrorCode.NamespaceNotFound,
    catalog.databaseNames().includes(db)
      ? `Source collection ${namespace} does not exist`
      : `Database ${db} does not exist or is drop pending`,
  );
}

/** @throws CommandError NamespaceExists (48) */
function makeRoom({ catalog, cursors }: Server, namespace: string, drop: boolean): void {
  if (catalog.findView(namespace)) {
    throw new CommandError(ErrorCode.NamespaceExists, `a view already exists with that name: ${namespace}`);
  }
  if (!catalog.find(namespace)) return;
  if (!drop) throw new CommandError(ErrorCode.NamespaceExists, "target namespace exists");
  catalog.drop(namespace);
  cursors.collectionDropped(namespace);
}

function moveToOtherDatabase({ catalog }: Server, source: Collection, to: string): void {
  const target = catalog.create(to, source.settings);
  target.createIndexes(source.indexes.slice(1).map(({ spec }) => spec));
  copyDocuments(catalog, source, target);
  catalog.drop(source.namespace);
}

function illegal(message: string): CommandError {
  return new CommandError(ErrorCode.IllegalOperation, message);
}
