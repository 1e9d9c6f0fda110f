/**
 * Carrying out a batch of updates or deletes on a sharded collection.
 *
 * First everything is routed. If no write is careful, the collection stays
 * shared and the batch goes out in as few commands as its order allows. If one
 * is, the whole batch runs with the collection to itself and is routed anew,
 * because the map may have changed while waiting.
 */
import type { Reply, Request } from "../../protocol/index.js";
import { CommandError } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { flag } from "../context.js";
import { checkCollectionUuid } from "../support/collectionUuid.js";
import { maxChunkSize } from "../ddl/chunkSize.js";
import { withCollection, withCollectionAlone } from "../support/collections.js";
import type { ShardWork } from "../trace.js";
import { traceTargeted } from "../trace.js";
import type { Routed } from "./carryOut.js";
import { carryOut } from "./carryOut.js";
import type { WriteRoute } from "./policy.js";
import type { WriteReplies } from "./replies.js";
import { sendBatches } from "./send.js";
import { writeUnsharded } from "./unsharded.js";

/** What differs between updates and deletes. */
export interface WriteKind<S extends { readonly raw: Uint8Array }> {
  readonly op: "update" | "delete";
  /** Name of the document sequence. */
  readonly sequence: "updates" | "deletes";
  /** Routes one statement; throws a CommandError where it is refused. */
  route(statement: S, collection: ShardedCollection): WriteRoute;
  /** Carries out a careful statement, adds its outcome, and to `work` what was asked of which shard. */
  careful(
    statement: S,
    index: number,
    route: WriteRoute,
    collection: ShardedCollection,
    work: ShardWork[],
  ): Promise<void>;
}

/**
 * Carries out an update or delete command: on a sharded collection statement by statement, on any other whole.
 * @param replies gets the outcomes on a sharded collection
 */
export async function runWrites<S extends { readonly raw: Uint8Array }>(
  context: RouterContext,
  request: Request,
  ns: string,
  kind: WriteKind<S>,
  statements: readonly S[],
  replies: WriteReplies,
): Promise<Reply> {
  const ordered = flag(request, "ordered", true);
  for (;;) {
    if (await executeWrites(context, request, ns, kind, statements, ordered, replies))
      return replies.finish();
    const reply = await withCollection(context, ns, async (collection) =>
      // Sharded in the meantime: route it after all.
      collection ? undefined : writeUnsharded(context, request, ns, statements.length),
    );
    if (reply) return reply;
  }
}

/**
 * Carries out a batch.
 * @returns false when the collection is not sharded; nothing has happened then
 */
async function executeWrites<S extends { readonly raw: Uint8Array }>(
  context: RouterContext,
  request: Request,
  ns: string,
  kind: WriteKind<S>,
  statements: readonly S[],
  ordered: boolean,
  replies: WriteReplies,
): Promise<boolean> {
  const shared = await withCollection(context, ns, async (collection) => {
    if (!collection) return "unsharded";
    const routes = routeAll(context, request, statements, collection, kind);
    if (routes.some((route) => route && !(route instanceof CommandError) && route.kind === "careful"))
      return "careful";
    await run(context, request, collection, kind, statements, routes, ordered, replies);
    return "done";
  });
  if (shared !== "careful") return shared === "done";
  return withCollectionAlone(context, ns, async (collection) => {
    if (!collection) return false;
    const routes = routeAll(context, request, statements, collection, kind);
    await run(context, request, collection, kind, statements, routes, ordered, replies);
    return true;
  });
}

function routeAll<S extends { readonly raw: Uint8Array }>(
  context: RouterContext,
  request: Request,
  statements: readonly S[],
  collection: ShardedCollection,
  kind: WriteKind<S>,
): Routed<WriteRoute>[] {
  return statements.map((statement) => {
    try {
      checkCollectionUuid(context, request, collection);
      return kind.route(statement, collection);
    } catch (error) {
      if (error instanceof CommandError) return error;
      throw error;
    }
  });
}

async function run<S extends { readonly raw: Uint8Array }>(
  context: RouterContext,
  request: Request,
  collection: ShardedCollection,
  kind: WriteKind<S>,
  statements: readonly S[],
  routes: readonly Routed<WriteRoute>[],
  ordered: boolean,
  replies: WriteReplies,
): Promise<void> {
  const work: ShardWork[] = [];
  const steps = new Map<number, ShardWork[]>();
  await carryOut(routes, ordered, {
    get failed() {
      return replies.failed;
    },
    raw: (index) => statements[index]!.raw,
    begin: (index, route) => {
      const own = record(context, kind.op, collection, route);
      if (context.rules.autoSplit) noteGrowth(context, collection, route, statements[index]!.raw);
      if (route.kind === "careful") steps.set(index, own);
    },
    send: (batches, inOrder) => sendBatches(context, request, kind.sequence, batches, inOrder, replies, work),
    careful: (index, route) =>
      kind.careful(statements[index]!, index, route, collection, steps.get(index) ?? []),
    refuse: (index, error) => replies.addError(index, error),
  });
}

/** A statement for one chunk counts with its own size: what it adds is not known. */
function noteGrowth(
  context: RouterContext,
  collection: ShardedCollection,
  { target }: WriteRoute,
  raw: Uint8Array,
): void {
  const [run] = target.chunks;
  if (target.chunks.length !== 1 || run![0] !== run![1]) return;
  context.growth.wrote(collection, run![0], raw.length, maxChunkSize(context, collection));
}

/**
 * One trace entry per statement: each has a filter of its own.
 * @returns the entry's shards; a careful write adds its steps to them
 */
function record(
  context: RouterContext,
  op: string,
  collection: ShardedCollection,
  { kind, target }: WriteRoute,
): ShardWork[] {
  const entry = traceTargeted(op, collection, target, context.environment.now());
  if (kind === "plain") entry.shards = target.shards.map((shard) => ({ shard, sent: 1 }));
  context.trace.add(entry);
  return entry.shards;
}
