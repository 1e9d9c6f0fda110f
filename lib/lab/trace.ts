/** Reading the router's trace, however long it is. */
import type { MongoClient } from "mongodb";
import type { RoutingTraceEntry } from "../router/index.js";

/** What {@link readTrace} found. */
export interface RoutingTrace {
  /** Oldest first. */
  entries: RoutingTraceEntry[];
  /** The number that the next operation will get. */
  next: number;
  /** How many of the wanted entries the router had already forgotten. */
  dropped: number;
}

/**
 * Reads the trace in as many replies as it takes.
 * @param client connected to the router
 * @param since number of the first entry wanted
 * @throws MongoServerError when the router keeps no trace
 */
export async function readTrace(client: MongoClient, since = 1): Promise<RoutingTrace> {
  const trace: RoutingTrace = { entries: [], next: since, dropped: 0 };
  for (;;) {
    const reply = await client.db("admin").command({ routingTrace: 1, since: trace.next });
    const { entries, next, dropped } = reply as unknown as RoutingTrace;
    if (trace.entries.length === 0) trace.dropped = dropped;
    trace.next = next;
    if (entries.length === 0) return trace;
    for (const entry of entries) trace.entries.push(entry);
  }
}
