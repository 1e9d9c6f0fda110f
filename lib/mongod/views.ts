/**
 * Reading views on the shard: the aggregations that find, count and distinct
 * stand for (query/viewReads.ts) are run, and their one row is made the reply.
 */
import { asNumber, firstField, getField } from "../bson/index.js";
import type { Reply } from "../protocol/index.js";
import { isOk, readCursorReply } from "../protocol/index.js";
import { countAsAggregate, distinctAsAggregate, findAsAggregate } from "../query/index.js";
import type { CommandContext } from "./command.js";
import { Arguments } from "./command.js";
import { aggregate } from "./commands/aggregate.js";
import type { Verbosity } from "./planner/explain.js";
import { treeReply } from "./tree.js";

export { checkViewCollation, resolveView, type ResolvedView } from "./viewResolution.js";

/**
 * Answers a find on a view.
 * @param context of the find; its first field names the view
 * @throws CommandError InvalidPipelineOperator (168) for an option that no pipeline expresses
 */
export function findOnView(context: CommandContext): Reply {
  return runAggregate(context, findAsAggregate(context.request.body));
}

/** Answers a count on a view: `{n}`. */
export function countOnView(context: CommandContext): Reply {
  const reply = runAggregate(context, countAsAggregate(context.request.body));
  if (!isOk(reply)) return reply;
  const [row] = readCursorReply(reply).batch;
  const n = row && getField(row, "count");
  return treeReply({ n: n ? asNumber(n) : 0 });
}

/** Answers a distinct on a view: `{values}`. */
export function distinctOnView(context: CommandContext): Reply {
  const reply = runAggregate(context, distinctAsAggregate(context.request.body));
  if (!isOk(reply)) return reply;
  const [row] = readCursorReply(reply).batch;
  const values = row && getField(row, "distinct");
  return treeReply({ values: values ?? [] });
}

/**
 * What explain says of a find, count or distinct on a view: the aggregation behind it.
 * @param context of the explained command
 */
export function explainOnView(context: CommandContext, verbosity: Verbosity): Record<string, unknown> {
  const { body } = context.request;
  const name = firstField(body)?.[0];
  const translate =
    name === "count" ? countAsAggregate : name === "distinct" ? distinctAsAggregate : findAsAggregate;
  return aggregate.explain!(aggregateContext(context, translate(body)), verbosity);
}

function runAggregate(context: CommandContext, body: Uint8Array): Reply {
  return aggregate.run(aggregateContext(context, body));
}

function aggregateContext(context: CommandContext, body: Uint8Array): CommandContext {
  return {
    ...context,
    request: { ...context.request, command: "aggregate", body },
    arguments: new Arguments("aggregate", body, aggregate),
  };
}
