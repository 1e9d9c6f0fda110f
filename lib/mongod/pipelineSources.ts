/**
 * The documents of stages that show the server's own state: `$collStats`, `$indexStats`, `$currentOp`,
 * `$listLocalSessions`, `$listCatalog`, `$planCacheStats`.
 */
import { BsonType, asDocument, binary, date, document, getField, isTruthy } from "../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "../protocol/index.js";
import type { ParsedStage } from "../query/index.js";
import { collStatsDocument, indexStatsDocuments } from "./collectionStats.js";
import type { Server } from "./command.js";
import { currentOperations } from "./currentOperations.js";
import type { PipelineRun } from "./pipelineHost.js";
import type { View } from "./storage/catalog.js";
import { splitNamespace } from "./storage/catalog.js";
import type { Collection } from "./storage/collection.js";
import { describeIndex } from "./storage/indexSpec.js";
import { encodeTree } from "./tree.js";

/** The collection part of the namespace of `{aggregate: 1}`. */
export const NO_COLLECTION = "$cmd.aggregate";

/**
 * The documents that a source stage gives.
 * @param namespace that the pipeline runs over, `db.$cmd.aggregate` for none
 * @throws CommandError InvalidNamespace (73) for a stage that belongs elsewhere, NotImplemented (238)
 */
export function sourceDocuments(run: PipelineRun, namespace: string, stage: ParsedStage): Uint8Array[] {
  const { server } = run;
  const { db, collection: name } = splitNamespace(namespace);
  switch (stage.name) {
    case "$collStats":
      return [collStatsDocument(server, namespace, stage)];
    case "$indexStats":
      return indexStatsDocuments(server, server.catalog.findCollection(namespace));
    case "$planCacheStats":
      // There is no plan cache: plans are made anew for every query.
      if (!server.catalog.findCollection(namespace)) throw noSuchCollection(namespace);
      return [];
    case "$currentOp":
      if (db !== "admin")
        throw wrongPlace("$currentOp must be run against the 'admin' database with {aggregate: 1}");
      return currentOperations(server, run.request, flags(stage));
    case "$listLocalSessions":
      return sessionDocuments(server);
    case "$listSessions":
      if (namespace !== "config.system.sessions")
        throw wrongPlace("$listSessions may only be run against config.system.sessions");
      return sessionDocuments(server);
    case "$listCatalog":
      return name === NO_COLLECTION ? allEntries(server, db) : entriesOf(server, namespace);
    default:
      throw notSimulated(`stage ${stage.name} here`);
  }
}

function wrongPlace(message: string): CommandError {
  return new CommandError(ErrorCode.InvalidNamespace, message);
}

function noSuchCollection(namespace: string): CommandError {
  return new CommandError(50933, `collection '${namespace}' does not exist`);
}

/** Options of a stage that are true. */
function flags({ spec }: ParsedStage): (name: string) => boolean {
  return (name) => {
    const value = spec.type === BsonType.object ? getField(asDocument(spec), name) : undefined;
    return value !== undefined && isTruthy(value);
  };
}

/** SHA-256 of the empty user name: whose all sessions are, where there are no users. */
const NOBODY = Uint8Array.from(
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855".match(/../g)!,
  (hex) => parseInt(hex, 16),
);

function sessionDocuments({ sessions }: Server): Uint8Array[] {
  return sessions.all().map(({ lsid, lastUse }) =>
    encodeTree({
      _id: { id: getField(lsid, "id"), uid: getField(lsid, "uid") ?? binary(NOBODY) },
      lastUse: date(lastUse),
    }),
  );
}

/** `$listCatalog` over no collection: everything there is, and only in `admin`. */
function allEntries({ catalog }: Server, db: string): Uint8Array[] {
  if (db !== "admin") {
    throw wrongPlace(
      "Collectionless $listCatalog must be run against the 'admin' database with {aggregate: 1}",
    );
  }
  return catalog
    .databaseNames()
    .flatMap((each) => [
      ...catalog.collectionsOf(each).map(collectionEntry),
      ...catalog.viewsOf(each).map(viewEntry),
    ]);
}

function entriesOf({ catalog }: Server, namespace: string): Uint8Array[] {
  const collection = catalog.find(namespace);
  const view = catalog.findView(namespace);
  if (collection) return [collectionEntry(collection)];
  return view ? [viewEntry(view)] : [];
}

function collectionEntry(collection: Collection): Uint8Array {
  const { db, collection: name } = splitNamespace(collection.namespace);
  const ident = (index: number): string => `index-${index}-${db}.${name}`;
  return encodeTree({
    db,
    name,
    type: "collection",
    md: {
      ns: collection.namespace,
      options: document(collection.settings.raw),
      indexes: collection.indexes.map((index) => ({
        spec: describeIndex(index.spec),
        ready: true,
        multikey: index.multikey,
      })),
    },
    idxIdent: Object.fromEntries(collection.indexes.map(({ spec }, i) => [spec.name, ident(i)])),
    ns: collection.namespace,
    ident: `collection-${db}.${name}`,
  });
}

function viewEntry(view: View): Uint8Array {
  const { db, collection: name } = splitNamespace(view.namespace);
  return encodeTree({
    db,
    name,
    type: "view",
    _id: view.namespace,
    viewOn: splitNamespace(view.on).collection,
    pipeline: view.pipeline,
    ns: view.namespace,
  });
}
