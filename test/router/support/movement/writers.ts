/** Clients that write. Each has `_id`s of its own, none used twice, so what it has written is known exactly. */
import type { Doc } from "../cluster.js";
import type { World } from "./world.js";
import { shown } from "./world.js";

/** One write, and the `_id`s that it may touch. */
interface Write {
  readonly command: Doc;
  readonly ids: readonly number[];
  readonly db?: string;
  /** Several documents: no retryable write. */
  readonly multi?: boolean;
}

/** `_id`s that a writer may use. */
const IDS = 100_000;

/** Whose an `_id` is. */
export function writerOf(id: number): number {
  return Math.floor(id / IDS);
}

export class Writer {
  readonly #session: Doc;
  #next: number;
  #txnNumber = 0n;

  constructor(
    private readonly world: World,
    private readonly number: number,
  ) {
    this.#session = world.session();
    this.#next = number * IDS;
  }

  /** Writes something on both sides, which must say the same. */
  async write(write = this.#random()): Promise<void> {
    const { world } = this;
    const { ledger, tally, cluster } = world;
    const { command, ids, db = "db", multi = false } = write;
    tally.writes += 1;
    ledger.begin(ids);
    const retryable = multi ? {} : { lsid: this.#session, txnNumber: ++this.#txnNumber };
    const reply = await cluster.run(db, { ...command, ...retryable });
    if (reply.ok !== 1) world.refused(command, reply, []);
    const expected = await world.twin(db, command);
    if (said(reply) !== said(expected)) {
      throw new Error(`${shown(command)}: ${shown(reply)} instead of ${shown(expected)}`);
    }
    ledger.end(ids, await world.twinFind({ _id: { $in: ids } }));
  }

  /** A document that is not there yet. */
  newDocument(): Doc {
    const { world } = this;
    return {
      _id: this.#next++,
      w: this.number,
      a: world.below(30),
      ...(world.random() < 0.9 && { b: world.below(10) }),
      c: `c${world.below(40)}`,
      v: 0,
      pad: "p".repeat(world.below(60)),
    };
  }

  /** The first documents, all at once. */
  insert(howMany: number): Promise<void> {
    const documents = Array.from({ length: howMany }, () => this.newDocument());
    return this.write({ command: { insert: "c", documents }, ids: idsOf(documents) });
  }

  get #mine(): Doc[] {
    return [...this.world.ledger.documents.values()].filter(({ w }) => w === this.number);
  }

  #random(): Write {
    const { world } = this;
    const mine = this.#mine;
    const isFew = mine.length < 20;
    const kinds = [
      () => this.#insert(),
      () => this.#upsert(),
      ...(isFew ? [] : [() => this.#update(mine), () => this.#update(mine), () => this.#delete(mine)]),
      ...(isFew ? [] : [() => this.#findAndModify(mine), () => this.#multi(mine)]),
      ...(isFew || world.rules === "5.0" ? [] : [() => this.#bulk(mine)]),
      ...(mine.length > 80 ? [() => this.#deleteMany(mine), () => this.#delete(mine)] : []),
    ];
    return world.pick(kinds)();
  }

  #insert(): Write {
    const documents = Array.from({ length: 1 + this.world.below(4) }, () => this.newDocument());
    return { command: { insert: "c", documents }, ids: idsOf(documents) };
  }

  #upsert(): Write {
    const { _id, w, a, b = 3, c, v } = this.newDocument();
    const q = { _id, a, b, c };
    return {
      command: { update: "c", updates: [{ q, u: { $set: { w, v } }, upsert: true }] },
      ids: [_id as number],
    };
  }

  #update(mine: Doc[]): Write {
    const one = this.world.pick(mine);
    return {
      command: { update: "c", updates: [{ q: this.#filter(one), u: this.#change(one) }] },
      ids: idsOf([one]),
    };
  }

  #delete(mine: Doc[]): Write {
    const one = this.world.pick(mine);
    return { command: { delete: "c", deletes: [{ q: this.#filter(one), limit: 1 }] }, ids: idsOf([one]) };
  }

  #findAndModify(mine: Doc[]): Write {
    const { world } = this;
    const one = world.pick(mine);
    const what = world.random() < 0.3 ? { remove: true } : { update: this.#change(one), new: true };
    if (world.rules !== "5.0" && world.random() < 0.3) {
      const query = { w: this.number, a: { $gte: one.a } };
      return { command: { findAndModify: "c", query, sort: { _id: 1 }, ...what }, ids: idsOf(mine) };
    }
    return { command: { findAndModify: "c", query: this.#filter(one), ...what }, ids: idsOf([one]) };
  }

  #multi(mine: Doc[]): Write {
    const q = { w: this.number, a: { $lt: this.world.below(30) } };
    const u = { $inc: { v: 1 } };
    return { command: { update: "c", updates: [{ q, u, multi: true }] }, ids: idsOf(mine), multi: true };
  }

  #deleteMany(mine: Doc[]): Write {
    const q = { w: this.number, a: { $in: [this.world.below(30), this.world.below(30)] } };
    return { command: { delete: "c", deletes: [{ q, limit: 0 }] }, ids: idsOf(mine), multi: true };
  }

  #bulk(mine: Doc[]): Write {
    const { world } = this;
    const documents = [this.newDocument(), this.newDocument()];
    const [changed, deleted] = [world.pick(mine), world.pick(mine)];
    const ops = [
      { insert: 0, document: documents[0] },
      { update: 0, filter: this.#filter(changed), updateMods: { $inc: { v: 1 } }, multi: false },
      { insert: 0, document: documents[1] },
      { delete: 0, filter: { _id: deleted._id }, multi: false },
    ];
    return {
      db: "admin",
      command: { bulkWrite: 1, ops, nsInfo: [{ ns: "db.c" }] },
      ids: [...new Set(idsOf([...documents, changed, deleted]))],
    };
  }

  /** With all values that are in shard keys, as rules before 8.0 ask for, or by `_id` alone. */
  #filter({ _id, a, b = null, c }: Doc): Doc {
    return this.world.rules === "5.0" || this.world.random() < 0.5 ? { _id, a, b, c } : { _id };
  }

  /** Half of the changes give the document another key value. */
  #change({ w, v, pad }: Doc): Doc {
    const { world } = this;
    const { a, b, c } = this.newDocument();
    const kinds: Doc[] = [
      { $inc: { v: 1 } },
      { $set: { v: (v as number) + 2, pad: "q".repeat(world.below(80)) } },
      { $set: { a } },
      { $set: { b: b ?? 1, c } },
      { $inc: { a: 1, v: 1 } },
      { w, a, b: b ?? null, c, v, pad: pad ?? "" },
    ];
    return world.pick(kinds);
  }
}

function idsOf(documents: readonly Doc[]): number[] {
  return documents.map(({ _id }) => _id as number);
}

/** What both sides must say alike. */
function said({
  n,
  nModified,
  upserted,
  value,
  writeErrors,
  nErrors,
  nInserted,
  nMatched,
  nDeleted,
}: Doc): string {
  return JSON.stringify([n, nModified, upserted, value, writeErrors, nErrors, nInserted, nMatched, nDeleted]);
}
