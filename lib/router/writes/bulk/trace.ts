/**
 * What a bulkWrite leaves in the routing trace: one entry for all inserts into a
 * collection, one for all operations on an unsharded collection, and one for
 * each update and delete, which has a filter of its own.
 */
import type { BulkOperation } from "../../../protocol/index.js";
import type { RouterContext } from "../../context.js";
import type { ShardWork, TraceRecord } from "../../trace.js";
import { traceTargeted, traceUnsharded } from "../../trace.js";
import type { Places } from "./places.js";
import type { BulkRoute } from "./routes.js";

const OP = "bulkWrite";

/** Collects entries. */
export class BulkTrace {
  readonly #context: RouterContext;
  readonly #places: Places;
  readonly #byNamespace = new Map<string, { record: TraceRecord; perChunk: Map<number, number> }>();

  constructor(context: RouterContext, places: Places) {
    this.#context = context;
    this.#places = places;
  }

  /**
   * An operation begins.
   * @returns the entry's shards; a careful write adds its steps to them
   */
  add({ target: { namespace } }: BulkOperation, { kind, target, write, chunk }: BulkRoute): ShardWork[] {
    const { trace, environment } = this.#context;
    const { collection, shard } = this.#places.get(namespace)!;
    if (collection && write) {
      const record = traceTargeted(OP, collection, write.target, environment.now());
      if (kind === "plain") record.shards = target.shards.map((id) => ({ shard: id, sent: 1 }));
      trace.add(record);
      return record.shards;
    }
    let entry = this.#byNamespace.get(namespace);
    if (!entry) {
      const perChunk = new Map<number, number>();
      const at = environment.now();
      const record: TraceRecord = collection
        ? {
            at,
            op: OP,
            ns: namespace,
            targeting: "shardKey",
            key: collection.key,
            chunks: collection.chunks,
            documents: perChunk,
            shards: [],
            merge: { kind: "none" },
          }
        : { ...traceUnsharded(OP, namespace, shard, at), shards: [] };
      this.#byNamespace.set(namespace, (entry = { record, perChunk }));
    }
    if (chunk !== undefined) entry.perChunk.set(chunk, (entry.perChunk.get(chunk) ?? 0) + 1);
    for (const id of target.shards) workOf(entry.record.shards, id).sent! += 1;
    return entry.record.shards;
  }

  /** The bulk is over. */
  finish(): void {
    for (const { record } of this.#byNamespace.values()) this.#context.trace.add(record);
  }
}

function workOf(work: ShardWork[], shard: string): ShardWork {
  let known = work.find((each) => each.shard === shard);
  if (!known) work.push((known = { shard, sent: 0 }));
  return known;
}
