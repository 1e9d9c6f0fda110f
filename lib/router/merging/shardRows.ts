/**
 * `$collStats` and `$indexStats`: one row per owning shard (and index), tagged
 * with the shard it came from (facts-mongos.md §6):
 *
 *     {ns: "library.loans", shard: "shardA", host: "127.0.0.1:27018", localTime: …, storageStats: {…}}
 *
 * A shard is an ordinary server and gives the row without `shard`.
 */
import { array, document, DocumentWriter, forEachField, getField } from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import type { RouterContext } from "../context.js";
import { forwardedRequest } from "../support/forward.js";
import type { TraceRecord } from "../trace.js";
import { openCursors } from "./scatter.js";

/**
 * The tagged rows of all given shards, in ascending order of shard ids.
 * @param source the first stage, e.g. `{$collStats: {storageStats: {}}}`
 */
export async function shardRows(
  context: RouterContext,
  request: Request,
  source: Uint8Array,
  shards: readonly string[],
  record?: TraceRecord,
): Promise<Uint8Array[]> {
  const command = forwardedRequest(request, {
    pipeline: array([document(source)]),
    cursor: document(new DocumentWriter().finish()),
  });
  const cursors = await openCursors(context, shards, () => command, record);
  const rows: Uint8Array[] = [];
  for (const cursor of cursors) {
    await cursor.drain();
    for (let row = cursor.take(); row; row = cursor.take()) rows.push(tagged(row, cursor.shard, context));
  }
  return rows;
}

/** The row with `shard` and `host` behind its first field. */
function tagged(row: Uint8Array, shard: string, context: RouterContext): Uint8Array {
  const { host } = context.shards.get(shard);
  const writer = new DocumentWriter();
  let first = true;
  forEachField(row, (name, value) => {
    if (name === "shard") return;
    writer.field(name, value);
    if (!first) return;
    first = false;
    writer.string("shard", shard);
    if (!getField(row, "host")) writer.string("host", host.slice(host.indexOf("/") + 1));
  });
  return writer.finish();
}
