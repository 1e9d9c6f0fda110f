/**
 * dbHash: one MD5 for each collection of a database, over its documents in the
 * order of `_id`; two servers with the same data give the same hashes.
 */
import { asDocument, asString, BsonType, elements, int64, uuid } from "../../bson/index.js";
import type { Arguments, Command, CommandContext } from "../command.js";
import { Md5Stream } from "../md5Stream.js";
import { splitNamespace } from "../storage/catalog.js";
import type { Collection } from "../storage/collection.js";
import { treeReply } from "../tree.js";

export const dbHash: Command = {
  name: "dbHash",
  aliases: ["dbhash"],
  fields: ["collections", "skipTempCollections"],
  refused: { $_internalReadAtClusterTime: "reads at a cluster time" },
  help: "returns hashes of a database's collections",
  run(context) {
    const { server, request, arguments: args } = context;
    const wanted = wantedNames(args);
    const started = server.environment.now();
    const hashes: Record<string, string> = {};
    const capped: string[] = [];
    const uuids: Record<string, unknown> = {};
    const whole = new Md5Stream();
    for (const collection of server.catalog.collectionsOf(request.db)) {
      const { collection: name } = splitNamespace(collection.namespace);
      if (wanted && !wanted.has(name)) continue;
      const hash = hashOf(context, collection);
      hashes[name] = hash;
      whole.update(new TextEncoder().encode(hash));
      uuids[name] = uuid(collection.uuid);
      if (collection.settings.capped) capped.push(name);
    }
    return treeReply({
      host: server.host,
      collections: hashes,
      capped,
      uuids,
      md5: whole.finish(),
      timeMillis: int64(Math.max(0, Math.round(server.environment.now() - started))),
    });
  },
};

function wantedNames(args: Arguments): ReadonlySet<string> | undefined {
  const value = args.get("collections");
  if (!value) return undefined;
  if (value.type !== BsonType.array) throw args.wrongType("collections", value, "array");
  const names = elements(asDocument(value)).map((name) => {
    if (name.type !== BsonType.string) throw args.wrongType("collections.0", name, "string");
    return asString(name);
  });
  return names.length === 0 ? undefined : new Set(names);
}

function hashOf({ interrupt }: CommandContext, collection: Collection): string {
  const hash = new Md5Stream();
  const scan = collection.idIndex.ordered.scan("", "\u00ff");
  while (scan.next()) {
    interrupt.step();
    const document = collection.records.get(scan.id);
    if (document) hash.update(document);
  }
  return hash.finish();
}
