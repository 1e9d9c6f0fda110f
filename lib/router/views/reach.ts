/**
 * Everything a pipeline reads, views taken apart.
 *
 *     [{$lookup: {from: "rates"}}, {$unionWith: "archive"}]     archive: a view on events
 *
 *     reads  rates, archive (the view), events
 */
import type { RouterContext } from "../context.js";
import { homeOf } from "../context.js";
import { referencesOf } from "../merging/pipelineReferences.js";

/** What a pipeline can touch. */
export interface Reach {
  /** Namespaces of collections, those that do not exist included. */
  readonly collections: ReadonlySet<string>;
  /** Namespaces of views. */
  readonly views: ReadonlySet<string>;
}

/**
 * All namespaces behind some names of a database and a pipeline over it; targets of `$out` and `$merge` are left out.
 * Views cannot read each other in a circle, and if they did, each would be looked at once.
 */
export async function reachOf(
  context: RouterContext,
  db: string,
  names: readonly string[],
  pipeline: readonly Uint8Array[],
): Promise<Reach> {
  const collections = new Set<string>();
  const views = new Set<string>();
  const open = names.map((name) => ({ db, name }));
  const note = (stages: readonly Uint8Array[], within: string): void => {
    for (const reference of referencesOf(stages, within)) {
      if (!reference.writes) open.push({ db: reference.db, name: reference.collection });
    }
  };
  note(pipeline, db);
  for (let next = open.pop(); next; next = open.pop()) {
    const ns = `${next.db}.${next.name}`;
    if (collections.has(ns) || views.has(ns)) continue;
    const found = context.views.find(next.db, next.name);
    const view = found instanceof Promise ? await found : found;
    if (!view) {
      collections.add(ns);
      continue;
    }
    views.add(ns);
    open.push({ db: next.db, name: view.on });
    note(view.pipeline, next.db);
  }
  return { collections, views };
}

/** Whether one shard has all of it: unsharded collections that live there, or that do not exist. */
export function isAllOn(context: RouterContext, shard: string, { collections, views }: Reach): boolean {
  const isHome = (ns: string): boolean => {
    const home = homeOf(context, ns.slice(0, ns.indexOf(".")), ns);
    return !home.exists || home.shard === shard;
  };
  for (const ns of collections) if (context.catalog.collection(ns) || !isHome(ns)) return false;
  for (const ns of views) if (!isHome(ns)) return false;
  return true;
}
