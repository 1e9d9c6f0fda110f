/**
 * What cells print and display, on its way to the session.
 *
 * `process.stdout.write` is where everything printed comes by, `console.log` too.
 * Each piece belongs to the cell whose code made it, which the async context tells
 * (interrupt.ts), also when it is late: a timer's output never lands in the next
 * cell. Pieces are sent in batches, so that a million lines are not a million
 * messages, and each cell has a limit.
 */
import { inspect } from "node:util";
import { currentRun } from "./interrupt.js";
import { inspectOptions, tidyPromises } from "./mime.js";
import type { CellOutput, MimeBundle } from "./result.js";

/** How much a cell may put out. */
export interface OutputLimits {
  /** Characters of printed text. */
  readonly text: number;
  /** Characters of displayed bundles, as JSON; figures count here. */
  readonly display: number;
}

export const defaultLimits: OutputLimits = { text: 1_000_000, display: 32_000_000 };

/** What comes is sent at once, unless something was sent within so many milliseconds … */
const batchDelay = 40;
/** … and then when that time has passed, or when this many characters wait. */
const batchSize = 64_000;

interface Used {
  text: number;
  display: number;
}

/** Collects outputs and passes them on in batches. */
export class Outputs {
  readonly #send: (cell: number, outputs: CellOutput[]) => void;
  readonly #limits: OutputLimits;
  readonly #used = new Map<number, Used>();
  #batch: CellOutput[] = [];
  #batchCell = 0;
  #batchSize = 0;
  #sentAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  /** The cell that output outside of any context is put down to. */
  current = 0;

  constructor(send: (cell: number, outputs: CellOutput[]) => void, limits: OutputLimits = defaultLimits) {
    this.#send = send;
    this.#limits = limits;
  }

  /** Takes over this process's stdout, stderr and `display`. */
  install(): void {
    Object.assign(inspect.defaultOptions, inspectOptions);
    tidyPromises();
    this.#capture(process.stdout, "stdout");
    this.#capture(process.stderr, "stderr");
    const target = { display: this.display };
    Object.defineProperty(globalThis, Symbol.for("shardlab.display"), { value: target, configurable: true });
  }

  /** The `DisplayTarget` that `display` of shardlab finds. */
  readonly display = (data: MimeBundle, options: { id?: string; update?: boolean } = {}): void => {
    const cell = this.#cell();
    const used = this.#usedBy(cell);
    let json: string;
    try {
      json = JSON.stringify(data);
    } catch (error) {
      throw new TypeError("display needs plain data, as JSON can hold it", { cause: error });
    }
    if (used.display > this.#limits.display) return;
    used.display += json.length;
    if (used.display > this.#limits.display) {
      return this.#notice(cell, `this cell displayed more than ${this.#limits.display / 1e6} MB`);
    }
    // A copy: the cell may go on changing its object.
    this.#add(cell, { type: "display", data: JSON.parse(json) as MimeBundle, ...options }, json.length);
  };

  /** Puts down text to the cell whose code is running. */
  print(name: "stdout" | "stderr", text: string): void {
    const cell = this.#cell();
    const used = this.#usedBy(cell);
    const left = this.#limits.text - used.text;
    if (left < 0) return;
    used.text += text.length;
    if (text.length <= left) return this.#addText(cell, name, text);
    this.#addText(cell, name, text.slice(0, left));
    this.#notice(cell, `this cell printed more than ${this.#limits.text / 1e6} MB`);
  }

  /** Puts down an error that no cell caught. */
  problem(cell: number, output: CellOutput): void {
    this.#add(cell, output, 0);
    this.flush();
  }

  /** The cell whose code is running. */
  #cell(): number {
    return currentRun.getStore()?.number ?? this.current;
  }

  /** Sends what waits. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#batch.length === 0) return;
    const [cell, batch] = [this.#batchCell, this.#batch];
    this.#batch = [];
    this.#batchSize = 0;
    this.#sentAt = performance.now();
    this.#send(cell, batch);
  }

  #capture(stream: NodeJS.WriteStream, name: "stdout" | "stderr"): void {
    stream.write = (chunk: string | Uint8Array, encoding?: unknown, done?: unknown): boolean => {
      const text = typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
      this.print(name, text);
      const callback = typeof encoding === "function" ? encoding : done;
      if (typeof callback === "function") queueMicrotask(callback as () => void);
      return true;
    };
  }

  #usedBy(cell: number): Used {
    let used = this.#used.get(cell);
    if (used === undefined) this.#used.set(cell, (used = { text: 0, display: 0 }));
    return used;
  }

  #notice(cell: number, what: string): void {
    this.#addText(cell, "stderr", `\n[${what}; the rest is left out]\n`);
  }

  #addText(cell: number, name: "stdout" | "stderr", text: string): void {
    if (text === "") return;
    const last = this.#batch.at(-1);
    if (this.#batchCell === cell && last?.type === "stream" && last.name === name) {
      this.#batch[this.#batch.length - 1] = { ...last, text: last.text + text };
      this.#grow(text.length);
    } else {
      this.#add(cell, { type: "stream", name, text }, text.length);
    }
  }

  #add(cell: number, output: CellOutput, size: number): void {
    if (cell !== this.#batchCell) this.flush();
    this.#batchCell = cell;
    this.#batch.push(output);
    this.#grow(size);
  }

  #grow(size: number): void {
    this.#batchSize += size;
    // A synchronous loop lets no timer fire, so the clock is asked each time.
    if (this.#batchSize >= batchSize || performance.now() - this.#sentAt > batchDelay) return this.flush();
    this.#timer ??= setTimeout(() => this.flush(), batchDelay).unref();
  }
}
