/**
 * What is in the collection according to its unsharded twin, and what nobody is writing just now.
 *
 *     stamp   0   1   2   3   4          odd: a write of this `_id` is on its way
 *     read        └───┐                  not settled: the reader may see the document before or after
 *     read                ┌───┘ ✗        same
 *     read                    └──        settled: it must be there exactly once, as the twin has it
 */
import type { Doc } from "../cluster.js";

/** What a reader may rely on. */
export interface Moment {
  /** Documents that nobody is writing. */
  readonly settled: ReadonlyMap<number, Doc>;
  /** The stamps of all `_id`s that ever were. */
  readonly stamps: ReadonlyMap<number, number>;
}

export class Ledger {
  readonly documents = new Map<number, Doc>();
  readonly #stamps = new Map<number, number>();

  /** A write that may touch these `_id`s begins. */
  begin(ids: Iterable<number>): void {
    for (const id of ids) this.#stamps.set(id, (this.#stamps.get(id) ?? 0) + 1);
  }

  /** It is over, and this is what the twin has of them now. */
  end(ids: Iterable<number>, documents: readonly Doc[]): void {
    for (const id of ids) {
      this.#stamps.set(id, this.#stamps.get(id)! + 1);
      this.documents.delete(id);
    }
    for (const document of documents) this.documents.set(Number(document._id), document);
  }

  /** What can be relied on from now on, as far as {@link check} finds it untouched. */
  moment(): Moment {
    const settled = [...this.documents].filter(([id]) => this.#isSettled(id, this.#stamps.get(id)!));
    return { settled: new Map(settled), stamps: new Map(this.#stamps) };
  }

  /**
   * Checks what was read since a moment.
   * @param matches which documents were asked for
   * @param atOnce the whole read was one moment: then even a document that is written is not seen twice
   * @returns how many documents could be checked
   * @throws Error that names the document
   */
  check(
    { settled, stamps }: Moment,
    read: readonly Doc[],
    matches: (document: Doc) => boolean,
    atOnce: boolean,
  ): number {
    const seen = new Map<number, Doc[]>();
    for (const document of read) {
      const id = Number(document._id);
      seen.set(id, [...(seen.get(id) ?? []), document]);
    }
    let checked = 0;
    for (const [id, stamp] of stamps) {
      if (!this.#isSettled(id, stamp)) continue;
      const document = settled.get(id);
      const found = seen.get(id) ?? [];
      const expected = document && matches(document) ? [document] : [];
      checked += expected.length;
      if (found.length !== expected.length || text(found) !== text(expected)) {
        throw new Error(`read ${text(found)} where ${text(expected)} should be`);
      }
    }
    for (const found of seen.values()) {
      if (atOnce && found.length > 1) throw new Error(`read at once, and twice: ${text(found)}`);
    }
    return checked;
  }

  /** How many documents there were since a moment: what was written meanwhile may or may not have been there. */
  bounds({ settled, stamps }: Moment, belongs: (id: number) => boolean): { least: number; most: number } {
    let least = 0;
    let most = 0;
    for (const id of this.#stamps.keys()) {
      if (!belongs(id)) continue;
      const isSettled = this.#isSettled(id, stamps.get(id) ?? 1);
      if (isSettled && settled.has(id)) least += 1;
      if (!isSettled || settled.has(id)) most += 1;
    }
    return { least, most };
  }

  #isSettled(id: number, stamp: number): boolean {
    return stamp % 2 === 0 && this.#stamps.get(id) === stamp;
  }
}

/** Documents here have nothing but numbers, strings and null. */
export function text(documents: readonly Doc[]): string {
  return JSON.stringify(documents);
}
