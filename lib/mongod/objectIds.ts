import type { RawValue } from "../bson/index.js";
import { objectId } from "../bson/index.js";
import type { Environment } from "../protocol/index.js";

/**
 * Makes ObjectIds for documents that come without `_id`.
 *
 * As everywhere: 4 bytes of seconds since 1970, 5 bytes that are random for this
 * process, 3 bytes of a counter. Clock and randomness are the environment's, so
 * a seeded lab makes the same ids again.
 */
export class ObjectIds {
  private readonly process = new Uint8Array(5);
  private counter: number;

  constructor(private readonly environment: Environment) {
    for (let i = 0; i < 5; i++) this.process[i] = Math.floor(environment.random() * 256);
    this.counter = Math.floor(environment.random() * 0x1000000);
  }

  /** The number that stands for this machine in the ids: the first three of the random bytes. */
  get machine(): number {
    const [a = 0, b = 0, c = 0] = this.process;
    return (a << 16) | (b << 8) | c;
  }

  /** The next id. */
  next(): RawValue {
    const bytes = new Uint8Array(12);
    const seconds = Math.floor(this.environment.now() / 1000) >>> 0;
    this.counter = (this.counter + 1) & 0xffffff;
    bytes[0] = seconds >>> 24;
    bytes[1] = seconds >>> 16;
    bytes[2] = seconds >>> 8;
    bytes[3] = seconds;
    bytes.set(this.process, 4);
    bytes[9] = this.counter >>> 16;
    bytes[10] = this.counter >>> 8;
    bytes[11] = this.counter;
    return objectId(bytes);
  }
}
