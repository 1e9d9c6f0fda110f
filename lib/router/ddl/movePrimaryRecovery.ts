/**
 * A movePrimary that nobody has brought to its end: its document in `config.movePrimaries` says what was to move.
 *
 *     {_id: "library", from: "shardA", to: "shardB", collections: ["loans", …]}      views last
 *
 * The catalog decides. Where the database's primary is the recipient, it has moved and the old primary forgets what it
 * gave away; else nothing has moved, and what has been copied is dropped. None of the names was on the recipient before.
 */
import { asDocument, asString, DocumentWriter, elements, getField, string } from "../../bson/index.js";
import { ErrorCode, failureOf, isOk, request } from "../../protocol/index.js";
import type { RouterContext } from "../context.js";
import { quietly } from "./fanOut.js";

const COLLECTION = "movePrimaries";

/** A database on its way. */
export interface MovingDatabase {
  readonly db: string;
  readonly from: string;
  readonly to: string;
  /** What moves, in the order in which it is created. */
  readonly collections: readonly string[];
}

/** Writes down what is going to happen. @throws CommandError when the config server can't; nothing may happen then */
export async function noteMove({ catalog }: RouterContext, moving: MovingDatabase): Promise<void> {
  const { db, from, to, collections } = moving;
  const document = new DocumentWriter().string("_id", db).string("from", from).string("to", to);
  await catalog.config.insert(COLLECTION, [document.values("collections", collections.map(string)).finish()]);
}

/**
 * Brings a move to its end, whichever it is. Doing it twice does no harm.
 * @throws CommandError where the config server or a shard does not answer
 */
export async function finishMove(context: RouterContext, moving: MovingDatabase): Promise<void> {
  const { catalog, shards } = context;
  const { db, from, to, collections } = moving;
  await catalog.load();
  const wrong = catalog.database(db)?.primary === to ? from : to;
  // A shard that was removed meanwhile has nothing that anybody could see.
  if (shards.has(wrong)) {
    for (const name of [...collections].reverse()) {
      const reply = await shards.run(wrong, request(db, { drop: name }));
      if (!isOk(reply) && failureOf(reply).code !== ErrorCode.NamespaceNotFound) throw failureOf(reply);
    }
  }
  await catalog.config.remove(COLLECTION, { _id: db });
}

/** {@link finishMove} now, or before the database is used again where a server is gone or refuses. */
export async function finishMoveSometime(context: RouterContext, moving: MovingDatabase): Promise<void> {
  try {
    await finishMove(context, moving);
  } catch (error) {
    await quietly(context, "movePrimary is unfinished", () => Promise.reject(error as Error));
    context.unfinished.add(moving.db, () => finishMove(context, moving));
  }
}

/** @throws CommandError when the config server can't be read */
export async function recoverMovePrimaries(context: RouterContext): Promise<void> {
  const found: MovingDatabase[] = [];
  for await (const document of context.catalog.config.find(COLLECTION)) {
    const text = (name: string): string => asString(getField(document, name)!);
    const collections = elements(asDocument(getField(document, "collections")!)).map(asString);
    found.push({ db: text("_id"), from: text("from"), to: text("to"), collections });
  }
  for (const moving of found) await finishMoveSometime(context, moving);
}
