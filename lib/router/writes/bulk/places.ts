/**
 * Holding all collections of a bulkWrite at once.
 *
 * Namespaces are taken in ascending order, then the databases of the unsharded
 * ones: the order in which everybody takes them, so that nobody waits for each
 * other in a circle. Collections with a careful write are held alone, the others
 * shared.
 */
import type { BulkTarget } from "../../../protocol/index.js";
import type { ShardedCollection } from "../../catalog/entries.js";
import type { RouterContext } from "../../context.js";
import { withCollection, withCollectionAlone } from "../../support/collections.js";
import { withDatabase } from "../../support/databases.js";

/** Where the documents of a namespace are: spread over shards, or on one. */
export type Place =
  | { readonly collection: ShardedCollection; readonly shard?: undefined }
  | { readonly collection?: undefined; readonly shard: string };

/** Places by namespace. */
export type Places = ReadonlyMap<string, Place>;

/**
 * Runs `work` while the collections stay where they are. Databases that do not exist are created.
 * @param alone namespaces that nobody else may touch meanwhile
 */
export function withPlaces<T>(
  context: RouterContext,
  targets: readonly BulkTarget[],
  alone: ReadonlySet<string>,
  work: (places: Places) => Promise<T>,
): Promise<T> {
  const dbs = new Map(targets.map(({ namespace, db }) => [namespace, db]));
  const namespaces = [...dbs.keys()].sort();
  const places = new Map<string, Place>();
  /** Namespaces by database. */
  const unsharded = new Map<string, string[]>();

  const note = (db: string, ns: string): void => {
    const known = unsharded.get(db);
    if (known) known.push(ns);
    else unsharded.set(db, [ns]);
  };
  const takeNamespace = (position: number): Promise<T> => {
    const ns = namespaces[position];
    if (ns === undefined) return takeDatabase([...unsharded.keys()].sort(), 0);
    const hold = alone.has(ns) ? withCollectionAlone : withCollection;
    return hold(context, ns, async (collection) => {
      if (collection) places.set(ns, { collection });
      else note(dbs.get(ns)!, ns);
      // Not from within this call: thousands of namespaces would nest as deeply.
      await Promise.resolve();
      return takeNamespace(position + 1);
    });
  };
  const takeDatabase = (names: readonly string[], position: number): Promise<T> => {
    const name = names[position];
    if (name === undefined) return work(places);
    return withDatabase(context, name, async ({ primary }) => {
      for (const ns of unsharded.get(name)!) {
        places.set(ns, { shard: context.catalog.tracked(ns)?.shard ?? primary });
      }
      await Promise.resolve();
      return takeDatabase(names, position + 1);
    });
  };
  return takeNamespace(0);
}
