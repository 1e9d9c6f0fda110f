/** The servers that clients are let loose on: our program `mongod`, a shard of an embedded cluster, a router. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Cluster } from "../../lib/cluster/index.js";
import type { Program } from "../cluster/processes.js";
import { root, startNode, startProgram } from "../cluster/processes.js";

/** A server that runs. */
export interface RunningServer {
  /** For a client that connects to this server alone. */
  readonly uri: string;
  readonly port: number;
  /** Set name, where it is a member of one. */
  readonly replSet: string | undefined;
  close(): Promise<void>;
}

/** What a client can be told to connect to, by name. */
export const servers: Readonly<Record<string, () => Promise<RunningServer>>> = {
  "lib/bin/mongod": startMongod,
  "the port of an embedded shard": startShard,
};

/** The command line, for tests that start it. */
const shardlab = path.join(root, "dist/kernel/cli/main.js");

/** The router of `shardlab cluster`, started as a user does it: two shards unless told otherwise. */
export async function startRouter(...args: string[]): Promise<RunningServer> {
  const program = startNode([shardlab, "cluster", "--seed", "7", "--json", ...args]);
  const line = await program.line();
  if (line === undefined) throw new Error(`the cluster did not start: ${program.stderr()}`);
  const { uri } = JSON.parse(line) as { uri: string };
  return {
    uri,
    port: Number(new URL(uri).port),
    replSet: undefined,
    async close() {
      program.child.kill("SIGTERM");
      await program.ended;
    },
  };
}

/** Path of our program, for harnesses that start it themselves. */
export const mongodProgram = path.join(root, "lib/bin/mongod");

/** The program, alone, on a free port. */
async function startMongod(): Promise<RunningServer> {
  const folder = mkdtempSync(path.join(tmpdir(), "shardlab-clients-"));
  const program = startProgram(mongodProgram, ["--port", "0", "--dbpath", folder], {
    SHARDLAB_NODE: process.execPath,
  });
  const port = await portOf(program);
  return {
    port,
    uri: `mongodb://127.0.0.1:${port}/?directConnection=true`,
    replSet: undefined,
    async close() {
      program.child.kill("SIGTERM");
      await program.ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The port of a mongod that has just been started, once it waits for connections. */
export async function portOf(program: Program): Promise<number> {
  for (;;) {
    const line = await program.line();
    if (line === undefined) throw new Error(`mongod ended: ${program.stderr()}`);
    const { id, attr } = JSON.parse(line) as { id: number; attr: { port: number } };
    if (id === 23016) return attr.port;
  }
}

async function startShard(): Promise<RunningServer> {
  const cluster = await Cluster.start({ shards: 1 });
  const [shard] = cluster.info.shards;
  if (!shard) throw new Error("a cluster without shards");
  return {
    port: Number(new URL(shard.uri).port),
    uri: shard.uri,
    replSet: shard.id,
    close: () => cluster.close(),
  };
}
