/**
 * What every data set of the course can do, made from one function that gives
 * the document with a certain index: an array for `insertMany`, a stream, or
 * batches in constant memory.
 */

/** Options of {@link DataSet.batches}. */
export interface BatchOptions {
  /** Documents in a batch, 1 or more; default 1,000. The last batch may be smaller. */
  size?: number;
}

/**
 * A deterministic data set: the same count, seed and options give the same
 * documents, on every machine, alone or in batches.
 */
export interface DataSet<T extends object, O extends object> {
  /**
   * The first `count` documents as an array, as `insertMany` wants them.
   *
   * @throws RangeError unless `count` is a whole number, 0 or more
   */
  (count: number, options?: O): T[];
  /** The same documents one by one; a million take no more memory than one. */
  stream(count: number, options?: O): Generator<T, void, undefined>;
  /**
   * The same documents in arrays of `size`: one `insertMany` each.
   *
   * @example for (const batch of data.events.batches(100_000, { size: 1_000 })) await events.insertMany(batch);
   */
  batches(count: number, options?: O & BatchOptions): Generator<T[], void, undefined>;
}

/**
 * Makes a data set.
 *
 * @param prepare checks the options once and returns the function index → document
 */
export function dataSet<T extends object, O extends object>(
  prepare: (options: Partial<O>) => (index: number) => T,
): DataSet<T, O> {
  function* stream(count: number, options?: O): Generator<T, void, undefined> {
    whole("count", count, 0);
    const at = prepare(options ?? {});
    for (let index = 0; index < count; index++) yield at(index);
  }

  function* batches(count: number, options?: O & BatchOptions): Generator<T[], void, undefined> {
    whole("count", count, 0);
    const size = whole("size", options?.size ?? 1000, 1);
    const at = prepare(options ?? {});
    for (let start = 0; start < count; start += size) {
      yield Array.from({ length: Math.min(size, count - start) }, (_, k) => at(start + k));
    }
  }

  const array = (count: number, options?: O): T[] => {
    whole("count", count, 0);
    const at = prepare(options ?? {});
    return Array.from({ length: count }, (_, index) => at(index));
  };

  return Object.assign(array, { stream, batches });
}

/** Returns a whole number of at least `least`, or says what is wrong with it. */
export function whole(name: string, value: number, least: number): number {
  if (!Number.isSafeInteger(value) || value < least) {
    throw new RangeError(`${name} is ${value}; give a whole number of ${least} or more`);
  }
  return value;
}
