/**
 * Routers that die in the middle of something, over servers that live on; and servers that are gone for a while.
 *
 *     router A ─ fuse ─▶ shardA, shardB, config        the n-th command blows the fuse: A never hears of anything again
 *     router B ────────▶ the same servers              starts afterwards, and has to find everything in order
 */
import { fromDocument } from "shardlab/bson";
import { Mongod } from "shardlab/mongod";
import type { Endpoint, Reply, Request } from "shardlab/protocol";
import { EndpointUnreachableError, isOk, request } from "shardlab/protocol";
import type { RulesVersion } from "shardlab/router";
import { Router } from "shardlab/router";
import type { Doc } from "./cluster.js";
import { seeded } from "./cluster.js";

/** Whether the command at which it happens still runs. */
export type Moment = "before" | "after";

/** What happens at the n-th command of a router. */
class Fuse {
  commands = 0;
  /** The command whose turn it was. */
  blownBy = "";
  readonly blown: Promise<void>;
  #at = Infinity;
  #moment: Moment = "before";
  #kind: "router" | "server" = "router";
  #gone: Fused | undefined;
  #blow!: () => void;

  constructor() {
    this.blown = new Promise((resolve) => (this.#blow = resolve));
  }

  /** From now on the n-th command kills the router, or makes the server that gets it unreachable until {@link heal}. */
  arm(at: number, moment: Moment, kind: "router" | "server"): void {
    this.commands = 0;
    this.#at = at;
    this.#moment = moment;
    this.#kind = kind;
  }

  get hasBlown(): boolean {
    return this.blownBy !== "";
  }

  /** Nothing is going to happen any more; a server that was gone is there again. */
  heal(): void {
    this.#at = Infinity;
    if (this.#gone) this.#gone.breaks += 1;
    this.#gone = undefined;
  }

  async run(server: Fused, command: Request): Promise<Reply> {
    if (this.#gone === server) throw new EndpointUnreachableError(server.name, undefined, false);
    if (this.hasBlown && this.#kind === "router") return never();
    if (++this.commands !== this.#at) {
      const reply = await server.inner.run(command);
      return this.hasBlown && this.#kind === "router" ? never() : reply;
    }
    this.blownBy = `${command.command} to ${server.name}`;
    this.#blow();
    if (this.#kind === "server") this.#gone = server;
    if (this.#moment === "after") await server.inner.run(command);
    if (this.#kind === "router") return never();
    throw new EndpointUnreachableError(server.name, undefined, this.#moment === "after");
  }
}

const never = (): Promise<never> => new Promise(() => undefined);

class Fused implements Endpoint {
  breaks = 0;

  constructor(
    readonly name: string,
    readonly inner: Endpoint,
    readonly fuse: Fuse,
  ) {}

  run(command: Request): Promise<Reply> {
    return this.fuse.run(this, command);
  }
}

/** A router and its fuse. */
export interface Driven {
  readonly fuse: Fuse;
  run(db: string, command: Doc): Promise<Doc>;
  ok(db: string, command: Doc): Promise<Doc>;
  admin(command: Doc): Promise<Doc>;
  find(ns: string): Promise<Doc[]>;
}

/** Shards and a config server, without a router. */
export class Servers {
  readonly shards = new Map<string, Mongod>();
  readonly config: Mongod;
  readonly #environment;
  readonly #rules: RulesVersion;
  #added = false;

  constructor(shards = 2, rules: RulesVersion = "8.0") {
    let time = Date.UTC(2026, 0, 1);
    this.#environment = { now: () => (time += 1), random: seeded(7) };
    this.#rules = rules;
    for (let i = 0; i < shards; i++) {
      const name = `shard${String.fromCharCode(65 + i)}`;
      const host = `127.0.0.1:${27018 + i}`;
      this.shards.set(name, new Mongod({ environment: this.#environment, host, replSet: name }));
    }
    this.config = new Mongod({
      environment: this.#environment,
      host: "127.0.0.1:27100",
      replSet: "config",
    });
  }

  /** Starts a router on these servers. */
  async router(): Promise<Driven> {
    const fuse = new Fuse();
    const names = [...this.shards.keys()];
    const fused = new Map(
      names.map((name, i) => [
        `${name}/127.0.0.1:${27018 + i}`,
        new Fused(name, this.shards.get(name)!, fuse),
      ]),
    );
    const router = new Router({
      environment: this.#environment,
      config: new Fused("config", this.config, fuse),
      rules: this.#rules,
      host: "127.0.0.1:27017",
      connect: (connectionString) => fused.get(connectionString)!,
    });
    await router.start();
    const driven = driver(router, fuse);
    if (!this.#added) for (const host of fused.keys()) await driven.admin({ addShard: host });
    this.#added = true;
    return driven;
  }

  /** A command straight to a shard. */
  async onShard(shard: string, db: string, command: Doc): Promise<Doc> {
    return fromDocument((await this.shards.get(shard)!.run(request(db, command))).body) as Doc;
  }

  /** `_id` values of a collection by shard. */
  async idsByShard(db: string, name: string): Promise<Record<string, unknown[]>> {
    const found: Record<string, unknown[]> = {};
    for (const shard of this.shards.keys()) {
      const { cursor } = await this.onShard(shard, db, { find: name, sort: { _id: 1 }, batchSize: 100_000 });
      found[shard] = (cursor as { firstBatch: Doc[] }).firstBatch.map(({ _id }) => _id);
    }
    return found;
  }

  /** Names of the collections of a database by shard. */
  async collectionsByShard(db: string): Promise<Record<string, string[]>> {
    const found: Record<string, string[]> = {};
    for (const shard of this.shards.keys()) {
      const { cursor } = await this.onShard(shard, db, { listCollections: 1, nameOnly: true });
      found[shard] = (cursor as { firstBatch: { name: string }[] }).firstBatch.map(({ name }) => name).sort();
    }
    return found;
  }
}

function driver(router: Router, fuse: Fuse): Driven {
  const run = async (db: string, command: Doc): Promise<Doc> =>
    fromDocument((await router.run(request(db, command))).body) as Doc;
  const ok = async (db: string, command: Doc): Promise<Doc> => {
    const reply = await router.run(request(db, command));
    const decoded = fromDocument(reply.body) as Doc;
    if (!isOk(reply)) {
      throw new Error(
        `${Object.keys(command)[0]} failed: ${String(decoded["code"])} ${String(decoded["errmsg"])}`,
      );
    }
    return decoded;
  };
  return {
    fuse,
    run,
    ok,
    admin: (command) => ok("admin", command),
    async find(ns) {
      const dot = ns.indexOf(".");
      const { cursor } = await ok(ns.slice(0, dot), {
        find: ns.slice(dot + 1),
        sort: { _id: 1, x: 1 },
        batchSize: 100_000,
      });
      return (cursor as { firstBatch: Doc[] }).firstBatch;
    },
  };
}
