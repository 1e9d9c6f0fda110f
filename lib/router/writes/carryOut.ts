/**
 * The order in which routed writes happen: pure sequence, whatever they are.
 *
 * Plain writes for one shard are collected (batches.ts). In an ordered batch
 * three kinds of writes stand alone, with everything before them sent first and
 * nothing after them sent early:
 *
 *     a write that is refused          ends the batch
 *     a write for several shards       goes to all of them at once
 *     a careful write                  finds its document, and then writes it
 *
 * In an unordered batch careful writes come last. A careful update that would
 * move its document to another shard is refused unless the client sent it alone
 * (§4.5, singleDocument.ts).
 */
import { CommandError } from "../../protocol/index.js";
import type { ShardBatch } from "./batches.js";
import { BatchBuilder } from "./batches.js";

/** What is to be known of a route here. */
interface Route {
  readonly kind: "plain" | "careful";
  readonly target: { readonly shards: readonly string[] };
}

/** A write's route, or why it has none; undefined for one that is not to be carried out. */
export type Routed<R extends Route> = R | CommandError | undefined;

/** What is done with the writes. */
export interface WriteSink<R extends Route> {
  /** Whether any write has failed. */
  readonly failed: boolean;
  /** The write as the shards get it. */
  raw(index: number, route: R): Uint8Array;
  /** A write is about to happen. */
  begin(index: number, route: R): void;
  /** Sends batches, one after the other or all at once. Failures are noted, not thrown. */
  send(batches: readonly ShardBatch[], ordered: boolean): Promise<void>;
  /** Carries out a careful write. @throws CommandError when it fails */
  careful(index: number, route: R): Promise<void>;
  /** Notes the failure of a write. */
  refuse(index: number, error: CommandError): void;
}

/**
 * Carries out routed writes.
 * @param ordered stop at the first failure
 */
export async function carryOut<R extends Route>(
  routes: readonly Routed<R>[],
  ordered: boolean,
  sink: WriteSink<R>,
): Promise<void> {
  let builder = new BatchBuilder(ordered);
  const flush = async (): Promise<void> => {
    const { batches } = builder;
    builder = new BatchBuilder(ordered);
    if (batches.length > 0) await sink.send(batches, ordered);
  };
  const later: { index: number; route: R }[] = [];
  for (const [index, route] of routes.entries()) {
    if (route === undefined) continue;
    if (ordered && standsAlone(route)) {
      await flush();
      if (sink.failed) return;
    }
    if (route instanceof CommandError) {
      sink.refuse(index, route);
      if (ordered) return;
      continue;
    }
    sink.begin(index, route);
    const { shards } = route.target;
    if (route.kind === "careful") {
      if (ordered) await carefully(sink, index, route);
      else later.push({ index, route });
    } else if (ordered && shards.length > 1) {
      await sink.send(
        shards.map((shard) => ({ shard, documents: [sink.raw(index, route)], indexes: [index] })),
        false,
      );
    } else {
      for (const shard of shards) builder.add(index, sink.raw(index, route), shard);
    }
    if (ordered && sink.failed) return;
  }
  await flush();
  for (const { index, route } of later) await carefully(sink, index, route);
}

function standsAlone(route: Route | CommandError): boolean {
  return route instanceof CommandError || route.kind === "careful" || route.target.shards.length > 1;
}

async function carefully<R extends Route>(sink: WriteSink<R>, index: number, route: R): Promise<void> {
  try {
    await sink.careful(index, route);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    sink.refuse(index, error);
  }
}
