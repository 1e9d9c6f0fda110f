/**
 * find, count and distinct on a view: the aggregation that each stands for is
 * run, and its rows are made the reply (query/viewReads.ts).
 */
import { asDocument, asNumber, BsonType, DocumentWriter, elements, getField } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import { collectionNamespace, isOk, okReply, READ_FIELDS, readCursorReply } from "../../protocol/index.js";
import { countAsAggregate, distinctAsAggregate, findAsAggregate } from "../../query/index.js";
import { aggregate } from "../commands/aggregate.js";
import type { RouterContext } from "../context.js";
import { checkFields, homeOf } from "../context.js";
import { withCollections } from "../support/collections.js";
import { answerUnsharded } from "../support/reading.js";
import { isAllOn } from "./reach.js";
import { behindView, resolveView } from "./resolve.js";

/** What each reading command takes; no shard sees the command that would check. */
const FIELDS: Readonly<Record<string, readonly string[]>> = READ_FIELDS;

/**
 * The aggregate command that a find, count or distinct on a view stands for; explain explains it.
 * @throws CommandError InvalidPipelineOperator (168) for an option that no pipeline expresses, 40415 for one that
 *   nobody knows
 */
export function asAggregate(request: Request): Request {
  checkFields(request, FIELDS[request.command] ?? []);
  const { body, command } = request;
  const translated =
    command === "count"
      ? countAsAggregate(body)
      : command === "distinct"
        ? distinctAsAggregate(body)
        : findAsAggregate(body);
  return { ...request, command: "aggregate", body: translated, sequences: new Map() };
}

/**
 * Answers a find, count or distinct if it is on a view: its shard does where that has all that is behind the view, else
 * the command becomes an aggregation.
 *
 * Call it while holding no lock: it takes those of all collections behind the view, in order.
 *
 * @param ofShard makes the answer from the shard's
 * @returns undefined for what is no view
 */
export async function readView(
  context: RouterContext,
  request: Request,
  ofShard: (reply: Reply) => Reply = (reply) => reply,
): Promise<Reply | undefined> {
  const ns = collectionNamespace(request);
  for (;;) {
    const behind = await behindView(context, ns);
    if (!behind) return undefined;
    if (await resolveView(context, ns)) return aggregateInstead(context, request);
    const { collections, views } = behind;
    const reply = await withCollections(context, [ns, ...collections, ...views], async () =>
      isAllOn(context, homeOf(context, request.db).shard, behind)
        ? answerUnsharded(context, request, ns, collections)
        : undefined,
    );
    if (reply) return ofShard(reply);
    // Something behind the view has moved before its name was held.
  }
}

/** The aggregation resolves the view again, under its locks. */
async function aggregateInstead(context: RouterContext, request: Request): Promise<Reply> {
  const reply = await aggregate.run(context, asAggregate(request));
  if (request.command === "find" || !isOk(reply)) return reply;
  const [row] = readCursorReply(reply).batch;
  if (request.command === "count") {
    const n = row && getField(row, "count");
    return okReply(new DocumentWriter().int32("n", n ? asNumber(n) : 0).finish());
  }
  const values = row && getField(row, "distinct");
  const list = values?.type === BsonType.array ? elements(asDocument(values)) : [];
  return okReply(new DocumentWriter().values("values", list).finish());
}
