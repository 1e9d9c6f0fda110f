/**
 * What mongosh's helpers have in common: arguments checked before anything is sent, then one admin command or one
 * query on `config`, whose reply is handed on as it is.
 */
import type { Db, Document, MongoClient, UpdateResult } from "mongodb";

/** An argument that a helper can't work with; message and code are mongosh's. */
export class InvalidInputError extends TypeError {
  override readonly name = "InvalidInputError";
  readonly code = "COMMON-10001";

  constructor(message: string) {
    super(`[COMMON-10001] ${message}`);
  }
}

/** What an argument may be: names of `typeof`; undefined for one that may be left out; true for anything but that. */
export type Expected = string | readonly (string | undefined)[] | true;

/**
 * Checks a helper's arguments as mongosh does.
 * @param helper e.g. `"splitAt"`
 * @throws InvalidInputError
 * @example checkArguments("splitAt", [namespace, middle], ["string", "object"]);
 */
export function checkArguments(
  helper: string,
  given: readonly unknown[],
  expected: readonly Expected[],
): void {
  given.forEach((value, position) => {
    const wanted = expected[position]!;
    const types = typeof wanted === "string" ? [wanted] : wanted;
    if (value === undefined) {
      if (types !== true && types.includes(undefined)) return;
      throw new InvalidInputError(`Missing required argument at position ${position} (Shard.${helper})`);
    }
    if (types === true || types.includes(typeof value)) return;
    const list = types.filter((type) => type !== undefined).join(" or ");
    throw new InvalidInputError(
      `Argument at position ${position} must be of type ${list}, got ${typeof value} instead (Shard.${helper})`,
    );
  });
}

/** Documents of `config` whose `_id` is a string. */
type Named = Document & { _id: string };

/** The base of `sh`: a client of the router. */
export class ShHelpers {
  readonly #open: () => MongoClient;

  /** @param open gives the router's client, or throws where the lab is closed */
  constructor(open: () => MongoClient) {
    this.#open = open;
  }

  protected get client(): MongoClient {
    return this.#open();
  }

  protected get config(): Db {
    return this.client.db("config");
  }

  protected admin(command: Document): Promise<Document> {
    return this.client.db("admin").command(command);
  }

  /** The same; a server that does not know the command is told to be no mongos. */
  protected async onRouter(command: Document): Promise<Document> {
    try {
      return await this.admin(command);
    } catch (error) {
      if (error instanceof Error && (error as { codeName?: unknown }).codeName === "CommandNotFound") {
        error.message = `${error.message}. Are you connected to mongos?`;
      }
      throw error;
    }
  }

  protected setting(id: string): Promise<Document | null> {
    return this.config.collection<Named>("settings").findOne({ _id: id });
  }

  protected changeSetting(id: string, fields: Document): Promise<UpdateResult> {
    return this.config
      .collection<Named>("settings")
      .updateOne(
        { _id: id },
        { $set: fields },
        { upsert: true, writeConcern: { w: "majority", wtimeoutMS: 30_000 } },
      );
  }

  protected changeCollection(ns: string, update: Document): Promise<UpdateResult> {
    return this.config
      .collection<Named>("collections")
      .updateOne({ _id: ns }, update, { writeConcern: { w: "majority", wtimeoutMS: 60_000 } });
  }
}
