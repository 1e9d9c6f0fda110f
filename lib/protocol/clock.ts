/**
 * The logical clock of a cluster, or of a member of a replica set.
 *
 * Every reply of a router, and of a member to its clients, carries `$clusterTime` and `operationTime`
 * (facts-mongos.md §0): timestamps of (seconds, counter) that never go back.
 * The seconds follow the wall clock, the counter orders events inside one
 * second. Drivers send the highest `$clusterTime` they saw back with the next
 * command; with one router nobody can know a later one, so it is not read.
 *
 * Catalog documents (chunk history, collection timestamps) and the timestamps
 * that a server fills in use the same clock.
 */
import type { RawValue } from "../bson/index.js";
import { allocate } from "../bson/bytes.js";
import { binary, DocumentWriter, timestamp, writeInt32 } from "../bson/index.js";
import type { Environment, Reply } from "./endpoint.js";

/** The signature of a cluster without authentication: a zero hash, key 0. */
const UNSIGNED: Uint8Array = new DocumentWriter()
  .field("hash", binary(new Uint8Array(20)))
  .int64("keyId", 0n)
  .finish();

/** Monotonic timestamps. */
export class LogicalClock {
  readonly #environment: Environment;
  #seconds = 0;
  #increment = 0;
  /** What {@link stamp} appends, and the time that is in it. */
  #tail = new Uint8Array(0);
  #tailSeconds = 0;
  #tailIncrement = 0;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** A new timestamp, later than all before. */
  tick(): RawValue {
    this.advance();
    return this.now();
  }

  /** Moves on by one event. */
  advance(): void {
    const seconds = Math.floor(this.#environment.now() / 1000);
    if (seconds > this.#seconds) {
      this.#seconds = seconds;
      this.#increment = 0;
    }
    this.#increment += 1;
  }

  /** The time of the latest event. */
  now(): RawValue {
    return timestamp(this.#seconds, this.#increment);
  }

  /** Makes the tail say the present time: most replies follow each other without a tick between them. */
  #stampTail(): void {
    if (this.#tailSeconds === this.#seconds && this.#tailIncrement === this.#increment) return;
    this.#tailSeconds = this.#seconds;
    this.#tailIncrement = this.#increment;
    const now = this.now();
    this.#tail = new DocumentWriter()
      .document(
        "$clusterTime",
        new DocumentWriter().field("clusterTime", now).document("signature", UNSIGNED).finish(),
      )
      .field("operationTime", now)
      .finish()
      .slice(4);
  }

  /**
   * A reply with `$clusterTime` and `operationTime` appended.
   * @param reply not modified
   */
  stamp({ body }: Reply): Reply {
    if (this.#seconds === 0) this.advance();
    this.#stampTail();
    const tail = this.#tail;
    // The two documents joined: the first without its end mark, the second without its length.
    const joined = allocate(body.length + tail.length - 1);
    joined.set(body);
    joined.set(tail, body.length - 1);
    writeInt32(joined, 0, joined.length);
    return { body: joined };
  }
}
