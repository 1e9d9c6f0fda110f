/** createIndexes: builds indexes over what is stored, all of them or none. */
import { asNumber, asString, BsonType, isNumeric } from "../../bson/index.js";
import { collectionNamespace, CommandError, documentsOf, ErrorCode } from "../../protocol/index.js";
import { isOfSystem } from "../collectionRules.js";
import { checkCollectionUuid } from "../collectionUuid.js";
import type { Arguments, Command, Server } from "../command.js";
import type { Collection } from "../storage/collection.js";
import { DuplicateKeyError } from "../storage/collectionIndex.js";
import { alreadyExists } from "../storage/indexConflicts.js";
import type { IndexSpec } from "../storage/indexSpec.js";
import { parseIndexSpec } from "../storage/parseIndexSpec.js";
import { randomUuid, splitNamespace } from "../storage/catalog.js";
import { treeReply } from "../tree.js";

/** Most members of a replica set. */
const MAX_MEMBERS = 50;

export const createIndexes: Command = {
  name: "createIndexes",
  fields: ["indexes", "v", "commitQuorum", "ignoreUnknownIndexOptions", "collectionUUID"],
  refused: { returnOnStart: "returnOnStart", isTimeseriesNamespace: "time series collections" },
  writes: true,
  run({ server, request, arguments: args }) {
    const namespace = collectionNamespace(request);
    const wanted = documentsOf(request, "indexes");
    checkCollectionUuid(server.catalog, namespace, args);
    if (server.catalog.findView(namespace))
      throw new CommandError(ErrorCode.CommandNotSupportedOnView, "Cannot create indexes on a view");
    const existing = server.catalog.find(namespace);
    const ignoreUnknown = args.boolean("ignoreUnknownIndexOptions");
    const specs = wanted.map((raw) => parseIndexSpec(raw, { collation: existing?.collation, ignoreUnknown }));
    if (specs.length === 0)
      throw new CommandError(ErrorCode.BadValue, "Must specify at least one index to create");
    if (specs.some(({ hidden }) => hidden) && isOfSystem(splitNamespace(namespace).collection))
      throw new CommandError(ErrorCode.BadValue, "Can't hide index on system collection");
    const commitQuorum = parseCommitQuorum(server, args);
    const collection = existing ?? server.catalog.create(namespace);
    const before = collection.indexes.length;
    try {
      build(server, collection, missing(collection, specs), existing !== undefined);
    } catch (error) {
      if (!existing) server.catalog.drop(namespace);
      throw error;
    }
    const after = collection.indexes.length;
    return treeReply({
      numIndexesBefore: before,
      numIndexesAfter: after,
      ...((after > before || !existing) && { createdCollectionAutomatically: !existing }),
      ...(commitQuorum && { commitQuorum }),
      ...(after === before
        ? { note: "all indexes already exist" }
        : after < before + specs.length && { note: "index already exists" }),
    });
  },
};

/** The specifications of indexes that the collection does not have yet; two alike in one command count once. */
function missing(collection: Collection, specs: readonly IndexSpec[]): IndexSpec[] {
  const fresh: IndexSpec[] = [];
  for (const spec of specs) {
    const known = [...collection.indexes.map((index) => index.spec), ...fresh];
    if (!alreadyExists(collection.namespace, spec, known)) fresh.push(spec);
  }
  return fresh;
}

/** Builds; a failure over a collection that was there before tells of the build. */
function build(server: Server, collection: Collection, specs: readonly IndexSpec[], existed: boolean): void {
  try {
    collection.createIndexes(specs);
  } catch (error) {
    if (!existed || !(error instanceof CommandError)) throw error;
    const build = dashed(randomUuid(server.environment));
    const context = `Index build failed: ${build}: Collection ${collection.namespace} ( ${dashed(collection.uuid)} )`;
    if (error instanceof DuplicateKeyError) throw error.inContext(context);
    throw new CommandError(error.code, `${context} :: caused by :: ${error.message}`);
  }
}

function dashed(bytes: Uint8Array): string {
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/**
 * How many members have to be ready before the index counts as built. There is one, and it is.
 * @returns what the reply shows; nothing on a standalone
 * @throws CommandError BadValue (2) on a standalone, FailedToParse (9), 278 for a quorum that one member cannot make
 */
function parseCommitQuorum(server: Server, args: Arguments): string | number | undefined {
  const quorum = args.get("commitQuorum");
  if (!quorum) return server.replSet === undefined ? undefined : "votingMembers";
  const bad = (why: string): CommandError => new CommandError(ErrorCode.FailedToParse, why);
  let members = 1;
  let mode = "";
  if (isNumeric(quorum)) {
    members = Math.trunc(asNumber(quorum));
    if (!(members >= 0 && members <= MAX_MEMBERS))
      throw bad(`commitQuorum has to be a non-negative number and not greater than ${MAX_MEMBERS}`);
  } else if (quorum.type === BsonType.string) {
    mode = asString(quorum);
    if (mode === "") throw bad("commitQuorum can't be an empty string");
  } else {
    throw bad("commitQuorum has to be a number or a string");
  }
  if (server.replSet === undefined)
    throw new CommandError(ErrorCode.BadValue, "Standalones can't specify commitQuorum");
  if (mode !== "" && mode !== "majority" && mode !== "votingMembers") {
    throw new CommandError(
      ErrorCode.UnknownReplWriteConcern,
      `No write concern mode named '${mode}' found in replica set configuration`,
    );
  }
  if (members > 1) {
    throw new CommandError(
      ErrorCode.UnsatisfiableCommitQuorum,
      "Commit quorum cannot be satisfied with the current replica set configuration",
    );
  }
  return mode === "" ? Math.max(1, members) : mode;
}
