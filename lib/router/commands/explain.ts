/**
 * `explain`: which shards a command would ask, and how each would answer.
 *
 *     {explain: {find: "loans", filter: {member: 7}}, verbosity: "executionStats"}
 *
 * The inner command is checked and targeted as if it ran (explain/commandPlan.ts). Every targeted shard explains
 * its part; explain/shapes.ts puts the answers together. A write that searches its document first shows both of
 * its phases (explain/twoPhase.ts). Nothing is written, and no database is made.
 */
import { asDocument, asString, BsonType, firstField, getField, isNumeric } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import {
  collectionNamespace,
  CommandError,
  ErrorCode,
  notSimulated,
  request as makeRequest,
} from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { Command, RouterContext } from "../context.js";
import { homeOf, requiredField, wrongType } from "../context.js";
import { explainAggregate } from "../explain/aggregate.js";
import type { Verbosity } from "../explain/ask.js";
import { askEachShard, explainNonExistent, filterAll, finish, innerBody } from "../explain/ask.js";
import { writeOfBulk } from "../explain/bulkWrite.js";
import { onlyStatement, planCommand, shapeOfCommand } from "../explain/commandPlan.js";
import type { Tree } from "../explain/planTree.js";
import type { ExplainedCommand, ShardExplain } from "../explain/shapes.js";
import { executionStats, queryPlanner, shardsOfAggregate } from "../explain/shapes.js";
import { explainTwoPhase } from "../explain/twoPhase.js";
import { withCollection } from "../support/collections.js";
import { forwardedBody } from "../support/forward.js";
import { asAggregate } from "../views/reading.js";
import { resolveView } from "../views/resolve.js";

/**
 * Makes the command; it needs to know the others.
 * @param isCommand whether a name is that of a command of MongoDB
 */
export function explainCommand(isCommand: (name: string) => boolean): Command {
  return {
    name: "explain",
    fields: ["verbosity"],
    async run(context, request) {
      const verbosity = readVerbosity(request);
      const inner = explainedRequest(
        request,
        (name) => isCommand(name) && !context.rules.absentCommands.has(name),
      );
      const ns = collectionNamespace(inner);
      if (inner.command === "aggregate") return explainAggregate(context, inner, ns, verbosity);
      if (READS.has(inner.command) && (await resolveView(context, ns))) {
        return explainAggregate(context, asAggregate(inner), ns, verbosity);
      }
      return withCollection(context, ns, (collection) =>
        collection
          ? explainSharded(context, inner, collection, verbosity)
          : explainUnsharded(context, inner, ns, verbosity),
      );
    },
  };
}

/** The reads that a view answers as an aggregation. */
const READS: ReadonlySet<string> = new Set(["count", "distinct", "find"]);

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

/**
 * The command inside, as if it had been sent.
 * @throws CommandError CommandNotFound (59), IllegalOperation (20) for what can't be explained
 */
function explainedRequest(request: Request, isCommand: (name: string) => boolean): Request {
  const wrapped = requiredField(request, "explain");
  if (wrapped.type !== BsonType.object) throw wrongType(request, "explain", "object");
  checkDatabase(request, asDocument(wrapped));
  const inner: Request = {
    ...makeRequest(request.db, innerBody(request, asDocument(wrapped))),
    sequences: request.sequences,
  };
  const name = inner.command;
  if (name === "bulkWrite" && isCommand(name)) return writeOfBulk(inner);
  if (name === "mapReduce" || name === "mapreduce") throw notSimulated(`explain of ${name}`);
  if (!EXPLAINED.has(name)) {
    throw isCommand(name)
      ? new CommandError(ErrorCode.IllegalOperation, `Cannot explain cmd: ${name}`)
      : new CommandError(ErrorCode.CommandNotFound, `Explain failed due to unknown command: ${name}`);
  }
  const first = firstField(inner.body)?.[1];
  if (name === "aggregate" && first && isNumeric(first)) throw notSimulated("explain of {aggregate: 1}");
  if (name === "update" || name === "delete") onlyStatement(inner, name === "update" ? "updates" : "deletes");
  return inner;
}

/** @throws CommandError InvalidNamespace (73) for a command that names another database than its explain */
function checkDatabase({ db }: Request, explained: Uint8Array): void {
  const named = getField(explained, "$db");
  if (named?.type !== BsonType.string || asString(named) === db) return;
  throw new CommandError(
    ErrorCode.InvalidNamespace,
    `Mismatched $db in explain command. Expected ${db} but got ${asString(named)}`,
  );
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

async function explainSharded(
  context: RouterContext,
  inner: Request,
  collection: ShardedCollection,
  verbosity: Verbosity,
): Promise<Reply> {
  const { command, target, shardBody, searchesFirst } = planCommand(context, inner, collection);
  if (searchesFirst) {
    return explainTwoPhase(context, inner, collection, searchesFirst, shardBody, verbosity);
  }
  const started = context.environment.now();
  const answers = await askEachShard(context, inner.db, target.shards, shardBody, verbosity);
  const millis = context.environment.now() - started;
  // A write looks at the owner of each document as it writes; only reads have a stage for it.
  const filters = !command.isWrite && !readsAvailable(inner);
  const shown = filters ? filterAll(answers, collection, target) : answers;
  return assemble(context, inner, shown, command, verbosity, millis);
}

/** Read concern `available` takes orphans into account rather than wait to know (§6). */
function readsAvailable({ body }: Request): boolean {
  const concern = getField(body, "readConcern");
  const level = concern?.type === BsonType.object ? getField(asDocument(concern), "level") : undefined;
  return level?.type === BsonType.string && asString(level) === "available";
}

/** An unsharded collection: the one shard that has it says it all. */
async function explainUnsharded(
  context: RouterContext,
  inner: Request,
  ns: string,
  verbosity: Verbosity,
): Promise<Reply> {
  const command = shapeOfCommand(inner);
  const { shard, exists } = homeOf(context, inner.db, ns);
  if (!exists) return explainNonExistent(context, inner, ns);
  const started = context.environment.now();
  const answers = await askEachShard(context, inner.db, [shard], forwardedBody(inner.body), verbosity);
  return assemble(context, inner, answers, command, verbosity, context.environment.now() - started);
}

function assemble(
  context: RouterContext,
  inner: Request,
  answers: readonly ShardExplain[],
  command: ExplainedCommand,
  verbosity: Verbosity,
  millis: number,
): Reply {
  const { serverParameters, stages } = answers[0]?.reply ?? {};
  // A view that its shard reads by itself is explained as the aggregation that it is.
  if (stages !== undefined) {
    return finish(context, inner, { shards: shardsOfAggregate(answers) }, serverParameters);
  }
  const reply: Tree = { queryPlanner: queryPlanner(answers, command) };
  if (verbosity !== "queryPlanner") reply.executionStats = executionStats(answers, command, millis);
  return finish(context, inner, reply, serverParameters);
}
