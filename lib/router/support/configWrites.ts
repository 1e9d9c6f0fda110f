/**
 * Clients may write the catalog themselves: `sh.stopBalancer()` updates
 * config.settings, `sh.disableBalancing()` config.collections. Before such a
 * write it is checked that the router could read the result; after it the
 * router's cache is read again, so that it stays true.
 */
import { DocumentWriter, getField } from "../../bson/index.js";
import type { RawValue } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import { bodyField, collectionNamespace, CommandError, documentsOf } from "../../protocol/index.js";
import { compileFilter, compileUpdate, upsertDocument } from "../../query/index.js";
import { checkCatalogDocument } from "../catalog/validation.js";
import type { RouterContext } from "../context.js";
import { documentField, flag, optionalDocument } from "../context.js";
import { updateOptions } from "../writes/policy.js";
import { readArrayFilters, readUpdate } from "../writes/statements.js";

/** Collections of `config` that the cache is made of. */
const CACHED: ReadonlySet<string> = new Set(["shards", "databases", "collections", "chunks", "settings"]);
/** Those that are read: zone ranges are too, when a collection is sharded. */
const CHECKED: ReadonlySet<string> = new Set([...CACHED, "tags"]);

/** Name within `config` of the collection that a command is about, if it is among these. */
function collectionAmong(these: ReadonlySet<string>, request: Request): string | undefined {
  if (request.db !== "config") return undefined;
  const name = collectionNamespace(request).slice("config.".length);
  return these.has(name) ? name : undefined;
}

/**
 * Refuses a write after which the catalog could not be read. Each statement is
 * tried on the documents as they are now, not as earlier statements of its batch will leave them.
 * @throws CommandError DocumentValidationFailure (121); nothing has been written then
 */
export async function checkConfigWrite(context: RouterContext, request: Request): Promise<void> {
  const collection = collectionAmong(CHECKED, request);
  if (collection === undefined) return;
  switch (request.command) {
    case "insert":
      for (const document of documentsOf(request, "documents")) checkCatalogDocument(collection, document);
      return;
    case "update":
      for (const statement of documentsOf(request, "updates").map(readUpdate)) {
        await checkUpdate(context, collection, { ...statement, filter: statement.q });
      }
      return;
    case "findAndModify":
    case "findandmodify": {
      const u = bodyField(request, "update");
      if (!u) return;
      await checkUpdate(context, collection, {
        filter: documentField(request, "query"),
        sort: optionalDocument(request, "sort"),
        u,
        multi: false,
        upsert: flag(request, "upsert"),
        arrayFilters: readArrayFilters(bodyField(request, "arrayFilters"), "findAndModify.arrayFilters"),
      });
    }
  }
}

interface Change {
  readonly filter: Uint8Array;
  readonly sort: Uint8Array | undefined;
  readonly u: RawValue;
  readonly multi: boolean;
  readonly upsert: boolean;
  readonly arrayFilters: Uint8Array[] | undefined;
}

async function checkUpdate(context: RouterContext, collection: string, change: Change): Promise<void> {
  for (const document of await resultsOf(context, collection, change)) {
    checkCatalogDocument(collection, document);
  }
}

/** The documents that a change would leave; none where the config server will refuse it anyway. */
async function resultsOf(
  context: RouterContext,
  collection: string,
  { filter, sort, u, multi, upsert, arrayFilters }: Change,
): Promise<Uint8Array[]> {
  try {
    const now = context.environment.now();
    const { node } = compileFilter(filter);
    const update = compileUpdate(u, updateOptions(arrayFilters, undefined));
    const results: Uint8Array[] = [];
    const options = { ...(sort && { sort }), ...(!multi && { limit: 1 }) };
    let matched = 0;
    for await (const before of context.catalog.config.find(collection, filter, options)) {
      matched++;
      const after = update.apply(before, { now, filter: node });
      if (after !== before) results.push(withId(after, before));
    }
    if (matched === 0 && upsert) {
      results.push(upsertDocument(node, update, { now, newId: () => context.ids.objectId() }));
    }
    return results;
  } catch (error) {
    if (error instanceof CommandError) return [];
    throw error;
  }
}

/** A replacement keeps the `_id` of what it replaces. */
function withId(after: Uint8Array, before: Uint8Array): Uint8Array {
  const id = getField(before, "_id");
  if (!id || getField(after, "_id")) return after;
  return new DocumentWriter().field("_id", id).fieldsOf(after).finish();
}

/**
 * Passes a reply on, after reading the catalog again if its command may have changed it. A catalog that cannot be
 * read, because somebody wrote it on the config server, is no failure of this write: the cache stays as it was,
 * and `flushRouterConfig` says why.
 */
export async function afterConfigWrite(
  context: RouterContext,
  request: Request,
  reply: Reply,
): Promise<Reply> {
  if (collectionAmong(CACHED, request) !== undefined) await context.catalog.tryLoad();
  return reply;
}
