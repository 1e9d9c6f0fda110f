/**
 * A renaming that nobody has brought to its end: its document in `config.renames` says what was to be done.
 *
 *     {_id: ObjectId, from: "shop.new", to: "shop.orders", aside: "tmpx3f9a.renameCollection",
 *      uuid: UUID of the entry of `from`, if it has one, parts: ["shardA", …] shards that have a part of `from`}
 *
 * The catalog decides. Where the new name is the collection's, what was put aside is dropped; else every shard gives back
 * the names in reverse order.
 */
import type { RawValue } from "../../bson/index.js";
import { asDocument, asString, DocumentWriter, elements, getField, string } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { isUnreachable } from "../catalog/unreachable.js";
import type { RouterContext } from "../context.js";
import { detached, sameUuid } from "../support/values.js";
import { quietly } from "./fanOut.js";
import { describeOn, dropOn } from "./shardCollections.js";

const COLLECTION = "renames";

/** A collection on its way to another name. */
export interface Renaming {
  readonly id: RawValue;
  readonly from: string;
  readonly to: string;
  /** Name within the database, for what has the new name now. */
  readonly aside: string;
  /** Of the entry of `from`; an unsharded collection that the catalog doesn't know takes the name of one that it knows. */
  readonly uuid: RawValue | undefined;
  readonly parts: readonly string[];
}

/** Writes down what is going to happen. @throws CommandError when the config server can't; nothing may happen then */
export async function noteRenaming({ catalog }: RouterContext, renaming: Renaming): Promise<void> {
  const { id, from, to, aside, uuid, parts } = renaming;
  const document = new DocumentWriter().field("_id", id).string("from", from).string("to", to);
  document.string("aside", aside);
  if (uuid) document.field("uuid", uuid);
  await catalog.config.insert(COLLECTION, [document.values("parts", parts.map(string)).finish()]);
}

/**
 * Brings a renaming to its end, whichever it is. Doing it twice does no harm.
 * @returns whether the collection has its new name
 * @throws CommandError where the config server does not answer, or a shard refuses
 */
export async function finishRenaming(context: RouterContext, renaming: Renaming): Promise<boolean> {
  const { catalog, shards } = context;
  if (catalog.isStale) await catalog.load();
  const isDone = hasNewName(context, renaming);
  const finishOn = isDone ? dropAside : giveBack;
  const gone: string[] = [];
  for (const shard of shards.ids) {
    try {
      await finishOn(context, renaming, shard);
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      gone.push(shard);
    }
  }
  let left = gone.length;
  // Such a shard does it before it hears anything else.
  for (const shard of gone) {
    shards.oweWork(shard, async (direct) => {
      await finishOn({ ...context, shards: direct }, renaming, shard);
      if (--left === 0) {
        await quietly(context, "config.renames has one too many", () => forget(context, renaming));
      }
    });
  }
  if (left === 0) await forget(context, renaming);
  return isDone;
}

/**
 * {@link finishRenaming} now, or before one of the names is used again.
 * @returns whether the collection has its new name, as far as that could be found out
 */
export async function finishRenamingSometime(context: RouterContext, renaming: Renaming): Promise<boolean> {
  try {
    return await finishRenaming(context, renaming);
  } catch (error) {
    await quietly(context, "a renaming is unfinished", () => Promise.reject(error as Error));
    // It concerns both names; whoever comes first does it, and later the names may mean something else.
    let done: Promise<boolean> | undefined;
    const finish = async (): Promise<void> => {
      try {
        await (done ??= finishRenaming(context, renaming));
      } catch (again) {
        done = undefined;
        throw again;
      }
    };
    for (const ns of [renaming.from, renaming.to]) context.unfinished.add(ns, finish);
    return false;
  }
}

/** @throws CommandError when the config server can't be read */
export async function recoverRenamings(context: RouterContext): Promise<void> {
  const found: Renaming[] = [];
  for await (const document of context.catalog.config.find(COLLECTION)) {
    const field = (name: string): RawValue => detached(getField(document, name)!);
    found.push({
      id: field("_id"),
      from: asString(field("from")),
      to: asString(field("to")),
      aside: asString(field("aside")),
      uuid: getField(document, "uuid") && field("uuid"),
      parts: elements(asDocument(field("parts"))).map(asString),
    });
  }
  for (const renaming of found) await finishRenamingSometime(context, renaming);
}

function hasNewName({ catalog }: RouterContext, { to, uuid }: Renaming): boolean {
  const entry = catalog.collection(to) ?? catalog.tracked(to);
  return uuid ? entry !== undefined && sameUuid(entry.uuid, uuid) : entry === undefined;
}

async function dropAside(context: RouterContext, { to, aside }: Renaming, shard: string): Promise<void> {
  await dropOn(context, shard, { db: databaseOf(to), name: aside });
}

async function giveBack(context: RouterContext, renaming: Renaming, shard: string): Promise<void> {
  const { from, to, aside, parts } = renaming;
  const isThere = async (ns: string): Promise<boolean> =>
    (await describeOn(context, shard, { db: databaseOf(ns), name: ns.slice(ns.indexOf(".") + 1) })) !==
    undefined;
  if (parts.includes(shard) && !(await isThere(from))) await renameOn(context, shard, to, from);
  await renameOn(context, shard, `${databaseOf(to)}.${aside}`, to);
}

/** Renames if there is something to rename. */
async function renameOn({ shards }: RouterContext, shard: string, from: string, to: string): Promise<void> {
  try {
    await shards.must(shard, "admin", { renameCollection: from, to });
  } catch (error) {
    if (!(error instanceof CommandError) || error.code !== ErrorCode.NamespaceNotFound) throw error;
  }
}

async function forget({ catalog }: RouterContext, { id }: Renaming): Promise<void> {
  await catalog.config.remove(COLLECTION, new DocumentWriter().field("_id", id).finish());
}

function databaseOf(ns: string): string {
  return ns.slice(0, ns.indexOf("."));
}
