/**
 * The replica set that a mongod is a member of: the only one, or the only one with data (config.ts).
 *
 *     started with --replSet    replSetInitiate    replSetStepDown {force}
 *        not initiated     ──▶      primary     ──▶      secondary
 *                                      ▲                     │ the period is over (clock)
 *                                      └───── election ◀─────┘ or replSetFreeze: 0
 *
 * One member has a majority by itself: it is elected at once, and steps down
 * only by force. There is no timer; an election that is due takes place when
 * somebody next asks. Each has the next term. A member that another one's configuration makes a follower stays
 * secondary.
 */
import type { RawValue } from "../../bson/index.js";
import { DocumentWriter, fields, objectId, timestamp } from "../../bson/index.js";
import type { Environment } from "../../protocol/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import { derivedObjectId } from "../derivedObjectId.js";
import type { ReplicaSetConfig } from "./config.js";
import { checkSameSet, checkSuccessor, defaultConfig, readConfig } from "./config.js";

/** What the member is: uninitiated it is neither primary nor secondary. */
export type MemberState = "startup" | "primary" | "secondary";

/** A replica set, as its member knows it. */
export class ReplicaSet {
  private current: ReplicaSetConfig | undefined;
  private isPrimary = false;
  private electedTerm = 0;
  private electedAtMs = 0;
  /** Before then there is no election. */
  private quietUntil = 0;
  private readonly replicaSetId: RawValue;
  /** Told of every configuration and term: they outlast the server. */
  onChange: ((config: Uint8Array, term: number) => void) | undefined;

  /**
   * @param name the set's name, as on the command line
   * @param host what the server calls itself
   * @param initiated whether it begins with a configuration, as primary
   * @param configsvr whether the server is a config server
   * @param severalMembers whether a configuration may have members beside this server
   */
  constructor(
    readonly name: string,
    private readonly host: string,
    private readonly environment: Environment,
    initiated: boolean,
    readonly configsvr = false,
    private readonly severalMembers = false,
  ) {
    this.replicaSetId = derivedObjectId(environment, `${name}/${host}`);
    if (initiated) this.initiate(defaultConfig(name, host, configsvr));
  }

  /** The state at this moment; an election that is due takes place now. */
  get state(): MemberState {
    if (!this.current) return "startup";
    if (this.follows) return "secondary";
    if (!this.isPrimary && this.environment.now() >= this.quietUntil) this.elect(this.quietUntil);
    return this.isPrimary ? "primary" : "secondary";
  }

  /** Whether another member is the primary. */
  get follows(): boolean {
    return this.current !== undefined && this.current.primary !== this.current.host;
  }

  /** Whether a configuration is in force. */
  get initiated(): boolean {
    return this.current !== undefined;
  }

  /**
   * The configuration in force.
   * @throws CommandError NotYetInitialized (94)
   */
  get config(): ReplicaSetConfig {
    if (this.current) return this.current;
    throw new CommandError(ErrorCode.NotYetInitialized, "no replset config has been received");
  }

  /** Number of the latest election. */
  get term(): number {
    return this.electedTerm;
  }

  /** When the latest election was, milliseconds. */
  get electedAt(): number {
    return this.electedAtMs;
  }

  /** What drivers tell primaries apart by: later elections have greater ids. */
  get electionId(): RawValue {
    const bytes = new Uint8Array(12);
    bytes.set([0x7f, 0xff, 0xff, 0xff]);
    new DataView(bytes.buffer).setUint32(8, this.electedTerm);
    return objectId(bytes);
  }

  /** The time of the latest election, as a timestamp. */
  get electionTime(): RawValue {
    return timestamp(Math.floor(this.electedAtMs / 1000), 1);
  }

  /**
   * Takes a first configuration and becomes primary.
   * @throws CommandError AlreadyInitialized (23), InvalidReplicaSetConfig (93) for a version other than 1, and as
   * {@link readConfig}
   */
  initiate(document: Uint8Array): void {
    if (this.current) throw new CommandError(ErrorCode.AlreadyInitialized, "already initialized");
    const config = this.read(document, 0, "initiate");
    if (config.version !== 1) {
      throw new CommandError(
        ErrorCode.InvalidReplicaSetConfig,
        `Configuration used to initiate a replica set must have version 1, but found ${config.version}`,
      );
    }
    this.begin(config, 0);
  }

  /**
   * Takes the configuration of the member that is primary; an older one than it has is passed over.
   * @param term the primary's
   * @throws CommandError NewReplicaSetConfigurationIncompatible (103) where it is in another set of that name already,
   * and as {@link readConfig}
   */
  follow(document: Uint8Array, term: number): void {
    const config = this.read(document, term, "reconfig");
    const current = this.current;
    if (current) checkSameSet(current, config);
    if (current && (term < current.term || (term === current.term && config.version < current.version)))
      return;
    this.begin(config, term);
  }

  /**
   * Goes on as the member that an earlier server was, and is elected.
   * @param term the latest that it knew
   * @throws CommandError InvalidReplicaSetConfig (93), NodeNotFound (74) … for a configuration that is not of this server
   */
  resume(document: Uint8Array, term: number): void {
    this.begin(this.read(document, term, "reconfig"), term);
  }

  /** A configuration is in force from now on; the next election, if it is this member's, has the term after that. */
  private begin(config: ReplicaSetConfig, term: number): void {
    this.electedTerm = term;
    this.current = config;
    this.quietUntil = 0;
    if (!this.follows) return this.elect(this.environment.now());
    this.isPrimary = false;
    this.onChange?.(config.document, term);
  }

  /**
   * Takes another configuration.
   * @param force also where it is not primary, and whatever the version says
   * @throws CommandError NotYetInitialized (94), NotWritablePrimary (10107), and as {@link readConfig} and
   * {@link checkSuccessor}
   */
  reconfigure(document: Uint8Array, force: boolean): void {
    if (!this.current) {
      throw new CommandError(
        ErrorCode.NotYetInitialized,
        "Node not yet initialized; use the replSetInitiate command",
      );
    }
    if (!force && this.state !== "primary") {
      throw new CommandError(
        ErrorCode.NotWritablePrimary,
        "replSetReconfig should only be run on a writable PRIMARY. Current state SECONDARY;",
      );
    }
    const next = this.read(document, this.electedTerm, "reconfig");
    if (force && next.version <= this.current.version) {
      // A forced configuration must be newer than any that the others could have; here it is enough to be newer.
      this.current = this.read(withVersion(document, this.current.version + 1), this.electedTerm, "reconfig");
    } else {
      if (!force) checkSuccessor(this.current, next, this.name);
      this.current = next;
    }
    this.onChange?.(this.current.document, this.electedTerm);
  }

  /**
   * Stops being primary for a while.
   * @throws CommandError NotWritablePrimary (10107), ExceededTimeLimit (262) without force: nobody could take over
   */
  stepDown(seconds: number, force: boolean): void {
    if (this.state !== "primary") {
      throw new CommandError(ErrorCode.NotWritablePrimary, "not primary so can't step down");
    }
    const now = this.environment.now();
    if (!force) {
      throw new CommandError(
        ErrorCode.ExceededTimeLimit,
        `No electable secondaries caught up as of ${new Date(now).toISOString().replace("Z", "+00:00")}` +
          "Please use the replSetStepDown command with the argument {force: true} to force node to step down.",
      );
    }
    this.isPrimary = false;
    this.quietUntil = now + seconds * 1000;
  }

  /**
   * Keeps a secondary from being elected for a while; 0 ends that.
   * @throws CommandError NotSecondary (95) for a primary
   */
  freeze(seconds: number): void {
    const now = this.environment.now();
    if (this.state === "primary") {
      throw new CommandError(
        ErrorCode.NotSecondary,
        "cannot freeze node when primary or running for election. state: Primary",
      );
    }
    this.quietUntil = seconds === 0 ? now : Math.max(this.quietUntil, now + seconds * 1000);
  }

  private elect(at: number): void {
    this.isPrimary = true;
    this.electedTerm++;
    this.electedAtMs = at;
    // As primary the member puts its term into the configuration.
    if (!this.current) return;
    this.current = this.read(this.current.document, this.electedTerm, "reconfig");
    this.onChange?.(this.current.document, this.electedTerm);
  }

  private read(document: Uint8Array, term: number, purpose: "initiate" | "reconfig"): ReplicaSetConfig {
    return readConfig(document, {
      setName: this.name,
      host: this.host,
      configsvr: this.configsvr,
      severalMembers: this.severalMembers,
      replicaSetId: this.current?.replicaSetId ?? this.replicaSetId,
      term,
      purpose,
    });
  }
}

function withVersion(document: Uint8Array, version: number): Uint8Array {
  const writer = new DocumentWriter();
  for (const [name, value] of fields(document)) if (name !== "version") writer.field(name, value);
  return writer.int32("version", version).finish();
}
