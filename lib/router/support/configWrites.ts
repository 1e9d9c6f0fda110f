/**
 * Clients may write the catalog themselves: `sh.stopBalancer()` updates
 * config.settings, `sh.disableBalancing()` config.collections. After such a
 * write the router's cache is read again, so that it stays true.
 */
import type { Reply, Request } from "../../protocol/index.js";
import { collectionNamespace } from "../../protocol/index.js";
import type { RouterContext } from "../context.js";

/** Collections of `config` that the cache is made of. */
const CACHED: ReadonlySet<string> = new Set([
  "config.shards",
  "config.databases",
  "config.collections",
  "config.chunks",
  "config.settings",
]);

/** Passes a reply on, after reading the catalog again if its command may have changed it. */
export async function afterConfigWrite(
  context: RouterContext,
  request: Request,
  reply: Reply,
): Promise<Reply> {
  if (request.db === "config" && CACHED.has(collectionNamespace(request))) await context.catalog.load();
  return reply;
}
