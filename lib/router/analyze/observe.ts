/**
 * Sampling a command while it runs: what is kept goes to `config.sampledQueries`, and how a sampled update changed its
 * document to `config.sampledQueriesDiff` (facts-mongos.md §9.6).
 *
 *     before    take a token for each query; look at the document that an update is going to change
 *     the command
 *     after     write the samples; look at the document again
 *
 * Nothing of this may change the command's outcome: what fails is logged. A real mongos writes its samples every 90
 * seconds; here they are there when the command is answered.
 */
import type { RawValue } from "../../bson/index.js";
import { DocumentWriter, EMPTY_DOCUMENT, getField } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import { CommandError, isOk, readCursorReply, request as makeRequest } from "../../protocol/index.js";
import type { RouterContext } from "../context.js";
import { detached } from "../support/values.js";
import { diffOf } from "./diff.js";
import type { Query } from "./samples.js";
import { queriesOf } from "./samples.js";

/** How long a sample is kept, milliseconds: `queryAnalysisSampleExpirationSecs`, seven days. */
const KEPT_MS = 7 * 24 * 3600 * 1000;

export const SAMPLED = "sampledQueries";
export const DIFFS = "sampledQueriesDiff";

/** A query that was chosen. */
interface Sample {
  readonly query: Query;
  readonly id: RawValue;
  /** The document that it is going to change. */
  before: Uint8Array | undefined;
}

/** Runs a command of the router; {@link find} runs others for what has to be looked at. */
export async function observe(
  context: RouterContext,
  request: Request,
  run: () => Promise<Reply> | Reply,
  find: (request: Request) => Promise<Reply> | Reply,
): Promise<Reply> {
  const samples: Sample[] = [];
  await quietly(context, async () => {
    for (const query of queriesOf(request)) {
      if (context.sampler.take(query.ns)) samples.push({ query, id: context.ids.uuid(), before: undefined });
    }
    for (const sample of samples) sample.before = await imageBefore(sample.query, find);
  });
  const reply = await run();
  if (samples.length > 0) await quietly(context, () => write(context, samples, find));
  return reply;
}

async function quietly({ environment }: RouterContext, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    environment.log?.("warn", "a query could not be sampled", { message: error.message });
  }
}

type Find = (request: Request) => Promise<Reply> | Reply;

/** The document that an update of one document will change, as far as that can be known before. */
async function imageBefore({ ns, changes }: Query, find: Find): Promise<Uint8Array | undefined> {
  return changes && firstOf(ns, changes.filter, changes.collation, find);
}

async function firstOf(
  ns: string,
  filter: Uint8Array,
  collation: Uint8Array | undefined,
  find: Find,
): Promise<Uint8Array | undefined> {
  const dot = ns.indexOf(".");
  const command = new DocumentWriter().string("find", ns.slice(dot + 1)).document("filter", filter);
  if (collation) command.document("collation", collation);
  command.int32("limit", 1).bool("singleBatch", true);
  const reply = await find(makeRequest(ns.slice(0, dot), command.finish()));
  return isOk(reply) ? readCursorReply(reply).batch[0]?.slice() : undefined;
}

async function write(context: RouterContext, samples: readonly Sample[], find: Find): Promise<void> {
  const { catalog, sampler, waiting } = context;
  const expireAt = waiting.now() + KEPT_MS;
  const head = (id: RawValue, ns: string): DocumentWriter => {
    const writer = new DocumentWriter().field("_id", id).string("ns", ns);
    const uuid = catalog.collection(ns)?.uuid ?? sampler.uuidOf(ns);
    return uuid ? writer.field("collectionUuid", uuid) : writer;
  };
  await catalog.config.insert(
    SAMPLED,
    samples.map(({ id, query: { ns, cmdName, cmd } }) =>
      head(id, ns).string("cmdName", cmdName).document("cmd", cmd).date("expireAt", expireAt).finish(),
    ),
  );
  const diffs: Uint8Array[] = [];
  for (const { id, query, before } of samples) {
    const diff = before && (await diffSince(query, before, find));
    if (diff) diffs.push(head(id, query.ns).document("diff", diff).date("expireAt", expireAt).finish());
  }
  if (diffs.length > 0) await catalog.config.insert(DIFFS, diffs);
}

async function diffSince({ ns }: Query, before: Uint8Array, find: Find): Promise<Uint8Array | undefined> {
  const id = getField(before, "_id");
  if (!id) return undefined;
  const equal = new DocumentWriter().field("$eq", detached(id)).finish();
  const after = await firstOf(ns, new DocumentWriter().document("_id", equal).finish(), undefined, find);
  const diff = after && diffOf(before, after);
  return diff && diff.length > EMPTY_DOCUMENT.length ? diff : undefined;
}
