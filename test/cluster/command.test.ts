/** `shardlab cluster` as its users meet it: a process, its output and its exit code. */
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { MongoClient } from "mongodb";
import { afterEach, describe, expect, it, vi } from "vitest";
import { command } from "../../kernel/cli/cluster.js";
import { CliError } from "../../kernel/cli/command.js";
import type { Program } from "./processes.js";
import { alive, listens, startNode, startProgram } from "./processes.js";

const programs: Program[] = [];
afterEach(async () => {
  for (const program of programs.splice(0)) {
    program.child.kill("SIGKILL");
    await program.ended;
  }
});

function shardlab(args: string[], env: NodeJS.ProcessEnv = {}): Program {
  const program = startNode(["dist/kernel/cli/main.js", "cluster", ...args], env);
  programs.push(program);
  return program;
}

interface Summary {
  uri: string;
  engine: string;
  rules: string;
  shards: { id: string; uri: string }[];
  config: { uri: string };
}

describe("shardlab cluster --json", () => {
  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "prints one line when ready, runs until %s, exits with 0",
    async (signal) => {
      const program = shardlab(["--shards", "3", "--json", "--seed", "5", "--rules", "7.0"]);
      const summary = JSON.parse((await program.line())!) as Summary;
      expect(summary).toMatchObject({ engine: "embedded", rules: "7.0" });
      expect(Object.keys(summary)).toEqual(["uri", "engine", "rules", "shards", "config"]);
      expect(summary.shards.map((shard) => shard.id)).toEqual(["shardA", "shardB", "shardC"]);
      const uris = [summary.uri, summary.config.uri, ...summary.shards.map((shard) => shard.uri)];
      for (const uri of uris) expect(await listens(uri)).toBe(true);

      const client = await new MongoClient(summary.uri, { serverSelectionTimeoutMS: 5_000 }).connect();
      await client.db("library").collection("loans").insertOne({ memberId: 7 });
      expect(await client.db("library").collection("loans").countDocuments()).toBe(1);

      program.child.kill(signal); // with a client connected
      expect(await program.ended).toEqual({ code: 0, signal: null });
      await client.close();
      expect(await program.line()).toBeUndefined();
      expect(program.stderr()).toBe("");
      expect(alive(program.pid)).toBe(false);
      for (const uri of uris) expect(await listens(uri)).toBe(false);
    },
  );

  it.skipIf(process.platform === "win32")("ends with the shell that npx puts around it", async () => {
    const shell = startProgram(
      "/bin/sh",
      ["-c", `'${process.execPath}' dist/kernel/cli/main.js cluster --json; :`],
      {
        npm_lifecycle_event: "npx",
        npm_lifecycle_script: "'shardlab' 'cluster' '--json'",
      },
    );
    programs.push(shell);
    const { uri } = JSON.parse((await shell.line())!) as Summary;
    shell.child.kill("SIGTERM"); // npx hands it to its shell, which keeps it for itself
    await vi.waitFor(async () => expect(await listens(uri)).toBe(false), { timeout: 5_000 });
  });

  it("ends with 0 also when the signal comes during the start, and leaves nothing open", async () => {
    const output: string[] = [];
    const write = vi
      .spyOn(process.stdout, "write")
      .mockImplementation((text) => output.push(String(text)) > 0);
    try {
      const running = command.run(["--json"]);
      process.emit("SIGTERM", "SIGTERM");
      expect(await running).toBe(0);
    } finally {
      write.mockRestore();
    }
    const { uri } = JSON.parse(output.join("")) as Summary;
    expect(await listens(uri)).toBe(false);
    expect(process.listenerCount("SIGHUP")).toBe(0);
  });
});

describe("shardlab cluster", () => {
  it("says honestly what runs and how to connect", async () => {
    const program = shardlab(["--chunk-size", "64KB"]);
    expect(await program.line()).toBe(
      "Shardlab: 2 shards, engine embedded (simulated router and shards in memory, no MongoDB server), rules 8.0, seed 1, chunk size scaled to 64 KB",
    );
    expect(await program.line()).toMatch(/^ {2}router +mongodb:\/\/127\.0\.0\.1:\d+\/$/);
    expect(await program.line()).toMatch(
      /^ {2}shardA +mongodb:\/\/127\.0\.0\.1:\d+\/\?directConnection=true$/,
    );
    program.child.kill("SIGINT");
    expect((await program.ended).code).toBe(0);
  });

  it("takes the port it is told", async () => {
    const free = createServer();
    await new Promise<void>((resolve) => free.listen(0, "127.0.0.1", resolve));
    const { port } = free.address() as AddressInfo;

    const refused = shardlab(["--port", String(port)]);
    expect((await refused.ended).code).toBe(1);
    expect(refused.stderr()).toBe(
      `shardlab: port ${port} on 127.0.0.1 is in use by another program; choose another port, or 0 for any free one\n`,
    );

    await new Promise((resolve) => free.close(resolve));
    const program = shardlab(["--port", String(port), "--json"]);
    expect((JSON.parse((await program.line())!) as Summary).uri).toBe(`mongodb://127.0.0.1:${port}/`);
  });

  it.each<[string[], number, string | RegExp]>([
    [["--shards", "0"], 2, "shards can't be 0; give a whole number from 1 to 26"],
    [["--shards", "27"], 2, "shards can't be 27; give a whole number from 1 to 26"],
    [["--shards", "two"], 2, `--shards can't be "two"; give a whole number`],
    [["--shards", ""], 2, `--shards can't be ""; give a whole number`],
    [["--port", "70000"], 2, "port can't be 70000; give a whole number from 0 to 65535"],
    [["--rules", "3.6"], 2, `no rules for MongoDB "3.6"; choose from 2.4, 4.2, 4.4, 5.0, 6.0, 7.0, 8.0`],
    [["--chunk-size", "big"], 2, `chunkSize can't be "big"; give a size from 1KB to 1GB, for example "64KB"`],
    [
      ["--engine", "docker"],
      2,
      /^unknown engine "docker"; choose from embedded, process, mongod, uri, runner/,
    ],
    [["--engine", "uri"], 1, /^engine uri is not available yet in this version; use --engine embedded/],
    [["--shard", "2"], 2, "Unknown option '--shard'; `shardlab cluster --help` lists the options"],
    [["--shards"], 2, /^Option '--shards <value>' argument missing; `shardlab cluster --help`/],
    [["3"], 2, /^Unexpected argument '3'; `shardlab cluster --help`/],
  ])("refuses %j in one line", async (args, code, message) => {
    const error = await command.run(args).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CliError);
    expect(error).toMatchObject({ exitCode: code, message: expect.stringMatching(message) as string });
    expect((error as CliError).message).not.toContain("\n");
  });

  it("prints a refusal as one line on stderr and exits with 2", async () => {
    const program = shardlab(["--shards", "0", "--json"]);
    expect((await program.ended).code).toBe(2);
    expect(program.stderr()).toBe("shardlab: shards can't be 0; give a whole number from 1 to 26\n");
    expect(await program.line()).toBeUndefined();
  });

  it("takes the engine from SHARDLAB_ENGINE, and --engine before it", async () => {
    const refused = shardlab([], { SHARDLAB_ENGINE: "uri" });
    expect((await refused.ended).code).toBe(1);
    expect(refused.stderr()).toMatch(/^shardlab: engine uri is not available yet/);
    const program = shardlab(["--engine", "embedded", "--json"], { SHARDLAB_ENGINE: "uri" });
    expect(JSON.parse((await program.line())!)).toMatchObject({ engine: "embedded" });
  });
});
