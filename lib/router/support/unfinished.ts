/**
 * Operations that could not be brought to their end: a server was gone when its part was due, or nobody knows whether
 * the commit has happened.
 *
 *     moveChunk  copy ✓  commit … no reply, config server gone      →  unfinished: test.c
 *     find test.c                                                   →  settles it first, or fails as it did
 *     find test.d                                                   →  goes on
 *
 * Nothing touches a namespace before what is unfinished about it is settled. What must outlast the router is in the
 * `config` database as well, and read from there at the next start (recovery.ts).
 */

interface Work {
  /** A namespace, or a database with all its namespaces. */
  readonly scope: string;
  readonly finish: () => Promise<void>;
  running?: Promise<void> | undefined;
}

/** What is still to be done, by namespace. */
export class UnfinishedWork {
  #work: Work[] = [];

  /** Nothing is unfinished: the ordinary case. */
  get isEmpty(): boolean {
    return this.#work.length === 0;
  }

  /**
   * Notes an operation.
   * @param scope the namespace or database that nobody may touch before
   * @param finish settles it; it is asked again when it fails, and must do no harm then
   */
  add(scope: string, finish: () => Promise<void>): void {
    this.#work.push({ scope, finish });
  }

  /**
   * Settles what concerns a namespace, or a database.
   * @throws CommandError what keeps it from being settled
   */
  async settle(name: string): Promise<void> {
    for (const work of this.#work) {
      if (!concerns(work.scope, name)) continue;
      await (work.running ??= this.#finish(work));
    }
  }

  async #finish(work: Work): Promise<void> {
    try {
      await work.finish();
      this.#work = this.#work.filter((other) => other !== work);
    } finally {
      work.running = undefined;
    }
  }
}

/** Whether one of two names is the other, or the database of it. */
function concerns(scope: string, name: string): boolean {
  return scope === name || name.startsWith(`${scope}.`) || scope.startsWith(`${name}.`);
}
