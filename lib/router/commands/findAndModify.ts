/** `findAndModify`: changes or removes one document and returns it. */
import type { RawValue } from "../../bson/index.js";
import { BsonType, DocumentWriter } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import { collectionNamespace, CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import { compileFilter, compileProjection, isPositionalProjection } from "../../query/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { Command, RouterContext } from "../context.js";
import { documentField, flag, optionalDocument, optionalField } from "../context.js";
import { checkCollectionUuid } from "../support/collectionUuid.js";
import { withCollection, withCollectionAlone } from "../support/collections.js";
import { forwardedRequest } from "../support/forward.js";
import { answerByOneShard } from "../support/reading.js";
import { traceTargeted } from "../trace.js";
import { ConcernErrors } from "../writes/concernErrors.js";
import type { WriteRoute } from "../writes/policy.js";
import { routeFindAndModify } from "../writes/policy.js";
import type { CarefulSearch, UpdateOutcome } from "../writes/singleDocument.js";
import { deleteOneAlone, updateOneAlone } from "../writes/singleDocument.js";
import { readArrayFilters } from "../writes/statements.js";
import type { CommandTerms } from "../writes/terms.js";
import { commandTerms, expressionsOf } from "../writes/terms.js";
import { writeUnsharded } from "../writes/unsharded.js";

export const findAndModify: Command = {
  name: "findAndModify",
  aliases: ["findandmodify"],
  fields: [
    "query",
    "sort",
    "remove",
    "update",
    "new",
    "fields",
    "upsert",
    "bypassDocumentValidation",
    "bypassEmptyTsReplacement",
    "collation",
    "arrayFilters",
    "hint",
    "let",
    "collectionUUID",
  ],
  retryable: true,
  async run(context, request) {
    const ns = collectionNamespace(request);
    const change = readChange(request);
    const shared = await withCollection(context, ns, async (collection) => {
      if (!collection) return writeUnsharded(context, request, ns);
      checkCollectionUuid(context, request, collection);
      const terms = termsOf(context, request, collection);
      const route = routeFor(context, request, collection, change, terms);
      return route.kind === "plain"
        ? answerByOneShard(
            context,
            forwardedRequest(request, { collectionUUID: undefined }),
            collection,
            route.target,
          )
        : undefined;
    });
    if (shared) return shared;
    return withCollectionAlone(context, ns, (collection) => {
      if (!collection) return writeUnsharded(context, request, ns);
      checkCollectionUuid(context, request, collection);
      return runCarefully(context, request, collection, change);
    });
  },
};

/** A remove, or an update. */
type Change = { readonly value: RawValue; readonly upsert: boolean } | undefined;

/** @throws CommandError FailedToParse (9) for options that exclude each other, BadValue (2) */
function readChange(request: Request): Change {
  const value = optionalField(request, "update");
  const refuse = (message: string): CommandError => new CommandError(ErrorCode.FailedToParse, message);
  const arrayFilters = optionalField(request, "arrayFilters");
  if (flag(request, "remove")) {
    if (value) throw refuse("Cannot specify both an update and remove=true");
    if (flag(request, "upsert")) throw refuse("Cannot specify both upsert=true and remove=true ");
    if (flag(request, "new")) {
      throw refuse(
        "Cannot specify both new=true and remove=true; 'remove' always returns the deleted document",
      );
    }
    if (arrayFilters) throw refuse("Cannot specify arrayFilters and remove=true");
    return undefined;
  }
  if (!value) throw refuse("Either an update or remove=true must be specified");
  if (value.type === BsonType.array && arrayFilters)
    throw refuse("Cannot specify arrayFilters and a pipeline update");
  if (value.type !== BsonType.object && value.type !== BsonType.array)
    throw refuse("Update argument must be either an object or an array");
  const projection = optionalDocument(request, "fields");
  if (flag(request, "new") && projection && isPositionalProjection(projection)) {
    throw new CommandError(
      ErrorCode.BadValue,
      "cannot use a positional projection and return the new document",
    );
  }
  return { value, upsert: flag(request, "upsert") };
}

function termsOf(context: RouterContext, request: Request, collection: ShardedCollection): CommandTerms {
  const terms = commandTerms(context, request, new ConcernErrors());
  const expressions = expressionsOf(terms, collection, optionalDocument(request, "collation"));
  return { ...terms, expressions };
}

function routeFor(
  context: RouterContext,
  request: Request,
  collection: ShardedCollection,
  change: Change,
  { expressions }: CommandTerms,
): WriteRoute {
  const query = documentField(request, "query");
  return routeFindAndModify(query, change, collection, context.rules, expressions);
}

async function runCarefully(
  context: RouterContext,
  request: Request,
  collection: ShardedCollection,
  change: Change,
): Promise<Reply> {
  const terms = termsOf(context, request, collection);
  const { node, target, pinsKey } = routeFor(context, request, collection, change, terms);
  const { variables, expressions } = terms;
  const search: CarefulSearch = {
    filter: documentField(request, "query"),
    node,
    target,
    pinsKey,
    sort: optionalDocument(request, "sort"),
    hint: optionalField(request, "hint"),
    collation: optionalDocument(request, "collation"),
    variables,
    expressions,
  };
  // A projection that cannot be compiled fails before anything is written.
  const shape = projectionOf(request, terms);
  const record = traceTargeted("findAndModify", collection, target, context.environment.now());
  context.trace.add(record);
  const { shards: work } = record;
  const last = new DocumentWriter();
  let value: Uint8Array | undefined;
  if (change) {
    const spec = {
      u: change.value,
      arrayFilters: readArrayFilters(optionalField(request, "arrayFilters"), "findAndModify.arrayFilters"),
      constants: undefined,
      multi: false,
      upsert: change.upsert,
      upsertSupplied: false,
    };
    const outcome = await updateOneAlone(context, collection, search, spec, { ...terms, work });
    describeOutcome(last, outcome);
    value = imageOf(outcome, flag(request, "new"));
  } else {
    value = await deleteOneAlone(context, collection, search, { ...terms, work });
    last.int32("n", value ? 1 : 0);
  }
  const writer = new DocumentWriter().document("lastErrorObject", last.finish());
  if (value) writer.document("value", shape(value));
  else writer.null("value");
  terms.concernErrors.writeTo(writer);
  return okReply(writer.finish());
}

function projectionOf(request: Request, { expressions }: CommandTerms): (document: Uint8Array) => Uint8Array {
  const projection = optionalDocument(request, "fields");
  if (!projection) return (document) => document;
  const { node } = compileFilter(documentField(request, "query"), expressions);
  return compileProjection(projection, expressions, node);
}

function describeOutcome(last: DocumentWriter, outcome: UpdateOutcome): void {
  last.int32("n", outcome.kind === "notFound" ? 0 : 1).bool("updatedExisting", outcome.kind === "updated");
  if (outcome.kind === "upserted") last.field("upserted", outcome.id);
}

/** The document as it was, or as it is now. */
function imageOf(outcome: UpdateOutcome, wantsNew: boolean): Uint8Array | undefined {
  switch (outcome.kind) {
    case "notFound":
      return undefined;
    case "updated":
      return wantsNew ? outcome.after : outcome.before;
    case "upserted":
      return wantsNew ? outcome.after : undefined;
  }
}
