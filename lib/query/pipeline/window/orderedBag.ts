/**
 * Values in order of their keys, for windows that want the least few or a
 * percentile. They lie in blocks of a few hundred, found by binary search, so
 * that adding and removing one moves a block's worth of references at most.
 */

/** What keys are made of; all of one bag are of one kind. */
type Key = string | number;

interface Entry<K, V> {
  readonly key: K;
  /** Order of arrival among equal keys. */
  readonly order: number;
  readonly value: V;
}

const BLOCK = 512;

export class OrderedBag<K extends Key, V> {
  readonly #blocks: Array<Array<Entry<K, V>>> = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** @param order above those of all entries that are there */
  add(key: K, order: number, value: V): void {
    const entry = { key, order, value };
    this.#size++;
    if (this.#blocks.length === 0) {
      this.#blocks.push([entry]);
      return;
    }
    const at = Math.min(this.#blockOf(key, order), this.#blocks.length - 1);
    const block = this.#blocks[at]!;
    block.splice(placeIn(block, key, order), 0, entry);
    if (block.length > BLOCK) this.#blocks.splice(at + 1, 0, block.splice(BLOCK / 2));
  }

  /** Removes the entry with this key and order, which must be there. */
  remove(key: K, order: number): void {
    const at = this.#blockOf(key, order);
    const block = this.#blocks[at]!;
    block.splice(placeIn(block, key, order), 1);
    this.#size--;
    if (block.length === 0) this.#blocks.splice(at, 1);
  }

  /** The first block whose last entry isn't before the wanted one. */
  #blockOf(key: K, order: number): number {
    let low = 0;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBefore(this.#blocks[middle]!.at(-1)!, key, order)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The value at a place in the order. */
  at(place: number): V | undefined {
    let left = place;
    for (const block of this.#blocks) {
      if (left < block.length) return block[left]!.value;
      left -= block.length;
    }
    return undefined;
  }

  /** The first `n` values in order. */
  first(n: number): V[] {
    const values: V[] = [];
    for (const block of this.#blocks) {
      for (const { value } of block) {
        if (values.length >= n) return values;
        values.push(value);
      }
    }
    return values;
  }

  /** The last `n` values in order. */
  last(n: number): V[] {
    const values: V[] = [];
    for (let b = this.#blocks.length - 1; b >= 0; b--) {
      const block = this.#blocks[b]!;
      for (let i = block.length - 1; i >= 0; i--) {
        if (values.length >= n) return values.reverse();
        values.push(block[i]!.value);
      }
    }
    return values.reverse();
  }
}

function isBefore<K extends Key>(entry: Entry<K, unknown>, key: K, order: number): boolean {
  return entry.key < key || (entry.key === key && entry.order < order);
}

function placeIn<K extends Key>(block: ReadonlyArray<Entry<K, unknown>>, key: K, order: number): number {
  let low = 0;
  let high = block.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(block[middle]!, key, order)) low = middle + 1;
    else high = middle;
  }
  return low;
}
