/**
 * Resharding: a collection is copied to where another key puts its documents, and the copy takes its name
 * (facts-mongos.md §8.2).
 *
 *     initializing         the plan is written to config.reshardingOperations, the new chunks to config.chunks
 *     preparing-to-donate  recipients get an empty collection; donors remember from now on what is changed
 *     cloning              every document goes to its new shard; then the indexes are built
 *     applying             what has changed meanwhile is copied again, until at least five minutes have passed
 *     blocking-writes      the collection is held alone: the last changes, and both sides are counted
 *     committing           the decision is written; the copy takes the name on every shard and in the catalog
 *
 * Clients read and write the old collection up to `blocking-writes`, which takes as long as the last few changes do, and
 * the new one after `committing`. Whatever fails before the decision undoes the copy; after it everything goes forward,
 * even if another router has to do it (finish.ts).
 *
 * A real cluster has state machines for this on the config server and on every donor and recipient, which talk by
 * writing their states; donors are read at one cluster time, and changes come from their oplogs. With one router one
 * function can do what they do.
 */
import { asNumber, compareValues, DocumentWriter, getField } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { ShardedCollection } from "../catalog/entries.js";
import { writeNewChunks } from "../catalog/reshardWrites.js";
import type { RouterContext } from "../context.js";
import { homeOf } from "../context.js";
import type { IndexSpec } from "../ddl/indexRules.js";
import { quietly } from "../ddl/fanOut.js";
import { withCollectionAlone } from "../support/collections.js";
import { uuidText } from "../support/values.js";
import { Captures } from "./captures.js";
import { Copier } from "./copy.js";
import { finishResharding, finishReshardingSometime } from "./finish.js";
import { inProgress } from "./guard.js";
import type { ReshardingOperation } from "./operations.js";
import { decideOperation, noteOperation } from "./operations.js";
import type { ReshardingPlan } from "./plan.js";
import { buildIndexes, createTemporary, defaultCollationOf, readDefinition } from "./prepare.js";
import type { CoordinatorState } from "./running.js";
import { noProgress, RunningResharding } from "./running.js";
import { reshardingRecord } from "./record.js";

/** Writes are blocked for so long at most, milliseconds (reshardingCriticalSectionTimeoutMillis). */
const CRITICAL_SECTION_MS = 5000;
/** On a real clock, changes are caught up so often while the minimum duration passes. */
const APPLY_EVERY_MS = 1000;
/** Catching up is good enough when so few documents had changed meanwhile… */
const FEW_CHANGES = 100;
/** …or after so many times: writers may be as fast as the copy is. */
const MOST_ROUNDS = 20;
/** Both sides are counted so often, where documents expire between the last changes and that. */
const MOST_LOOKS = 4;

/**
 * Carries out a resharding. The caller must not hold the collection.
 * @throws CommandError ReshardCollectionInProgress (338) beside another one, ReshardCollectionAborted (341),
 * ReshardingCriticalSectionTimeout (342), DuplicateKey (11000); what a shard or the config server says. Nothing has
 * changed then, or what has is brought to its end before the collection is used again
 */
export async function reshard(context: RouterContext, plan: ReshardingPlan): Promise<void> {
  const [other] = context.resharding.all;
  if (other) throw inProgress(other.plan.ns);
  const running = new RunningResharding(plan, context.waiting.now());
  context.resharding.add(running);
  let outcome: { readonly error?: unknown } = {};
  try {
    await new Resharding(context, running).run();
  } catch (error) {
    outcome = { error };
    throw error;
  } finally {
    context.resharding.remove(running, outcome);
    context.trace.add(reshardingRecord(running, context.waiting.now(), outcome.error));
  }
}

class Resharding {
  readonly #plan: ReshardingPlan;
  #operation!: ReshardingOperation;
  #copier!: Copier;
  #captures!: Captures;
  /** False where a donor can't tell what was changed: writers have to wait. */
  #captured = true;
  #indexes: readonly IndexSpec[] = [];
  #isNoted = false;

  constructor(
    private readonly context: RouterContext,
    private readonly running: RunningResharding,
  ) {
    this.#plan = running.plan;
    this.#aim();
  }

  /** Finds out who gives and who gets: what moves before the collection is held alone may change that. */
  #aim(): void {
    const { context, running } = this;
    this.#operation = operationOf(context, running.plan);
    this.#copier = new Copier(context, this.#operation, running);
    const { uuid, donors, recipients } = this.#operation;
    running.donors.clear();
    running.recipients.clear();
    this.#captures = new Captures(context, this.#operation, uuid, donors);
    for (const donor of donors) running.donors.set(donor, noProgress());
    for (const recipient of recipients) running.recipients.set(recipient, noProgress());
  }

  async run(): Promise<void> {
    const { context } = this;
    const { ns, provenance } = this.#plan;
    try {
      await withCollectionAlone(context, ns, async (collection) => {
        this.#checkSource(collection);
        this.#aim();
        await this.#prepare();
        if (!this.#captured) await this.#copyAlone();
      });
      if (this.#captured) {
        await this.#copy();
        await withCollectionAlone(context, ns, (collection) => this.#blockWrites(collection));
      }
    } catch (error) {
      if (!(await this.#settle(error))) throw error;
    }
    await quietly(context, "config.changelog was not written", () =>
      context.catalog.log(`${provenance}.end`, ns, this.#details()),
    );
  }

  /** Somebody may have changed the collection between the plan and now. */
  #checkSource(collection: ShardedCollection | undefined): void {
    const { source, ns } = this.#plan;
    const same =
      "collection" in source
        ? collection !== undefined && compareValues(collection.uuid, source.collection.uuid) === 0
        : collection === undefined &&
          homeOf(this.context, ns.slice(0, ns.indexOf(".")), ns).shard === source.shard;
    if (same) return;
    throw new CommandError(ErrorCode.ConflictingOperationInProgress, `${ns} has changed meanwhile`);
  }

  async #prepare(): Promise<void> {
    const { context } = this;
    const { catalog, clock, ids } = context;
    const { ns, provenance, uuid } = this.#plan;
    const definition = await readDefinition(context, this.#plan);
    this.#indexes = definition.indexes;
    const defaultCollation = defaultCollationOf(definition.description);
    await catalog.log(`${provenance}.start`, ns, this.#details());
    this.#isNoted = true;
    await noteOperation(context, { ...this.#operation, defaultCollation });
    await writeNewChunks({ config: catalog.config, clock, ids }, uuid, this.#copier.chunks);
    this.#enter("preparing-to-donate");
    await createTemporary(context, this.#operation, definition);
    await this.#estimate();
    this.#captured = await this.#captures.start();
  }

  /** What there is to copy. */
  async #estimate(): Promise<void> {
    const { shards } = this.context;
    const { db, name, donors, recipients } = this.#operation;
    let documents = 0;
    let bytes = 0;
    for (const donor of donors) {
      const stats = await shards.must(donor, db, { collStats: name });
      const number = (field: string): number => asNumber(getField(stats, field)!);
      const progress = this.running.donors.get(donor)!;
      documents += progress.documentsToCopy = number("count");
      bytes += progress.bytesToCopy = number("size");
    }
    for (const recipient of recipients) {
      const progress = this.running.recipients.get(recipient)!;
      progress.documentsToCopy = Math.ceil(documents / recipients.length);
      progress.bytesToCopy = Math.ceil(bytes / recipients.length);
    }
  }

  /** Clones, builds the indexes, catches up, and lets the minimum duration pass. */
  async #copy(): Promise<void> {
    await this.#clone();
    this.#enter("applying");
    this.running.times.applyStarted = this.context.waiting.now();
    await this.#catchUp();
    await this.#passMinimumDuration();
  }

  async #clone(): Promise<void> {
    const { context, running } = this;
    this.#enter("cloning");
    running.times.copyStarted = context.waiting.now();
    await this.#copier.clone();
    this.#indexes = await buildIndexes(context, this.#operation, this.#indexes, false);
    running.times.copyEnded = context.waiting.now();
  }

  async #catchUp(): Promise<void> {
    for (let round = 1; round <= MOST_ROUNDS; round++) {
      this.running.checkNotAborted();
      if ((await this.#copier.apply(this.#captures, false)) <= FEW_CHANGES) return;
    }
  }

  async #passMinimumDuration(): Promise<void> {
    const { waiting } = this.context;
    const { running } = this;
    const end = running.times.started + this.#plan.minimumDurationMs;
    for (;;) {
      running.checkNotAborted();
      const left = end - waiting.now();
      if (left <= 0 || running.request === "commit") return;
      await waiting.wait(waiting.kind === "real" ? Math.min(left, APPLY_EVERY_MS) : left, running.requested);
      await this.#catchUp();
    }
  }

  /** Without knowing what changes: everything with the collection alone. */
  async #copyAlone(): Promise<void> {
    await this.#clone();
    this.#enter("applying");
    await this.#commit();
  }

  async #blockWrites(collection: ShardedCollection | undefined): Promise<void> {
    this.#checkSource(collection);
    await this.#commit();
  }

  /** The critical section. */
  async #commit(): Promise<void> {
    const { context, running } = this;
    const { ns, uuid } = this.#plan;
    running.checkNotAborted();
    const started = context.waiting.now();
    running.times.criticalSectionStarted = started;
    this.#enter("blocking-writes");
    await context.cursors.drain(ns, [...this.#operation.donors]);
    await this.#copier.apply(this.#captured ? this.#captures : undefined, true);
    await buildIndexes(context, this.#operation, this.#indexes, true);
    await this.#verify();
    if (this.#captured && context.waiting.now() - started > CRITICAL_SECTION_MS) {
      throw new CommandError(
        ErrorCode.ReshardingCriticalSectionTimeout,
        `Resharding critical section timed out after ${CRITICAL_SECTION_MS} ms`,
      );
    }
    running.checkNotAborted();
    this.#enter("committing");
    await decideOperation(context, uuid);
    await finishResharding(context, uuid);
    this.#enter("done");
  }

  /**
   * Nobody writes, but documents may expire on the donors all the same.
   * @throws CommandError when a document is missing or too many
   */
  async #verify(): Promise<void> {
    for (let look = 1; ; look++) {
      const { donors, recipients } = await this.#copier.counts();
      if (donors === recipients) return;
      if (!this.#captured || look === MOST_LOOKS) {
        throw new CommandError(
          ErrorCode.OperationFailed,
          `the copy of ${this.#plan.ns} has ${recipients} documents, the collection has ${donors}`,
        );
      }
      await this.#copier.apply(this.#captures, true);
    }
  }

  /** Something has failed. @returns whether the decision was taken all the same: only its reply was lost, or what came after */
  async #settle(error: unknown): Promise<boolean> {
    const { context } = this;
    const { ns, uuid, provenance } = this.#plan;
    if (this.running.state !== "committing") this.#enter("aborting");
    if (this.#isNoted) {
      // Held alone: nobody may use the collection before it is known which of the two it is.
      const finish = (): Promise<boolean> => finishReshardingSometime(context, ns, uuid);
      if (await context.locks.whileExclusive(ns, finish)) {
        this.#enter("done");
        return true;
      }
    }
    const message = error instanceof Error ? error.message : String(error);
    const details = new DocumentWriter().fieldsOf(this.#details()).string("errmsg", message).finish();
    await quietly(context, "config.changelog was not written", () =>
      context.catalog.log(`${provenance}.error`, ns, details),
    );
    return false;
  }

  #enter(state: CoordinatorState): void {
    this.running.enter(state, this.context.waiting.now());
  }

  #details(): Uint8Array {
    const { key, starts, uuid } = this.#plan;
    return new DocumentWriter()
      .document("shardKey", key.document)
      .field("reshardUUID", uuid)
      .int64("numChunks", BigInt(starts.length))
      .finish();
  }
}

function operationOf(context: RouterContext, plan: ReshardingPlan): ReshardingOperation {
  const { ns, source, starts, unsplittable, uuid, zones, provenance, key } = plan;
  const dot = ns.indexOf(".");
  const db = ns.slice(0, dot);
  const owners = new Set(starts.map(({ shard }) => shard));
  // The primary shard has the definition of every sharded collection of its databases.
  const primary = context.catalog.database(db)?.primary;
  if (!unsplittable && primary) owners.add(primary);
  const sourceUuid = "shard" in source ? source.uuid : source.collection.uuid;
  return {
    uuid,
    provenance,
    ns,
    db,
    name: ns.slice(dot + 1),
    temporary: `system.resharding.${uuidText(sourceUuid)}`,
    sourceUuid,
    key: key.document,
    unsplittable,
    donors: donorsOf(context, plan, primary),
    recipients: [...owners].sort(),
    zones,
    isDecided: false,
  };
}

/** Shards that have a part of the old collection: the primary may have an empty one. */
function donorsOf(context: RouterContext, { source }: ReshardingPlan, primary: string | undefined): string[] {
  if ("shard" in source) return [source.shard];
  const owners = source.collection.chunks.owningShards();
  return [...new Set([...owners, ...(primary && context.shards.has(primary) ? [primary] : [])])].sort();
}
