/**
 * `shardlab cluster`: a cluster in this process, until somebody ends it.
 *
 * With --json stdout carries exactly one line, written when clients can
 * connect, so that a program can start a cluster, read one line and go on.
 */
import { parseArgs } from "node:util";
import type { Cluster, ClusterInfo, ClusterOptions } from "shardlab/cluster";
import type { Command } from "./command.js";
import { CliError, ExitCode, wrongOptions } from "./command.js";

const usage = `Usage: shardlab cluster [OPTIONS]

Boots a sharded cluster in memory, prints how to connect, and runs until
Ctrl-C (SIGINT) or SIGTERM; then it exits with 0.

Options
  --shards N         number of shards, 1 to 26 (default 2)
  --engine NAME      where shards come from (default: the environment variable
                     SHARDLAB_ENGINE, else embedded)
                       embedded  in this process
                       process   our mongod program, one process a shard
                       mongod    MongoDB's: SHARDLAB_MONGOD, on the PATH, or in
                                 mongodb-memory-server's cache
  --download         engine mongod may download MongoDB if none is found
                     (or set SHARDLAB_DOWNLOAD=1)
  --rules VERSION    MongoDB version whose sharding rules apply: 2.4, 4.2, 4.4,
                     5.0, 6.0, 7.0 or 8.0 (default 8.0)
  --port N           port of the router on 127.0.0.1; 0 takes any free one (default 0)
  --seed N           repeats every random choice of the cluster (default 1)
  --chunk-size SIZE  largest chunk, from 1KB to 1GB, for example 64KB
                     (default 128MB, under rules before 6.0 64MB)
  --json             print one line of JSON instead of the banner:
                     {"uri","engine","rules","shards":[{"id","uri"}],"config":{"uri"}}

Exit codes: 0 ended by a signal, 1 the cluster could not start, 2 a wrong option.
`;

export const command: Command = {
  name: "cluster",
  summary: "boot a sharded cluster and print how to connect",
  usage,

  async run(args) {
    const { json, options } = readArguments(args);
    // Heard from the first moment: a signal during the start must not leave half a cluster.
    const signals = listenForSignals();
    try {
      const cluster = await start(options);
      process.stdout.write(
        json ? `${JSON.stringify(summary(cluster.info))}\n` : await describe(cluster.info),
      );
      await signals.first;
      await cluster.close();
    } finally {
      signals.forget();
    }
    return ExitCode.ok;
  },
};

/** Starts the cluster; what can't work is a usage error, what didn't work is a failure. */
async function start(options: ClusterOptions): Promise<Cluster> {
  const { Cluster, ClusterError, ClusterErrorCode } = await import("shardlab/cluster");
  try {
    return await Cluster.start(options);
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error;
    const usageCodes: string[] = [ClusterErrorCode.badOption, ClusterErrorCode.unknownEngine];
    throw new CliError(error.message, usageCodes.includes(error.code) ? ExitCode.usage : ExitCode.failed);
  }
}

function readArguments(args: string[]): { json: boolean; options: ClusterOptions } {
  let values;
  try {
    ({ values } = parseArgs({
      args,
      options: {
        shards: { type: "string" },
        engine: { type: "string" },
        rules: { type: "string" },
        port: { type: "string" },
        seed: { type: "string" },
        "chunk-size": { type: "string" },
        download: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
      },
    }));
  } catch (error) {
    throw wrongOptions("cluster", error);
  }
  // The cluster itself checks what the values mean; TypeScript's word for them is not the user's.
  const options: ClusterOptions = {
    ...(values.shards !== undefined && { shards: number("--shards", values.shards) }),
    ...(values.engine !== undefined && { engine: values.engine as ClusterOptions["engine"] }),
    ...(values.rules !== undefined && { rules: values.rules as ClusterOptions["rules"] }),
    ...(values.port !== undefined && { port: number("--port", values.port) }),
    ...(values.seed !== undefined && { seed: number("--seed", values.seed) }),
    ...(values["chunk-size"] !== undefined && { chunkSize: values["chunk-size"] }),
    ...(values.download && { download: true }),
  };
  return { json: values.json, options };
}

/** A number as written; whether it is in range is the cluster's to say. */
function number(option: string, text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && !Number.isNaN(value)) return value;
  throw new CliError(`${option} can't be "${text}"; give a whole number`);
}

/** Waits for the first SIGINT, SIGTERM or SIGHUP. */
function listenForSignals(): { first: Promise<void>; forget: () => void } {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  let heard = (): void => undefined;
  const first = new Promise<void>((resolve) => (heard = resolve));
  for (const signal of signals) process.on(signal, heard);
  const watch = startedByNpx() ? watchParent(heard) : undefined;
  return {
    first,
    forget: () => {
      clearInterval(watch);
      for (const signal of signals) process.off(signal, heard);
    },
  };
}

/** Whether `npx shardlab` is what started this process, with a shell between them. */
function startedByNpx(): boolean {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script } = process.env;
  return event === "npx" && /^'?shardlab\b/.test(script ?? "");
}

/** A signal for npx ends npx and its shell, and doesn't reach us: a parent that is gone stands for it. */
function watchParent(gone: () => void): NodeJS.Timeout {
  const parent = process.ppid;
  return setInterval(() => {
    if (process.ppid !== parent) gone();
  }, 250).unref();
}

/** The line of --json. */
function summary({ uri, engine, rules, shards, config }: ClusterInfo): object {
  return { uri, engine, rules, shards, config };
}

async function describe(info: ClusterInfo): Promise<string> {
  const { banner } = await import("shardlab/cluster");
  const servers = [...info.shards, { id: "config", uri: info.config.uri }];
  const lines = servers.map(({ id, uri }) => `  ${id.padEnd(10)}${uri}`);
  return `${banner(info)}
  ${"router".padEnd(10)}${info.uri}
${lines.join("\n")}
Ctrl-C ends it.
`;
}
