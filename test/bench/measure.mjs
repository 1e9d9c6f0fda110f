import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const mongod = fileURLToPath(new URL("../../lib/bin/mongod", import.meta.url));
const cli = fileURLToPath(new URL("../../dist/kernel/cli/main.js", import.meta.url));

/** Middle value; of an even number of values the lower middle one. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[(sorted.length - 1) >> 1];
}

/** Milliseconds that `work` takes. */
export async function time(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/**
 * Median milliseconds of each side, rounds alternating so that both meet the
 * same machine, after so many that warm up. `prepare` runs before every measurement and isn't counted.
 * @param sides {Record<string, {prepare?: () => Promise<void>, work: () => Promise<void>}>}
 */
export async function compare(sides, rounds = 7, warmUp = 1) {
  const times = Object.fromEntries(Object.keys(sides).map((name) => [name, []]));
  for (let round = -warmUp; round < rounds; round++) {
    const order = Object.keys(sides);
    if (round % 2) order.reverse();
    for (const name of order) {
      await sides[name].prepare?.();
      const ms = await time(sides[name].work);
      if (round >= 0) times[name].push(ms); // the rounds before warm both sides up
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, values]) => [name, median(values)]));
}

/**
 * The ratio direct / router of the milliseconds that `measure` finds, on several clusters one after the other: the
 * compiler decides anew in each process what it makes fast, which moves so close a ratio by some hundredths.
 * @param measure {() => Promise<{direct: number, router: number}>}
 * @returns the median; all of them are printed
 */
export async function ratioOnClusters(measure, clusters = 5) {
  const ratios = [];
  for (let i = 0; i < clusters; i++) {
    const times = await measure();
    ratios.push(times.direct / times.router);
  }
  ratios.sort((a, b) => a - b);
  console.log(`  on ${clusters} clusters: ${ratios.map((ratio) => ratio.toFixed(2)).join(", ")}`);
  return median(ratios);
}

/** Prints one line: what, the ratio, what it is measured against, and the goal if there is one. */
export function report(what, ratio, goal) {
  const verdict = goal === undefined ? "" : `   (goal ${goal})`;
  console.log(`  ${what.padEnd(74)} ${ratio.toFixed(2)}${verdict}`);
}

/** Starts `shardlab cluster --json` in its own process, as a user would. */
export async function startCluster(args = [], stderr = "inherit") {
  const start = performance.now();
  const child = spawn(process.execPath, [cli, "cluster", "--json", ...args], {
    stdio: ["ignore", "pipe", stderr],
  });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return {
    ...JSON.parse(line),
    bootMs: performance.now() - start,
    stop: async () => {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

/** Starts a server of this folder in its own process, with the options for Node that `lib/bin/mongod` has. */
export async function startChild(file) {
  const execArgv = readFileSync(mongod, "utf8").match(/--initial-old-space-size=\d+/g);
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), { execArgv });
  const exit = once(child, "exit");
  const [{ uri }] = await Promise.race([
    once(child, "message"),
    exit.then(([code]) => Promise.reject(ended(file, code))),
  ]);
  return {
    uri,
    stop: async () => {
      child.disconnect();
      await exit;
    },
  };
}

/** Starts `lib/bin/mongod`, the shard of engine `process`. */
export async function startMongod() {
  const dbpath = await mkdtemp(join(tmpdir(), "shardlab-bench-"));
  const child = spawn(mongod, ["--port", "0", "--dbpath", dbpath], {
    env: { ...process.env, SHARDLAB_NODE: process.execPath },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  const port = await Promise.race([
    portOf(child),
    exit.then(([code]) => Promise.reject(ended("mongod", code))),
  ]);
  child.stdout.resume(); // nobody reads its log, but a full pipe would stop it
  return {
    uri: `mongodb://127.0.0.1:${port}/?directConnection=true`,
    stop: async () => {
      child.kill("SIGTERM");
      await exit;
      await rm(dbpath, { recursive: true });
    },
  };
}

async function portOf(child) {
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg, attr } = JSON.parse(line);
    if (msg === "Waiting for connections") return attr.port;
  }
}

function ended(what, code) {
  return new Error(`${what} ended with code ${code}`);
}
