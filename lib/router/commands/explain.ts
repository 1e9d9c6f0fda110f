/**
 * `explain`: which shards a command would ask, and how each would answer.
 *
 * The inner command is targeted as if it ran. Every targeted shard explains its
 * part; explain/shapes.ts puts the answers together.
 */
import {
  array,
  asDocument,
  asString,
  BsonType,
  document,
  firstField,
  getField,
  isEmptyDocument,
  isNumeric,
} from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import {
  collectionNamespace,
  CommandError,
  documentsOf,
  ErrorCode,
  notSimulated,
  request as makeRequest,
} from "../../protocol/index.js";
import { compileFilter } from "../../query/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { Command, RouterContext } from "../context.js";
import {
  documentField,
  expressionOptions,
  homeOf,
  optionalCount,
  optionalDocument,
  requiredField,
  wrongType,
} from "../context.js";
import { countLimit } from "./count.js";
import { explainAggregate } from "../explain/aggregate.js";
import type { Verbosity } from "../explain/ask.js";
import { askExplain, filterAll, finish } from "../explain/ask.js";
import type { Tree } from "../explain/planTree.js";
import type { ExplainedCommand, ShardExplain } from "../explain/shapes.js";
import { executionStats, nonExistent, queryPlanner, WRITE } from "../explain/shapes.js";
import { explainTwoPhase } from "../explain/twoPhase.js";
import { limitOfShards, planFind } from "../merging/findPlan.js";
import { withCollection } from "../support/collections.js";
import type { Changes } from "../support/forward.js";
import { forwardedBody } from "../support/forward.js";
import { refuseCollation } from "../support/reading.js";
import type { Targeting } from "../targeting/target.js";
import { targetFilter } from "../targeting/target.js";
import type { WriteRoute } from "../writes/policy.js";
import { routeDelete, routeFindAndModify, routeUpdate } from "../writes/policy.js";
import { readDelete, readUpdate } from "../writes/statements.js";

/**
 * Makes the command; it needs to know the others.
 * @param isCommand whether a name is that of a command of MongoDB
 */
export function explainCommand(isCommand: (name: string) => boolean): Command {
  return {
    name: "explain",
    fields: ["verbosity"],
    run(context, request) {
      const wrapped = requiredField(request, "explain");
      if (wrapped.type !== BsonType.object) throw wrongType(request, "explain", "object");
      const inner: Request = {
        ...makeRequest(request.db, asDocument(wrapped)),
        sequences: request.sequences,
      };
      const verbosity = readVerbosity(request);
      checkExplainable(inner.command, isCommand);
      const first = firstField(inner.body)?.[1];
      if (inner.command === "aggregate" && first && isNumeric(first))
        throw notSimulated("explain of {aggregate: 1}");
      const ns = collectionNamespace(inner);
      return withCollection(context, ns, async (collection) => {
        if (inner.command === "aggregate") return explainAggregate(context, inner, ns, collection, verbosity);
        const plan = planOf(context, inner, collection);
        if (!collection) return explainUnsharded(context, inner, ns, plan.command, verbosity);
        if (plan.route?.kind === "careful" && plan.route.target.shards.length > 1) {
          return explainTwoPhase(context, inner, collection, plan.route, plan.shardBody, verbosity);
        }
        const started = context.environment.now();
        const answers = await askExplain(context, inner.db, plan.target!.shards, plan.shardBody, verbosity);
        const millis = context.environment.now() - started;
        return findShaped(
          context,
          inner,
          filterAll(answers, collection, plan.target!),
          plan.command,
          verbosity,
          millis,
        );
      });
    },
  };
}

/** The commands that can be explained. */
const EXPLAINED: ReadonlySet<string> = new Set([
  "aggregate",
  "count",
  "delete",
  "distinct",
  "find",
  "findAndModify",
  "findandmodify",
  "update",
]);

function checkExplainable(name: string, isCommand: (name: string) => boolean): void {
  if (EXPLAINED.has(name)) return;
  if (name === "mapReduce" || name === "bulkWrite") throw notSimulated(`explain of ${name}`);
  if (isCommand(name)) throw new CommandError(ErrorCode.IllegalOperation, `Cannot explain cmd: ${name}`);
  throw new CommandError(ErrorCode.CommandNotFound, `Explain failed due to unknown command: ${name}`);
}

function readVerbosity(request: Request): Verbosity {
  const value = getField(request.body, "verbosity");
  if (!value) return "allPlansExecution";
  const name = value.type === BsonType.string ? asString(value) : "";
  if (name === "queryPlanner" || name === "executionStats" || name === "allPlansExecution") return name;
  throw new CommandError(
    ErrorCode.BadValue,
    `Enumeration value '${name}' for field 'explain.verbosity' is not a valid value.`,
  );
}

/** How the explained command would be carried out. */
interface Plan {
  readonly command: ExplainedCommand;
  /** undefined for an unsharded collection */
  readonly target: Targeting | undefined;
  /** The command that each shard explains. */
  readonly shardBody: Uint8Array;
  /** Of a write. */
  readonly route?: WriteRoute;
}

function planOf(context: RouterContext, inner: Request, collection: ShardedCollection | undefined): Plan {
  switch (inner.command) {
    case "find":
      return planRead(context, inner, collection, "filter");
    case "count":
    case "distinct":
      return planRead(context, inner, collection, "query");
    case "update":
    case "delete":
    case "findAndModify":
    case "findandmodify":
      return planWrite(context, inner, collection);
    default:
      throw new CommandError(ErrorCode.IllegalOperation, `Cannot explain cmd: ${inner.command}`);
  }
}

function planRead(
  context: RouterContext,
  inner: Request,
  collection: ShardedCollection | undefined,
  filterName: string,
): Plan {
  const sort = inner.command === "find" ? optionalDocument(inner, "sort") : undefined;
  const skip = inner.command === "distinct" ? 0 : (optionalCount(inner, "skip") ?? 0);
  const limit = limitOf(inner);
  const sorts = sort !== undefined && !isEmptyDocument(sort) && !getField(sort, "$natural");
  const command: ExplainedCommand = { isWrite: false, sorts, skip, limit };
  if (!collection) return { command, target: undefined, shardBody: forwardedBody(inner.body) };
  refuseCollation(optionalDocument(inner, "collation"), inner.command);
  const filter = compileFilter(documentField(inner, filterName), expressionOptions(context, inner));
  const target = targetFilter(filter.node, collection);
  let changes: Changes = {};
  if (target.shards.length > 1 && inner.command === "find") {
    changes = planFind({
      sort: sorts ? sort : undefined,
      projection: optionalDocument(inner, "projection"),
      skip,
      limit,
    }).shardChanges;
  } else if (target.shards.length > 1) {
    changes = { skip: undefined, limit: limitOfShards(limit, skip) };
  }
  return { command, target, shardBody: forwardedBody(inner.body, changes) };
}

function limitOf(inner: Request): number | undefined {
  if (inner.command === "distinct") return undefined;
  return inner.command === "count" ? countLimit(inner) : optionalCount(inner, "limit") || undefined;
}

function planWrite(context: RouterContext, inner: Request, collection: ShardedCollection | undefined): Plan {
  const sequence =
    inner.command === "update" ? "updates" : inner.command === "delete" ? "deletes" : undefined;
  const statements = sequence === undefined ? [] : documentsOf(inner, sequence);
  if (sequence !== undefined && statements.length !== 1) {
    throw new CommandError(ErrorCode.InvalidLength, "explained write batches must be of size 1");
  }
  const shardBody = forwardedBody(
    inner.body,
    sequence === undefined ? {} : { [sequence]: array(statements.map(document)) },
  );
  if (!collection) return { command: WRITE, target: undefined, shardBody };
  const options = expressionOptions(context, inner);
  let route: WriteRoute;
  if (inner.command === "update") {
    route = routeUpdate(readUpdate(statements[0]!), collection, context.rules, options);
  } else if (inner.command === "delete") {
    route = routeDelete(readDelete(statements[0]!), collection, context.rules, options);
  } else {
    const value = getField(inner.body, "update");
    const change = value && { value, upsert: false };
    route = routeFindAndModify(documentField(inner, "query"), change, collection, context.rules, options);
  }
  return { command: WRITE, target: route.target, shardBody, route };
}

async function explainUnsharded(
  context: RouterContext,
  inner: Request,
  ns: string,
  command: ExplainedCommand,
  verbosity: Verbosity,
): Promise<Reply> {
  const { shard, exists } = homeOf(context, inner.db);
  if (!exists) return finish(context, inner, { queryPlanner: nonExistent(ns) });
  const started = context.environment.now();
  const answers = await askExplain(context, inner.db, [shard], forwardedBody(inner.body), verbosity);
  return findShaped(context, inner, answers, command, verbosity, context.environment.now() - started);
}

function findShaped(
  context: RouterContext,
  inner: Request,
  answers: readonly ShardExplain[],
  command: ExplainedCommand,
  verbosity: Verbosity,
  millis: number,
): Reply {
  const reply: Tree = { queryPlanner: queryPlanner(answers, command) };
  if (verbosity !== "queryPlanner") reply.executionStats = executionStats(answers, command, millis);
  return finish(context, inner, reply, answers[0]?.reply.serverParameters);
}
