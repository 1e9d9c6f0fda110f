/**
 * Running results over a sliding window.
 *
 * A window gains documents at its end and loses them at its beginning. What
 * can be merged but not taken back — sums of doubles, whose roundings don't
 * cancel out, or moments of a distribution — is kept in two stacks:
 *
 *     front: [abc, bc, c]  back: [d, e], of them together: de
 *
 *     total      =  abc + de
 *     lose a     →  front [bc, c]
 *     lose all   →  when front is empty, back becomes front, summed from its end
 *
 * Each element is moved once, so that a window costs a constant number of
 * merges per document, whatever its size.
 */

/** Two stacks over states of type S; `merge` must not change its operands. */
export class SlidingFold<S> {
  readonly #front: S[] = [];
  #back: S[] = [];
  #backTotal: S | undefined;

  constructor(readonly merge: (earlier: S, later: S) => S) {}

  /** The window gains an element. */
  push(state: S): void {
    this.#back.push(state);
    this.#backTotal = this.#backTotal === undefined ? state : this.merge(this.#backTotal, state);
  }

  /** The window loses its first element, which must be there. */
  shift(): void {
    if (this.#front.length === 0) {
      let total: S | undefined;
      for (let i = this.#back.length - 1; i >= 0; i--) {
        const state = this.#back[i]!;
        total = total === undefined ? state : this.merge(state, total);
        this.#front.push(total);
      }
      this.#back = [];
      this.#backTotal = undefined;
    }
    this.#front.pop();
  }

  /** All elements together; undefined without any. */
  total(): S | undefined {
    const front = this.#front.at(-1);
    if (front === undefined || this.#backTotal === undefined) return front ?? this.#backTotal;
    return this.merge(front, this.#backTotal);
  }
}

/** The same where nothing is ever lost: states aren't kept. */
export class GrowingFold<S> {
  #total: S | undefined;

  constructor(readonly merge: (earlier: S, later: S) => S) {}

  push(state: S): void {
    this.#total = this.#total === undefined ? state : this.merge(this.#total, state);
  }

  shift(): void {
    throw new Error("a window that begins at the first document loses none");
  }

  total(): S | undefined {
    return this.#total;
  }
}

export type Fold<S> = SlidingFold<S> | GrowingFold<S>;

/** A queue that costs a constant amount per element. */
export class Queue<T> {
  #items: T[] = [];
  #start = 0;

  get size(): number {
    return this.#items.length - this.#start;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  first(): T | undefined {
    return this.#items[this.#start];
  }

  last(): T | undefined {
    return this.size === 0 ? undefined : this.#items.at(-1);
  }

  pop(): void {
    if (this.size > 0) this.#items.pop();
  }

  shift(): void {
    if (this.size === 0) return;
    this.#start++;
    if (this.#start > 32 && this.#start * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#start);
      this.#start = 0;
    }
  }

  toArray(): T[] {
    return this.#items.slice(this.#start);
  }
}
