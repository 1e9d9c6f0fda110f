/**
 * find, count and distinct on a view: the aggregation that each stands for is
 * run, and its rows are made the reply (query/viewReads.ts).
 */
import { asDocument, asNumber, BsonType, DocumentWriter, elements, getField } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import { isOk, okReply, READ_FIELDS, readCursorReply } from "../../protocol/index.js";
import { countAsAggregate, distinctAsAggregate, findAsAggregate } from "../../query/index.js";
import { aggregate } from "../commands/aggregate.js";
import type { RouterContext } from "../context.js";
import { checkFields } from "../context.js";
import type { ResolvedView } from "./resolve.js";

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
 * Answers a find, count or distinct on a view as an aggregation.
 *
 * Call it while holding no lock: the aggregation takes those of all collections behind the view, in order.
 *
 * @param _view as `resolveView` gave it; the aggregation resolves it again under its locks
 */
export async function aggregateInstead(
  context: RouterContext,
  request: Request,
  _view: ResolvedView,
): Promise<Reply> {
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
