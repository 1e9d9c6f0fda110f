/**
 * TTL indexes: documents that end by themselves.
 *
 *     index {at: 1}, expireAfterSeconds: 3600
 *       {at: 12:00}            goes with the first pass after 13:00
 *       {at: [12:00, 15:00]}   likewise: the earliest date counts
 *       {at: "noon"}, {}       never: only dates expire
 *
 * A pass is due every `ttlMonitorSleepSecs`; what has expired meanwhile stays
 * visible until then, as in MongoDB. The engine has no timer of its own: a pass
 * that is due is made up for before the next command, so that no client can see
 * the difference, and a host that gives the environment a `setTimer` has passes
 * also while nobody asks, so that memory is given back.
 *
 * A pass reads the index from the oldest date to the newest that has expired;
 * what lives on is not looked at.
 */
import { BsonType, date, rawValue, sortableKey } from "../bson/index.js";
import type { Environment } from "../protocol/index.js";
import type { ServerParameters } from "./parameters.js";
import type { Catalog } from "./storage/catalog.js";
import type { Collection } from "./storage/collection.js";
import type { CollectionIndex } from "./storage/collectionIndex.js";

/** What has been done, as `serverStatus.metrics.ttl` shows it. */
export interface TtlMetrics {
  passes: number;
  subPasses: number;
  deletedDocuments: number;
  deletedKeys: number;
  /** Indexes passed over because they cannot expire anything (hashed ones). */
  invalidTTLIndexSkips: number;
}

/** What a {@link TtlMonitor} works on. */
export interface TtlMonitorOptions {
  readonly environment: Environment;
  readonly catalog: Catalog;
  readonly parameters: ServerParameters;
  readonly metrics: TtlMetrics;
  /** False while the server takes no writes: passes are left out then. */
  readonly mayWrite: () => boolean;
}

/** After the database: the name of a collection that is not one yet. */
const RESHARDING = ".system.resharding.";
/** The earliest date there is: −2^63 milliseconds. */
const DAWN = rawValue(BsonType.date, Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0x80), 0, 8);
/** Above all keys that begin alike. */
const ABOVE = "\u00ff";

/** Deletes what has expired. */
export class TtlMonitor {
  private lastPass: number;
  private cancel: (() => void) | undefined;

  constructor(private readonly options: TtlMonitorOptions) {
    this.lastPass = options.environment.now();
  }

  /** Makes a pass if one is due. Cheap when none is. */
  tick(): void {
    const { environment, parameters, mayWrite } = this.options;
    const now = environment.now();
    if (now - this.lastPass < this.interval) return;
    this.lastPass = now;
    if (parameters.flag("ttlMonitorEnabled") && mayWrite()) this.pass(now);
  }

  /** Has passes made on time where the environment has timers. */
  start(): void {
    this.cancel = this.options.environment.setTimer?.(() => {
      this.tick();
      this.start();
    }, this.interval);
  }

  /** Makes no more passes. */
  stop(): void {
    this.cancel?.();
    this.cancel = undefined;
  }

  private get interval(): number {
    return this.options.parameters.number("ttlMonitorSleepSecs") * 1000;
  }

  private pass(now: number): void {
    const { catalog, metrics } = this.options;
    for (const db of catalog.databaseNames()) {
      for (const collection of catalog.collectionsOf(db)) {
        // Copies of a resharding lose what the collection loses, at the same time.
        if (collection.namespace.startsWith(RESHARDING, db.length)) continue;
        for (const index of collection.indexes) {
          if (index.spec.expireAfterSeconds !== undefined) this.expire(collection, index, now);
        }
      }
    }
    metrics.passes++;
    metrics.subPasses++;
  }

  private expire(collection: Collection, index: CollectionIndex, now: number): void {
    const { metrics } = this.options;
    const { fields, expireAfterSeconds = 0 } = index.spec;
    if (fields.length !== 1 || fields[0]?.kind === "hashed") {
      metrics.invalidTTLIndexSkips++;
      return;
    }
    for (const id of expired(index, now - expireAfterSeconds * 1000)) {
      for (const other of collection.indexes) {
        const keys = other.keysOf(collection.records.get(id) as Uint8Array);
        metrics.deletedKeys += typeof keys === "string" ? 1 : keys.length;
      }
      collection.delete(id);
      metrics.deletedDocuments++;
    }
  }
}

/** The records with a date that is not after `limit` in the index, each once. */
function expired(index: CollectionIndex, limit: number): Set<number> {
  const { descending } = index.keys;
  const oldest = sortableKey([DAWN], descending);
  const newest = sortableKey([date(limit)], descending);
  const scan = descending[0]
    ? index.ordered.scan(newest, oldest + ABOVE)
    : index.ordered.scan(oldest, newest + ABOVE);
  const ids = new Set<number>();
  while (scan.next()) ids.add(scan.id);
  return ids;
}
