/**
 * The log in memory that `getLog` shows: the latest lines, each at most so long,
 * so that a server that logs for a year holds no more than one that logs for an hour.
 */

/** Lines a ring keeps; MongoDB's number. */
const CAPACITY = 1024;
/** Characters of one line; MongoDB cuts attributes at 10 KB. */
const MAX_LINE = 10_240;

/** The latest lines of a log. */
export class LogRing {
  private readonly ring: string[] = [];
  private written = 0;

  /** Number of lines ever written. */
  get total(): number {
    return this.written;
  }

  /** Adds a line, without its line break. */
  write(line: string): void {
    this.ring[this.written % CAPACITY] = line.length > MAX_LINE ? line.slice(0, MAX_LINE) : line;
    this.written++;
  }

  /** The lines that are left, oldest first. */
  lines(): string[] {
    const oldest = this.written > CAPACITY ? this.written % CAPACITY : 0;
    return [...this.ring.slice(oldest), ...this.ring.slice(0, oldest)];
  }
}

/** The logs of a server by the names that getLog knows. */
export interface ServerLogs {
  readonly global: LogRing;
  readonly startupWarnings: LogRing;
}

/** Two empty logs. */
export function newServerLogs(): ServerLogs {
  return { global: new LogRing(), startupWarnings: new LogRing() };
}
