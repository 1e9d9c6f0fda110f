/** A mongod in the test's own process, and short ways to talk to it. */
import type { Document } from "bson";
import { fromDocument, toDocument } from "../../lib/bson/index.js";
import { Mongod, type MongodOptions } from "../../lib/mongod/index.js";
import { replyDocument, request, throwIfFailed } from "../../lib/protocol/index.js";

/** A clock that stands still until it is told otherwise, and a seeded random source. */
export class TestEnvironment {
  time = Date.UTC(2026, 0, 1);
  private state: number;

  constructor(seed = 1) {
    this.state = seed;
  }

  readonly now = (): number => this.time;

  /** mulberry32 */
  readonly random = (): number => {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** A mongod under test. Commands run in database `library` unless said otherwise. */
export class TestMongod {
  readonly environment = new TestEnvironment();
  readonly mongod: Mongod;

  constructor(options: Partial<MongodOptions> = {}) {
    this.mongod = new Mongod({ environment: this.environment, host: "127.0.0.1:27018", ...options });
  }

  /** The decoded reply of a command that must succeed. */
  async run(command: object, db = "library"): Promise<Document> {
    return throwIfFailed(await this.mongod.run(request(db, command))) as Document;
  }

  /** The decoded reply, whether it succeeded or not. */
  async reply(command: object, db = "library"): Promise<Document> {
    return replyDocument(await this.mongod.run(request(db, command))) as Document;
  }

  /** Inserts documents, which must all succeed. */
  async insert(collection: string, ...documents: object[]): Promise<void> {
    const body = toDocument({ insert: collection });
    const reply = await this.mongod.run(request("library", body, { documents: documents.map(toDocument) }));
    const result = throwIfFailed(reply);
    if (result["n"] !== documents.length) throw new Error(JSON.stringify(result));
  }

  /** Everything that a find gives, over all batches. */
  async find(collection: string, filter: object = {}, options: object = {}): Promise<Document[]> {
    return this.all({ find: collection, filter, ...options });
  }

  /** Everything that a pipeline gives. */
  async aggregate(collection: string, pipeline: object[]): Promise<Document[]> {
    return this.all({ aggregate: collection, pipeline, cursor: {} });
  }

  /** All documents of a command that answers with a cursor. */
  async all(command: object): Promise<Document[]> {
    let { cursor } = await this.run(command);
    const documents: Document[] = [...cursor.firstBatch];
    const collection = cursor.ns.slice("library.".length);
    while (BigInt(cursor.id) !== 0n) {
      ({ cursor } = await this.run({ getMore: BigInt(cursor.id), collection }));
      documents.push(...cursor.nextBatch);
    }
    return documents;
  }

  /** Creates one index, named as drivers name it. */
  async createIndex(
    collection: string,
    key: Record<string, unknown>,
    options: object = {},
  ): Promise<Document> {
    const name = Object.entries(key).flat().join("_");
    return this.run({ createIndexes: collection, indexes: [{ key, name, ...options }] });
  }

  /** The explain of a command after it ran. */
  async explain(command: object): Promise<Document> {
    return this.run({ explain: command, verbosity: "executionStats" });
  }
}

/** The stages of an explain's winning plan from top to bottom: `["LIMIT", "FETCH", "IXSCAN"]`. */
export function stagesOf(explained: Document): string[] {
  const names: string[] = [];
  for (
    let stage = explained["queryPlanner"].winningPlan;
    stage;
    stage = stage.inputStage ?? stage.inputStages?.[0]
  )
    names.push(stage.stage);
  return names;
}

export { fromDocument, toDocument };
