/**
 * Which queries are sampled: those of collections that configureQueryAnalyzer was told of, so many a second and up to
 * twice as many at once (facts-mongos.md §9.6).
 *
 *     samplesPerSecond 5     tokens  10 ┤▇▇▇▇▇▇▇▇▇▇      a query takes one; without one it is not sampled
 *                                     0 ┼──────────      five come back every second
 *
 * The configurations are documents of config.queryAnalyzers; here is the router's copy of those that are on. With none,
 * a query costs one look at {@link QuerySampler.isIdle}.
 */
import type { RawValue } from "../../bson/index.js";
import { asNumber, asString, BsonType, getField, isNumeric } from "../../bson/index.js";
import type { ConfigServer } from "../catalog/configServer.js";
import { detached } from "../support/values.js";

/** The collection of `config` with what is analyzed. */
export const ANALYZERS = "queryAnalyzers";

/** How many seconds' worth of samples may be taken at once. */
const BURST = 2;

/** A collection whose queries are sampled. */
interface Analyzer {
  readonly uuid: RawValue;
  readonly perSecond: number;
  tokens: number;
  /** When {@link tokens} was true, milliseconds. */
  at: number;
}

/** The router's copy of the configurations that are on. */
export class QuerySampler {
  readonly #now: () => number;
  readonly #analyzers = new Map<string, Analyzer>();
  /** Namespaces with a document in config.queryAnalyzers, also those that are off. */
  readonly configured = new Set<string>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Nothing is sampled: the ordinary case. */
  get isIdle(): boolean {
    return this.#analyzers.size === 0;
  }

  /** Reads config.queryAnalyzers. */
  async load(config: ConfigServer): Promise<void> {
    this.configured.clear();
    this.#analyzers.clear();
    for await (const document of config.find(ANALYZERS)) {
      const ns = asString(getField(document, "_id")!);
      this.configured.add(ns);
      const mode = getField(document, "mode");
      if (mode?.type !== BsonType.string || asString(mode) !== "full") continue;
      const uuid = getField(document, "collUuid");
      const rate = getField(document, "samplesPerSecond");
      if (uuid && rate && isNumeric(rate)) this.turnOn(ns, detached(uuid), asNumber(rate));
    }
  }

  /** Begins, or goes on at another rate. */
  turnOn(ns: string, uuid: RawValue, perSecond: number): void {
    this.configured.add(ns);
    const known = this.#analyzers.get(ns);
    if (known?.perSecond === perSecond) return;
    // A sample is at least possible, however low the rate.
    const tokens = Math.max(1, BURST * perSecond);
    this.#analyzers.set(ns, { uuid, perSecond, tokens, at: this.#now() });
  }

  turnOff(ns: string): void {
    this.#analyzers.delete(ns);
  }

  forget(ns: string): void {
    this.#analyzers.delete(ns);
    this.configured.delete(ns);
  }

  /** Takes a token of a namespace; false where there is none, or nothing is sampled. */
  take(ns: string): boolean {
    const analyzer = this.#analyzers.get(ns);
    if (!analyzer) return false;
    const { perSecond } = analyzer;
    const now = this.#now();
    const most = Math.max(1, BURST * perSecond);
    analyzer.tokens = Math.min(most, analyzer.tokens + ((now - analyzer.at) / 1000) * perSecond);
    analyzer.at = now;
    if (analyzer.tokens < 1) return false;
    analyzer.tokens -= 1;
    return true;
  }

  /** The UUID that a collection had when it was configured. */
  uuidOf(ns: string): RawValue | undefined {
    return this.#analyzers.get(ns)?.uuid;
  }
}

/**
 * A collection, or all of a database, was dropped or has another name: what was configured for it is over.
 * @throws CommandError when the config server can't forget it
 */
export async function forgetAnalyzers(
  {
    catalog,
    sampler,
  }: { readonly catalog: { readonly config: ConfigServer }; readonly sampler: QuerySampler },
  scope: string,
): Promise<void> {
  for (const ns of sampler.configured) {
    if (ns !== scope && !ns.startsWith(`${scope}.`)) continue;
    await catalog.config.remove(ANALYZERS, { _id: ns });
    sampler.forget(ns);
  }
}
