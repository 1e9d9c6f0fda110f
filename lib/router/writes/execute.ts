/**
 * Carrying out a batch of updates or deletes on a sharded collection.
 *
 * First everything is routed. If no write is careful, the collection stays
 * shared and the batch goes out in as few commands as its order allows. If one
 * is, the whole batch runs with the collection to itself and is routed anew,
 * because the map may have changed while waiting.
 */
import type { Request } from "../../protocol/index.js";
import { CommandError } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import type { RouterContext } from "../context.js";
import { withCollection, withCollectionAlone } from "../support/collections.js";
import type { ShardWork } from "../trace.js";
import { traceTargeted } from "../trace.js";
import { BatchBuilder } from "./batches.js";
import type { WriteRoute } from "./policy.js";
import type { WriteReplies } from "./replies.js";
import { sendBatches } from "./send.js";

/** What differs between updates and deletes. */
export interface WriteKind<S extends { readonly raw: Uint8Array }> {
  readonly op: "update" | "delete";
  /** Name of the document sequence. */
  readonly sequence: "updates" | "deletes";
  /** Routes one statement; throws a CommandError where it is refused. */
  route(statement: S, collection: ShardedCollection): WriteRoute;
  /** Carries out a careful statement and adds its outcome. */
  careful(
    statement: S,
    index: number,
    route: WriteRoute,
    collection: ShardedCollection,
    replies: WriteReplies,
  ): Promise<void>;
}

type Routed = WriteRoute | CommandError;

/**
 * Carries out a batch.
 * @returns false when the collection is not sharded; nothing has happened then
 */
export async function executeWrites<S extends { readonly raw: Uint8Array }>(
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
    const routes = routeAll(statements, collection, kind);
    if (routes.some((route) => !(route instanceof CommandError) && route.kind === "careful"))
      return "careful";
    await run(context, request, collection, kind, statements, routes, ordered, replies);
    return "done";
  });
  if (shared !== "careful") return shared === "done";
  return withCollectionAlone(context, ns, async (collection) => {
    if (!collection) return false;
    const routes = routeAll(statements, collection, kind);
    await run(context, request, collection, kind, statements, routes, ordered, replies);
    return true;
  });
}

function routeAll<S extends { readonly raw: Uint8Array }>(
  statements: readonly S[],
  collection: ShardedCollection,
  kind: WriteKind<S>,
): Routed[] {
  return statements.map((statement) => {
    try {
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
  routes: readonly Routed[],
  ordered: boolean,
  replies: WriteReplies,
): Promise<void> {
  const work: ShardWork[] = [];
  let builder = new BatchBuilder(ordered);
  const send = (batches: BatchBuilder["batches"], inOrder: boolean): Promise<void> =>
    sendBatches(context, request, kind.sequence, batches, inOrder, replies, work);
  const flush = async (): Promise<void> => {
    const { batches } = builder;
    builder = new BatchBuilder(ordered);
    if (batches.length > 0) await send(batches, ordered);
  };

  const later: { index: number; route: WriteRoute }[] = [];
  for (let index = 0; index < statements.length; index++) {
    const route = routes[index]!;
    const statement = statements[index]!;
    if (
      ordered &&
      (route instanceof CommandError || route.kind === "careful" || route.target.shards.length > 1)
    ) {
      await flush();
      if (replies.failed) return;
    }
    if (route instanceof CommandError) {
      replies.addError(index, route);
      if (ordered) return;
      continue;
    }
    record(context, kind.op, collection, route);
    if (route.kind === "careful") {
      if (ordered) await carefully(kind, statement, index, route, collection, replies);
      else later.push({ index, route });
    } else if (ordered && route.target.shards.length > 1) {
      const each = route.target.shards.map((shard) => ({
        shard,
        documents: [statement.raw],
        indexes: [index],
      }));
      await send(each, false);
    } else {
      for (const shard of route.target.shards) builder.add(index, statement.raw, shard);
    }
    if (ordered && replies.failed) return;
  }
  await flush();
  for (const { index, route } of later) {
    await carefully(kind, statements[index]!, index, route, collection, replies);
  }
}

async function carefully<S extends { readonly raw: Uint8Array }>(
  kind: WriteKind<S>,
  statement: S,
  index: number,
  route: WriteRoute,
  collection: ShardedCollection,
  replies: WriteReplies,
): Promise<void> {
  try {
    await kind.careful(statement, index, route, collection, replies);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    replies.addError(index, error);
  }
}

/** One trace entry per statement: each has a filter of its own. */
function record(
  context: RouterContext,
  op: string,
  collection: ShardedCollection,
  { kind, target }: WriteRoute,
): void {
  const entry = traceTargeted(op, collection, target, context.environment.now());
  // A careful write only searches on the targeted shards.
  entry.shards = target.shards.map((shard) => (kind === "plain" ? { shard, sent: 1 } : { shard }));
  context.trace.add(entry);
}
