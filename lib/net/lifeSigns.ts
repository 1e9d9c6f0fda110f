/**
 * Whether a server still lives.
 *
 * A process that is killed closes its sockets, and everybody knows. One that
 * hangs — stopped, swapped out, behind a dead network — says nothing at all, and
 * a request to it would wait for ever. So, while requests are under way and
 * nothing has come from the server for a while, a fresh connection asks `hello`:
 *
 *     up ── nothing heard for `silenceMS` ──► hello ── answered within `silenceMS` ──► up
 *                                               └───── not ──► down: requests fail, later ones at once
 *     down ── hello every `silenceMS`, each given that long ── answered ──► up
 *
 * A server that works long on one request may be silent, so the time is long:
 * MongoDB's own monitors take 10 s between two looks and 10 s until they give up.
 */
export interface LifeSignsOptions {
  /** How long a server may be silent until it is asked, and then until it is given up; milliseconds. */
  readonly silenceMS: number;
  /** Whether requests wait for the server. */
  readonly isAwaited: () => boolean;
  /** Asks on a fresh connection; rejects where nothing comes back within so many milliseconds. */
  readonly ask: (timeoutMS: number) => Promise<unknown>;
  /** The server has been given up. */
  readonly onSilent: () => void;
}

/** Watches one server. Its timers keep no process alive. */
export class LifeSigns {
  readonly #options: LifeSignsOptions;
  #heardAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #down = false;
  #ended = false;

  constructor(options: LifeSignsOptions) {
    this.#options = options;
  }

  /** The server was given up and has not answered since. */
  get down(): boolean {
    return this.#down;
  }

  /** Something has come from the server. */
  heard(): void {
    this.#heardAt = performance.now();
    this.#down = false;
  }

  /** A request is on its way. */
  expecting(): void {
    if (this.#timer || this.#ended) return;
    this.#heardAt = performance.now();
    this.#lookLater();
  }

  /** No more looks. */
  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #lookLater(): void {
    this.#timer = setTimeout(() => void this.#look(), this.#options.silenceMS).unref();
  }

  async #look(): Promise<void> {
    const { silenceMS, isAwaited, ask, onSilent } = this.#options;
    if (!this.#down && !isAwaited()) {
      this.#timer = undefined;
      return;
    }
    const silent = performance.now() - this.#heardAt >= silenceMS;
    if (this.#down || silent) {
      try {
        await ask(silenceMS);
        this.heard();
      } catch {
        // Unless something came in on another connection meanwhile.
        if (!this.#down && performance.now() - this.#heardAt >= silenceMS) {
          this.#down = true;
          onSilent();
        }
      }
    }
    if (!this.#ended) this.#lookLater();
  }
}
