/** `findAndModify`: changes or removes one document and returns it. */
import type { RawValue } from "../../bson/index.js";
import { BsonType, DocumentWriter, getField } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import { bodyField, collectionNamespace, CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import { compileFilter, compileProjection, compileUpdate } from "../../query/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { Command, RouterContext } from "../context.js";
import { documentField, expressionOptions, flag, optionalDocument } from "../context.js";
import { deleteByIds, withCollection, withCollectionAlone } from "../support/collections.js";
import { afterConfigWrite, checkConfigWrite } from "../support/configWrites.js";
import { withDatabase } from "../support/databases.js";
import { answerByOneShard, answerUnsharded, refuseCommandCollation } from "../support/reading.js";
import { traceTargeted } from "../trace.js";
import type { WriteRoute } from "../writes/policy.js";
import { routeFindAndModify, updateOptions } from "../writes/policy.js";
import { locateOne, updateOneAlone } from "../writes/singleDocument.js";
import { readArrayFilters } from "../writes/statements.js";

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
    "collation",
    "arrayFilters",
    "hint",
    "let",
  ],
  retryable: true,
  async run(context, request) {
    const ns = collectionNamespace(request);
    const change = readChange(request);
    const shared = await withCollection(context, ns, async (collection) => {
      if (!collection) return runUnsharded(context, request, ns, change);
      const route = routeFor(context, request, collection, change);
      return route.kind === "plain"
        ? answerByOneShard(context, request, collection, route.target)
        : undefined;
    });
    if (shared) return shared;
    return withCollectionAlone(context, ns, (collection) =>
      collection
        ? runCarefully(context, request, collection, change)
        : runUnsharded(context, request, ns, change),
    );
  },
};

/** A remove, or an update. */
type Change = { readonly value: RawValue; readonly upsert: boolean } | undefined;

function readChange(request: Request): Change {
  const value = bodyField(request, "update");
  if (flag(request, "remove")) {
    const clash = value
      ? "an update"
      : flag(request, "upsert")
        ? "upsert=true"
        : flag(request, "new")
          ? "new=true"
          : undefined;
    if (clash === undefined) return undefined;
    throw new CommandError(ErrorCode.FailedToParse, `Cannot specify both ${clash} and remove=true`);
  }
  if (!value || (value.type !== BsonType.object && value.type !== BsonType.array)) {
    throw new CommandError(ErrorCode.FailedToParse, "Either an update or remove=true must be specified");
  }
  return { value, upsert: flag(request, "upsert") };
}

function routeFor(
  context: RouterContext,
  request: Request,
  collection: ShardedCollection,
  change: Change,
): WriteRoute {
  refuseCommandCollation(request);
  const options = expressionOptions(context, request);
  return routeFindAndModify(documentField(request, "query"), change, collection, context.rules, options);
}

async function runUnsharded(
  context: RouterContext,
  request: Request,
  ns: string,
  change: Change,
): Promise<Reply> {
  await checkConfigWrite(context, request);
  if (!change?.upsert) {
    return answerUnsharded(context, request, ns).then((reply) => afterConfigWrite(context, request, reply));
  }
  return withDatabase(context, request.db, async () =>
    afterConfigWrite(context, request, await answerUnsharded(context, request, ns)),
  );
}

async function runCarefully(
  context: RouterContext,
  request: Request,
  collection: ShardedCollection,
  change: Change,
): Promise<Reply> {
  const { node, target } = routeFor(context, request, collection, change);
  const filter = documentField(request, "query");
  const search = {
    filter,
    node,
    target,
    sort: optionalDocument(request, "sort"),
    hint: bodyField(request, "hint"),
    variables: optionalDocument(request, "let"),
  };
  const record = traceTargeted("findAndModify", collection, target, context.environment.now());
  record.shards = target.shards.map((shard) => ({ shard }));
  context.trace.add(record);
  if (!change) {
    const found = await locateOne(context, collection, search);
    if (found) await deleteByIds(context, found.shard, collection, [getField(found.document, "_id")!]);
    return answer(context, request, new DocumentWriter().int32("n", found ? 1 : 0), found?.document);
  }
  const arrayFilters = readArrayFilters(bodyField(request, "arrayFilters"), "findAndModify.arrayFilters");
  const compiled = compileUpdate(change.value, updateOptions(arrayFilters, optionalDocument(request, "let")));
  const outcome = await updateOneAlone(context, collection, search, compiled, {
    upsert: change.upsert,
    retryable: bodyField(request, "txnNumber") !== undefined,
  });
  const wantsNew = flag(request, "new");
  const last = new DocumentWriter()
    .int32("n", outcome.kind === "notFound" ? 0 : 1)
    .bool("updatedExisting", outcome.kind === "updated");
  switch (outcome.kind) {
    case "notFound":
      return answer(context, request, last, undefined);
    case "updated":
      return answer(context, request, last, wantsNew ? outcome.after : outcome.before);
    case "upserted":
      return answer(
        context,
        request,
        last.field("upserted", outcome.id),
        wantsNew ? outcome.after : undefined,
      );
  }
}

function answer(
  context: RouterContext,
  request: Request,
  lastErrorObject: DocumentWriter,
  value: Uint8Array | undefined,
): Reply {
  const projection = optionalDocument(request, "fields");
  const writer = new DocumentWriter().document("lastErrorObject", lastErrorObject.finish());
  if (value && projection) {
    const options = expressionOptions(context, request);
    const { node } = compileFilter(documentField(request, "query"), options);
    writer.document("value", compileProjection(projection, options, node)(value));
  } else if (value) writer.document("value", value);
  else writer.null("value");
  return okReply(writer.finish());
}
