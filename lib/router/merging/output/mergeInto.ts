/**
 * `$merge` through the router: each document is put to its counterpart in the
 * target, or becomes a new document of it.
 *
 *     documents ──► by shard key to their shards (unsharded: to the home)
 *     each shard    1. find the counterparts by the fields `on`
 *                   2. decide, document by document: replace, merge, keep, insert, fail
 *                   3. insert and update, in the order of the documents
 *
 * The fields `on` contain the shard key, so a document and its counterpart are on
 * one shard, and shards work side by side. A real cluster sends upserts and lets
 * each shard find and write in one step; here the target's name is held alone
 * from finding to writing, which comes to the same. What was written before a
 * failure stays written, as there.
 *
 * A second document with the same key must find what the first one left: a
 * round ends in front of it.
 */
import type { FieldPath as Path, RawValue } from "../../../bson/index.js";
import {
  bool,
  compareValues,
  describeDocument,
  DocumentWriter,
  FieldPath,
  getField,
  NULL,
  prependField,
  sortableValue,
} from "../../../bson/index.js";
import type { Request } from "../../../protocol/index.js";
import {
  bodyField,
  CommandError,
  ErrorCode,
  failureOf,
  isOk,
  readCursorReply,
  request as makeRequest,
} from "../../../protocol/index.js";
import type { ExpressionOptions, Filter, MergeModes } from "../../../query/index.js";
import { compileFilter, mergedFields, mergeKeyValue } from "../../../query/index.js";
import type { RouterContext } from "../../context.js";
import { withCollectionAlone } from "../../support/collections.js";
import { withDatabase } from "../../support/databases.js";
import type { TraceRecord } from "../../trace.js";
import { traceUnsharded } from "../../trace.js";
import type { PendingWrite } from "../routerHost.js";
import { ShardCursor } from "../shardCursor.js";
import { firstWriteError, hasEmptyTimestamp } from "./shardWrites.js";
import type { OutputTarget } from "./target.js";
import { checkMerge, mergeFields, outputTarget } from "./target.js";

/** Documents of one round at most. */
const ROUND = 500;
/** Bytes of one round at most: what is written must fit into a message. */
const ROUND_BYTES = 12 * 1024 * 1024;

/** A document on its way, with what identifies it. */
interface Incoming {
  readonly doc: Uint8Array;
  /** Values of the fields `on`; undefined for an `_id` that is still to be made: it has no counterpart. */
  readonly values: readonly (RawValue | undefined)[];
  /** The values as one text; undefined as above. */
  readonly key: string | undefined;
  readonly shard: string;
}

/** One write of a shard. */
type Write = { readonly insert: Uint8Array } | { readonly update: Uint8Array };

/**
 * Carries out a `$merge`.
 * @param request the aggregate command
 * @param collationSpec the aggregation's collation as the shards get it
 * @throws CommandError as checkMerge; MergeStageNoMatchingDocument (13113), DuplicateKey (11000) by the modes;
 *   ImmutableField (66) where `_id` or a shard key value would change; what shards refuse of a document
 */
export async function mergeInto(
  context: RouterContext,
  request: Request,
  { target, documents, modes }: PendingWrite & { readonly modes: MergeModes },
  options: ExpressionOptions,
  collationSpec: Uint8Array | undefined,
): Promise<void> {
  // Nothing is made, not even a database, until there is something to put into it.
  if (documents.length === 0) return;
  const ns = `${target.db}.${target.collection}`;
  await withCollectionAlone(context, ns, () =>
    withDatabase(context, target.db, async ({ primary }) => {
      const known = await outputTarget(context, target);
      const index = checkMerge(known, modes, options.collation);
      const on = mergeFields(known, modes).map((path) => new FieldPath(path));
      const shard = context.catalog.tracked(ns)?.shard ?? primary;
      const merger = new Merger(context, request, known, modes, options, collationSpec, on, shard);
      let round: Incoming[] = [];
      let keys = new Set<string>();
      let bytes = 0;
      const flush = async (): Promise<void> => {
        if (round.length > 0) await merger.run(round);
        round = [];
        keys = new Set();
        bytes = 0;
      };
      for (const doc of documents) {
        let incoming: Incoming;
        try {
          incoming = merger.incoming(doc, index?.sparse ?? false);
        } catch (error) {
          await flush();
          throw error;
        }
        const repeated = incoming.key !== undefined && keys.has(incoming.key);
        if (repeated || round.length >= ROUND || bytes + doc.length > ROUND_BYTES) await flush();
        if (incoming.key !== undefined) keys.add(incoming.key);
        round.push(incoming);
        bytes += doc.length;
      }
      await flush();
      context.trace.add(merger.record);
    }),
  );
}

class Merger {
  readonly record: TraceRecord;
  readonly #perChunk = new Map<number, number>();

  constructor(
    readonly context: RouterContext,
    readonly request: Request,
    readonly target: OutputTarget,
    readonly modes: MergeModes,
    readonly options: ExpressionOptions,
    readonly collationSpec: Uint8Array | undefined,
    readonly on: readonly Path[],
    readonly home: string,
  ) {
    const at = context.environment.now();
    const { sharded } = target;
    this.record = sharded
      ? {
          at,
          op: "$merge",
          ns: target.ns,
          targeting: "shardKey",
          key: sharded.key,
          chunks: sharded.chunks,
          documents: this.#perChunk,
          shards: [],
          merge: { kind: "none" },
        }
      : { ...traceUnsharded("$merge", target.ns, home, at), shards: [] };
  }

  /** @throws CommandError 51185 and 51132 for values that no index identifies a document by */
  incoming(original: Uint8Array, sparse: boolean): Incoming {
    const { sharded } = this.target;
    const needsId = sharded?.key.includesId === true && getField(original, "_id") === undefined;
    const doc = needsId ? prependField(original, "_id", this.context.ids.objectId()) : original;
    const values = this.on.map((path) => mergeKeyValue(doc, path, sparse));
    const key = values.includes(undefined) ? undefined : this.#keyOf(values as RawValue[]);
    if (!sharded) return { doc, values, key, shard: this.home };
    const chunk = sharded.key.chunkOf(doc, sharded.chunks);
    this.#perChunk.set(chunk, (this.#perChunk.get(chunk) ?? 0) + 1);
    return { doc, values, key, shard: sharded.chunks.ownerOf(chunk) };
  }

  #keyOf(values: readonly RawValue[]): string {
    return values.map((value) => sortableValue(value, this.options.collation)).join("\u0100");
  }

  /** Merges documents of which no two have the same key. */
  async run(round: readonly Incoming[]): Promise<void> {
    const byShard = new Map<string, Incoming[]>();
    for (const incoming of round) {
      const list = byShard.get(incoming.shard);
      if (list) list.push(incoming);
      else byShard.set(incoming.shard, [incoming]);
    }
    const settled = await Promise.allSettled([...byShard].map(([shard, list]) => this.#mergeOn(shard, list)));
    const failed = settled.find((result) => result.status === "rejected");
    if (failed) throw failed.reason;
  }

  async #mergeOn(shard: string, list: readonly Incoming[]): Promise<void> {
    const counterparts = await this.#counterparts(shard, list);
    const writes: Write[] = [];
    let failure: unknown;
    for (const incoming of list) {
      try {
        const write = this.#decide(incoming, counterparts.get(incoming));
        if (write) writes.push(write);
      } catch (error) {
        failure = error;
        break;
      }
    }
    const work = this.record.shards.find((each) => each.shard === shard);
    if (work) work.sent = (work.sent ?? 0) + list.length;
    else this.record.shards.push({ shard, sent: list.length });
    for (const run of runsOf(writes)) await this.#send(shard, run);
    if (failure !== undefined) throw failure;
  }

  /** The documents of the target that the incoming ones meet. */
  async #counterparts(shard: string, list: readonly Incoming[]): Promise<Map<Incoming, Uint8Array>> {
    const found = new Map<Incoming, Uint8Array>();
    const wanted = list.filter(({ key }) => key !== undefined);
    if (wanted.length === 0 || !this.target.options) return found;
    const byKey = new Map(wanted.map((incoming) => [incoming.key!, incoming]));
    const filters = wanted.map((incoming) => this.#filterOf(incoming));
    const command = new DocumentWriter()
      .string("find", this.target.name)
      .document("filter", new DocumentWriter().arrayOf("$or", filters).finish());
    if (this.collationSpec) command.document("collation", this.collationSpec);
    const reply = await this.context.shards.run(shard, makeRequest(this.target.db, command.finish()));
    const cursor = new ShardCursor(this.context.shards, shard, readCursorReply(reply));
    await cursor.drain();
    let compiled: Filter[] | undefined;
    for (let doc = cursor.take(); doc; doc = cursor.take()) {
      const existing = doc;
      if (!this.on.some((path) => path.meetsArray(existing))) {
        const incoming = byKey.get(this.#keyOf(this.on.map((path) => path.get(existing) ?? NULL)));
        if (incoming) found.set(incoming, existing);
        continue;
      }
      // A multikey index has every element as a key: which one was met the filters must tell.
      compiled ??= filters.map((filter) => compileFilter(filter, this.options));
      const place = compiled.findIndex((filter) => filter.matches(existing));
      if (place >= 0) found.set(wanted[place]!, existing);
    }
    return found;
  }

  #filterOf({ values }: Incoming): Uint8Array {
    const filter = new DocumentWriter();
    this.on.forEach(({ path }, i) =>
      filter.document(path, new DocumentWriter().field("$eq", values[i]!).finish()),
    );
    return filter.finish();
  }

  /** What becomes of a document; undefined where nothing has to be written. */
  #decide({ doc }: Incoming, existing: Uint8Array | undefined): Write | undefined {
    const { modes } = this;
    if (existing) {
      switch (modes.whenMatched) {
        case "keepExisting":
          return undefined;
        case "fail":
          throw this.#duplicate(existing);
        case "replace":
          return this.#change(existing, doc);
        case "merge":
          return this.#change(existing, mergedFields(existing, doc));
        case "pipeline":
          return this.#change(existing, modes.change!(existing, doc));
      }
    }
    switch (modes.whenNotMatched) {
      case "discard":
        return undefined;
      case "fail":
        throw new CommandError(
          ErrorCode.MergeStageNoMatchingDocument,
          "$merge could not find a matching document in the target collection for at least one document in the source collection",
        );
      case "insert":
        return { insert: doc };
    }
  }

  #change(existing: Uint8Array, changed: Uint8Array): Write | undefined {
    const id = getField(existing, "_id") ?? NULL;
    const after = getField(changed, "_id");
    if (after !== undefined && compareValues(after, id) !== 0) throw immutable("_id");
    const complete = after === undefined ? prependField(changed, "_id", id) : changed;
    this.#checkKey(existing, complete);
    if (existing.length === complete.length && existing.every((byte, i) => byte === complete[i])) {
      return undefined;
    }
    const q = new DocumentWriter().document("_id", new DocumentWriter().field("$eq", id).finish()).finish();
    return { update: new DocumentWriter().document("q", q).document("u", complete).finish() };
  }

  /** @throws CommandError ImmutableField (66) where the document would get another shard key value */
  #checkKey(existing: Uint8Array, changed: Uint8Array): void {
    const { sharded } = this.target;
    if (!sharded) return;
    const before = sharded.key.originalsOf(existing);
    sharded.key.originalsOf(changed).forEach((value, i) => {
      if (compareValues(value ?? NULL, before[i] ?? NULL) !== 0) throw immutable(sharded.key.paths[i]!);
    });
  }

  #duplicate(existing: Uint8Array): CommandError {
    const key = new DocumentWriter().field("_id", getField(existing, "_id") ?? NULL).finish();
    return new CommandError(
      ErrorCode.DuplicateKey,
      "$merge with whenMatched: fail found an existing document with the same values for the 'on' fields :: " +
        `caused by :: E11000 duplicate key error collection: ${this.target.ns} index: _id_ dup key: ${describeDocument(key)}`,
      { keyPattern: new DocumentWriter().int32("_id", 1).finish(), keyValue: key },
    );
  }

  async #send(shard: string, { kind, documents }: Run): Promise<void> {
    const body = new DocumentWriter().string(kind, this.target.name).field("ordered", bool(true));
    const bypass = bodyField(this.request, "bypassDocumentValidation");
    if (bypass) body.field("bypassDocumentValidation", bypass);
    if (kind === "insert" && hasEmptyTimestamp(documents)) body.field("bypassEmptyTsReplacement", bool(true));
    const sequence = kind === "insert" ? "documents" : "updates";
    const command = makeRequest(this.target.db, body.finish(), { [sequence]: documents });
    const reply = await this.context.shards.run(shard, command);
    if (!isOk(reply)) throw failureOf(reply);
    const failed = firstWriteError(reply);
    if (failed) throw failed;
  }
}

/** Writes of one kind that follow each other. */
interface Run {
  readonly kind: "insert" | "update";
  readonly documents: Uint8Array[];
}

function runsOf(writes: readonly Write[]): Run[] {
  const runs: Run[] = [];
  for (const write of writes) {
    const kind = "insert" in write ? "insert" : "update";
    const doc = "insert" in write ? write.insert : write.update;
    const last = runs.at(-1);
    if (last?.kind === kind) last.documents.push(doc);
    else runs.push({ kind, documents: [doc] });
  }
  return runs;
}

function immutable(path: string): CommandError {
  return new CommandError(
    ErrorCode.ImmutableField,
    "$merge failed to update the matching document, did you attempt to modify the _id or the shard key? " +
      `:: caused by :: Performing an update on the path '${path}' would modify the immutable field '${path}'`,
  );
}
