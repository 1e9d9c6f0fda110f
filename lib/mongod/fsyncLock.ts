/**
 * The lock of `fsync: {lock: true}`: while it is held, writes wait.
 *
 * Nothing else in the engine waits, so nothing else needs a queue: a write that
 * arrives while the lock is held is kept with its promise and runs, in order of
 * arrival, when the last `fsyncUnlock` lets it.
 */

/** A counted lock with those who wait for it. */
export class FsyncLock {
  private holders = 0;
  private waiting: (() => void)[] = [];

  /** How often it has been taken and not yet given back. */
  get count(): number {
    return this.holders;
  }

  /** Takes it once more. */
  lock(): void {
    this.holders++;
  }

  /** Gives it back once; at the last one, everybody who waits goes on. */
  unlock(): void {
    this.holders--;
    if (this.holders === 0) this.release();
  }

  /** Goes on when the lock is free. */
  wait(goOn: () => void): void {
    this.waiting.push(goOn);
  }

  /** Lets everybody go on, whoever holds it: the server closes. */
  release(): void {
    this.holders = 0;
    const { waiting } = this;
    this.waiting = [];
    for (const goOn of waiting) goOn();
  }
}
