/** The lab host opens and closes labs, hands errors over, and tells who goes away. */
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { ClusterError } from "../../lib/cluster/index.js";
import { closeHosts, newHost, open } from "./hosts.js";
import { listening, listens } from "./processes.js";

afterEach(closeHosts);

describe("the host's methods", () => {
  it("open and close labs, several at once", async () => {
    const host = await newHost();
    const [first, second] = await Promise.all([
      open(host, { shards: 1 }),
      open(host, { shards: 3, rules: "4.4" }),
    ]);
    expect([first.lab, second.lab].sort()).toEqual(["lab-1", "lab-2"]);
    expect(first.info.shards).toHaveLength(1);
    expect(second.info).toMatchObject({ rules: "4.4", chunkSizeBytes: 64 * 1024 * 1024 });
    await host.request("close", { lab: first.lab });
    expect([await listens(first.info.uri), await listens(second.info.uri)]).toEqual([false, true]);
    await host.request("close", { lab: first.lab }); // once more does no harm
  });

  it("hand errors over with code and remedy", async () => {
    const host = await newHost();
    const error = await open(host, { shards: 0 }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ClusterError);
    expect(error).toMatchObject({
      code: "bad-option",
      message: "shards can't be 0; give a whole number from 1 to 26",
      remedy: "give a whole number from 1 to 26",
    });
    await expect(host.request("destroy", {})).rejects.toThrow(
      "the lab host has no method destroy; ask one of open, close, killShard, restartShard",
    );
    await expect(host.request("toString", {})).rejects.toThrow("the lab host has no method toString");
  });

  it("kill a shard of a lab and start it again, where it is a process", async () => {
    const host = await newHost();
    const [inside, outside] = await Promise.all([
      open(host, { shards: 1 }),
      open(host, { shards: 1, engine: "process" }),
    ]);
    const { uri } = outside.info.shards[0]!;
    expect(inside.info.capabilities.killShard).toBe(false);
    await expect(host.request("killShard", { lab: inside.lab, shard: "shardA" })).rejects.toMatchObject({
      message:
        'engine embedded has no processes to kill; use --engine process (in a notebook: engine: "process")',
    });
    await host.request("killShard", { lab: outside.lab, shard: "shardA" });
    expect(await listens(uri)).toBe(false);
    await host.request("restartShard", { lab: outside.lab, shard: "shardA" });
    expect(await listens(uri)).toBe(true);
    await expect(host.request("killShard", { lab: "lab-9", shard: "shardA" })).rejects.toMatchObject({
      code: "unknown-lab",
    });
  });

  it("stop waiting when the caller gives up, and keep nothing of it", async () => {
    const host = await newHost();
    const giveUp = new AbortController();
    const asked = host.request("open", { shards: 26 }, giveUp.signal);
    giveUp.abort(new Error("stopped by the student"));
    await expect(asked).rejects.toThrow("stopped by the student");
    await open(host, { shards: 1 });
    // The config server, one shard and the router of the second lab are all that listens.
    await expect.poll(() => listening(host.pid!).length).toBe(3);
  });

  it("survive a start that fails on an occupied port", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const host = await newHost();
    await expect(open(host, { port: (other.address() as AddressInfo).port })).rejects.toMatchObject({
      code: "EADDRINUSE",
    });
    await new Promise((resolve) => other.close(resolve));
    expect(await listens((await open(host)).info.uri)).toBe(true);
  });
});
