/** Commands that came with a release: not found (59) before it (facts-mongos.md §3.2, §8, §9). */
import { RULES_VERSIONS } from "shardlab/router";
import { describe, expect, test } from "vitest";
import { startCluster } from "../support/cluster.js";
import { COMMANDS_SINCE } from "./rows.js";

describe.each(RULES_VERSIONS)("rules %s", (rules) => {
  test.each(Object.entries(COMMANDS_SINCE))("%s, since %s", async (command, since) => {
    const cluster = await startCluster({ rules });
    const exists = Number(rules) >= Number(since);
    const reply = await cluster.run("admin", { [command]: "test.c" });
    expect(reply.ok === 0 && reply.code === 59, JSON.stringify(reply)).toBe(!exists);
    if (!exists)
      expect(reply).toMatchObject({ codeName: "CommandNotFound", errmsg: `no such command: '${command}'` });
  });

  test("listCommands and explain know those that the release has", async () => {
    const cluster = await startCluster({ rules });
    const { commands } = await cluster.admin({ listCommands: 1 });
    for (const [command, since] of Object.entries(COMMANDS_SINCE)) {
      const exists = Number(rules) >= Number(since);
      if (!exists) expect(commands).not.toHaveProperty(command);
      const { code } = await cluster.run("test", { explain: { [command]: "c" } });
      expect(code === 59, command).toBe(!exists);
    }
  });

  test("commands that every release has, and what clients send when they connect, are there", async () => {
    const cluster = await startCluster({ rules });
    for (const command of ["hello", "ping", "buildInfo", "listDatabases", "listShards", "balancerStatus"]) {
      expect(await cluster.run("admin", { [command]: 1 })).toMatchObject({ ok: 1 });
    }
    // Their arguments are wrong, but the commands are known.
    for (const command of [
      "shardCollection",
      "split",
      "moveChunk",
      "addShard",
      "mergeChunks",
      "movePrimary",
    ]) {
      const { code } = await cluster.run("admin", { [command]: 1 });
      expect(code, command).not.toBe(59);
    }
  });

  test("a name that no release has is not found", async () => {
    const cluster = await startCluster({ rules });
    expect(await cluster.run("admin", { setKey: "test.c" })).toMatchObject({ ok: 0, code: 59 });
  });
});
