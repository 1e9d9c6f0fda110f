/**
 * The lab host never outlives the process that started it. Each test starts a
 * real parent process, ends it in one way, and looks at the process table and
 * at the ports.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MongoClient } from "mongodb";
import { afterEach, describe, expect, it } from "vitest";
import { forkHost } from "../../lib/cluster/index.js";
import { closeHosts, newHost, open } from "./hosts.js";
import { alive, listens, startNode } from "./processes.js";
import type { Program } from "./processes.js";

const programs: Program[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
  await closeHosts();
  for (const program of programs.splice(0)) {
    program.child.kill("SIGKILL");
    await program.ended;
  }
});

describe("a host ends", () => {
  it("when its channel is closed", async () => {
    const host = await newHost();
    const { info } = await open(host);
    host.close();
    await host.closed;
    expect(alive(host.pid!)).toBe(false);
    expect(await listens(info.uri)).toBe(false);
    await expect(open(host)).rejects.toMatchObject({ code: "host-gone" });
  });

  it("on SIGTERM, and requests under way are told", async () => {
    const host = await newHost();
    await open(host);
    process.kill(host.pid!, "SIGTERM");
    await host.closed;
    expect(alive(host.pid!)).toBe(false);
    await expect(open(host)).rejects.toThrow(/^the lab host process .*; start the lab again with startLab/);
  });

  it("not on SIGINT: the parent decides", async () => {
    const host = await newHost();
    const { info } = await open(host);
    process.kill(host.pid!, "SIGINT");
    await host.request("close", { lab: "lab-99" }); // a round trip after the signal
    const client = await new MongoClient(info.uri, { serverSelectionTimeoutMS: 5_000 }).connect();
    expect((await client.db("admin").command({ ping: 1 }))["ok"]).toBe(1);
    await client.close();
  });

  it("is noticed when it is killed", async () => {
    const host = await newHost();
    const asked = host.request("open", { shards: 26 });
    process.kill(host.pid!, "SIGKILL");
    await expect(asked).rejects.toMatchObject({ name: "ClusterError", code: "host-gone" });
  });

  it("also when it is in an endless loop", async () => {
    const host = await newHost(await endlessHost());
    const asked = host.request("loop").catch((reason: unknown) => reason);
    host.close();
    expect(await asked).toMatchObject({ code: "host-gone" });
    await host.closed;
    expect(alive(host.pid!)).toBe(false);
  });

  it("cannot be started from a program that is not there", async () => {
    await expect(forkHost("/nowhere/main.js")).rejects.toThrow(
      "the lab host is not built; run npm run build",
    );
  });
});

/** A host with a method that never comes back. */
async function endlessHost(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "shardlab-host-"));
  folders.push(folder);
  const program = join(folder, "main.mjs");
  const library = new URL("../../dist/lib/cluster/index.js", import.meta.url).href;
  await writeFile(
    program,
    `import { serveChannel } from ${JSON.stringify(library)};
     serveChannel({ loop: () => { for (;;); } }, async () => {});`,
  );
  return program;
}

/**
 * A script with a host of its own: does `before`, prints the host's pid and the cluster's URI, and
 * after the signal that both were looked at does `then`.
 */
function parent(then: string, before = ""): Program {
  const script = `
    import { forkHost } from "shardlab/cluster";
    const host = await forkHost();
    const { info } = await host.request("open", { shards: 1 });
    ${before}
    const alive = setInterval(() => {}, 1000);
    const seen = new Promise((resolve) => process.once("SIGUSR2", resolve));
    console.log(JSON.stringify({ pid: host.pid, uri: info.uri }));
    await seen;
    clearInterval(alive);
    ${then}`;
  const program = startNode(["--input-type=module", "-e", script]);
  programs.push(program);
  return program;
}

async function started(program: Program): Promise<{ pid: number; uri: string }> {
  const line = await program.line();
  if (line === undefined) throw new Error(`the script ended: ${program.stderr()}`);
  const told = JSON.parse(line) as { pid: number; uri: string };
  expect(alive(told.pid)).toBe(true);
  expect(await listens(told.uri)).toBe(true);
  program.child.kill("SIGUSR2");
  return told;
}

async function nothingLeft({ pid, uri }: { pid: number; uri: string }): Promise<void> {
  await expect.poll(() => alive(pid), { timeout: 10_000 }).toBe(false);
  expect(await listens(uri)).toBe(false);
}

const STAY = "setInterval(() => {}, 1000);";

describe("nothing is left behind when the parent", () => {
  it("finishes without closing anything", async () => {
    const program = parent("");
    const host = await started(program);
    expect(await program.ended).toEqual({ code: 0, signal: null }); // an idle host does not keep it alive
    await nothingLeft(host);
  });

  it("is killed", async () => {
    const program = parent(STAY);
    const host = await started(program);
    program.child.kill("SIGKILL");
    await nothingLeft(host);
  });

  it("is killed in an endless loop", async () => {
    const program = parent("for (;;);");
    const host = await started(program);
    program.child.kill("SIGKILL");
    await nothingLeft(host);
  });

  it("is killed while the host is in an endless loop", async () => {
    const script = `
      import { forkHost } from "shardlab/cluster";
      const host = await forkHost(${JSON.stringify(await endlessHost())});
      void host.request("loop").catch(() => {});
      console.log(host.pid);
      ${STAY}`;
    const program = startNode(["--input-type=module", "-e", script]);
    programs.push(program);
    const pid = Number(await program.line());
    expect(alive(pid)).toBe(true);
    program.child.kill("SIGKILL");
    await expect.poll(() => alive(pid), { timeout: 20_000 }).toBe(false);
  });

  it("crashes", async () => {
    const program = parent(`setTimeout(() => { throw new Error("a fault in the notebook"); });`);
    const host = await started(program);
    expect((await program.ended).code).toBe(1);
    await nothingLeft(host);
  });

  it("gets Ctrl-C, which reaches the whole process group", async () => {
    const program = parent(STAY);
    const host = await started(program);
    process.kill(-program.pid, "SIGINT");
    expect((await program.ended).signal).toBe("SIGINT");
    await nothingLeft(host);
  });

  it("handles Ctrl-C, goes on with its cluster, and ends later", async () => {
    const onInterrupt = `
      process.on("SIGINT", async () => {
        const { info } = await host.request("open", { shards: 1 });
        console.log(info.uri);
      });`;
    const program = parent(STAY, onInterrupt);
    const host = await started(program);
    process.kill(-program.pid, "SIGINT");
    const second = (await program.line())!;
    expect([await listens(host.uri), await listens(second)]).toEqual([true, true]);
    program.child.kill("SIGTERM");
    await nothingLeft(host);
    expect(await listens(second)).toBe(false);
  });

  it("fails to start a lab", async () => {
    const program = parent(`await host.request("open", { port: Number(new URL(info.uri).port) });`);
    const host = await started(program);
    expect((await program.ended).code).toBe(1);
    expect(program.stderr()).toContain(
      "is in use by another program; choose another port, or 0 for any free one",
    );
    await nothingLeft(host);
  });
});
