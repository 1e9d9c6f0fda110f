/**
 * Who may touch a collection at the same time.
 *
 * Operations on documents share a namespace; whatever changes its map
 * (shardCollection, moveChunk, drop, a two-phase write) has it alone. So a
 * client sees a migration as one step: before it or after it, never between
 * the copy and the delete. A real cluster reaches the same by versioning every
 * request and retrying it; with one router a lock is enough.
 *
 *     find ─┬───────┐            ┌── find
 *     insert┴──┐    │            │
 *     moveChunk     └ exclusive ─┘
 *
 * Waiters are served in the order they came, so that a stream of reads cannot
 * starve a migration. The uncontended shared path, which every insert takes,
 * neither waits nor allocates a promise: {@link NamespaceLocks.shared} returns
 * undefined when the lock is already held on return.
 */

interface Waiter {
  readonly exclusive: boolean;
  readonly grant: () => void;
}

interface LockState {
  /** Holders: a positive number of sharers, or -1 for one exclusive holder. */
  holders: number;
  queue: Waiter[];
}

/** A table of shared/exclusive locks by name (a namespace, or a database's name). */
export class NamespaceLocks {
  readonly #locks = new Map<string, LockState>();

  /**
   * Takes a shared hold.
   * @returns undefined when it is held now, else a promise to await before going on
   */
  shared(name: string): Promise<void> | undefined {
    return this.#take(name, false);
  }

  /** Takes the only hold. Same return value as {@link shared}. */
  exclusive(name: string): Promise<void> | undefined {
    return this.#take(name, true);
  }

  /** Gives back one hold of either kind. */
  release(name: string): void {
    const lock = this.#locks.get(name);
    if (!lock) throw new Error(`lock ${name} is not held`);
    lock.holders = lock.holders < 0 ? 0 : lock.holders - 1;
    this.#wake(name, lock);
  }

  /** Runs `work` with the namespace shared. */
  async whileShared<T>(name: string, work: () => Promise<T>): Promise<T> {
    const wait = this.shared(name);
    if (wait) await wait;
    try {
      return await work();
    } finally {
      this.release(name);
    }
  }

  /** Runs `work` with the namespace to itself. */
  async whileExclusive<T>(name: string, work: () => Promise<T>): Promise<T> {
    const wait = this.exclusive(name);
    if (wait) await wait;
    try {
      return await work();
    } finally {
      this.release(name);
    }
  }

  /**
   * Runs `work` with several namespaces alone. They are taken in ascending
   * order, so that two such callers cannot wait for each other.
   */
  async whileAllExclusive<T>(names: readonly string[], work: () => Promise<T>): Promise<T> {
    const held: string[] = [];
    try {
      for (const name of [...new Set(names)].sort()) {
        const wait = this.exclusive(name);
        if (wait) await wait;
        held.push(name);
      }
      return await work();
    } finally {
      for (const name of held.reverse()) this.release(name);
    }
  }

  #take(name: string, exclusive: boolean): Promise<void> | undefined {
    let lock = this.#locks.get(name);
    if (!lock) this.#locks.set(name, (lock = { holders: 0, queue: [] }));
    const free = exclusive ? lock.holders === 0 : lock.holders >= 0;
    if (free && lock.queue.length === 0) {
      lock.holders = exclusive ? -1 : lock.holders + 1;
      return undefined;
    }
    const { queue } = lock;
    return new Promise((grant) => queue.push({ exclusive, grant }));
  }

  #wake(name: string, lock: LockState): void {
    for (let next = lock.queue[0]; next; next = lock.queue[0]) {
      if (next.exclusive ? lock.holders !== 0 : lock.holders < 0) return;
      lock.queue.shift();
      lock.holders = next.exclusive ? -1 : lock.holders + 1;
      next.grant();
    }
    if (lock.holders === 0) this.#locks.delete(name);
  }
}
