/**
 * Servers that answer in random order, the same order for the same seed.
 *
 * Whatever the router sends waits its turn, some of it again before the reply is heard. One waiter after the other is
 * let go, drawn from a hat, and the next only when the first has run as far as it can.
 */
import type { Endpoint, Request } from "shardlab/protocol";

/** So long nobody has been waiting for a turn: everybody waits for somebody. */
const STUCK = 2000;

/** A hat of waiters. */
export class Turns {
  /** Commands that had to wait. */
  taken = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(private readonly random: () => number) {}

  /** Waits for a turn. */
  turn(): Promise<void> {
    this.taken += 1;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Makes a server slow. */
  readonly slow = (server: Endpoint): Endpoint => ({
    run: async (command: Request) => {
      if (this.random() < 0.8) await this.turn();
      const reply = await server.run(command);
      if (this.random() < 0.4) await this.turn();
      return reply;
    },
  });

  /**
   * Lets everybody go, one after the other, until `work` is done.
   * @throws Error when nobody goes on any more; what `work` throws
   */
  async during<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = (): void => void (isDone = true);
    work.then(done, done);
    for (let idle = 0; !isDone; idle++) {
      await new Promise((resolve) => setImmediate(resolve));
      const index = Math.floor(this.random() * this.#waiting.length);
      const [next] = this.#waiting.splice(index, 1);
      next?.();
      if (next) idle = 0;
      if (idle > STUCK) throw new Error("everybody waits for somebody");
    }
    return work;
  }
}
