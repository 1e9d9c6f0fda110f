import { UUID } from "bson";
import { describe, expect, it } from "vitest";
import { replyDocument, request } from "../../lib/protocol/index.js";
import { TestMongod } from "./support.js";

describe("the handshake", () => {
  it("of a standalone says it can be written to, in the new words and the old", async () => {
    const t = new TestMongod();
    const hello = await t.run({ hello: 1, helloOk: true }, "admin");
    expect(hello).toMatchObject({
      isWritablePrimary: true,
      helloOk: true,
      maxBsonObjectSize: 16777216,
      maxMessageSizeBytes: 48000000,
      maxWriteBatchSize: 100000,
      localTime: new Date(t.environment.time),
      logicalSessionTimeoutMinutes: 30,
      minWireVersion: 0,
      maxWireVersion: 27,
      ok: 1,
    });
    expect(hello).not.toHaveProperty("setName");
    expect(hello).not.toHaveProperty("topologyVersion");
    for (const name of ["isMaster", "ismaster"])
      expect(await t.run({ [name]: 1 }, "admin")).toMatchObject({ ismaster: true });
  });

  it("of a shard is that of a replica set's only member", async () => {
    const t = new TestMongod({ replSet: "shardA" });
    expect(await t.run({ hello: 1 }, "admin")).toMatchObject({
      setName: "shardA",
      setVersion: 1,
      hosts: ["127.0.0.1:27018"],
      me: "127.0.0.1:27018",
      primary: "127.0.0.1:27018",
      isWritablePrimary: true,
      secondary: false,
    });
    expect(await t.run({ replSetGetStatus: 1 }, "admin")).toMatchObject({
      set: "shardA",
      myState: 1,
      members: [{ name: "127.0.0.1:27018", stateStr: "PRIMARY", self: true }],
    });
    expect(await new TestMongod().reply({ replSetGetStatus: 1 }, "admin")).toMatchObject({ code: 76 });
  });

  it("tells the connection its number and address", async () => {
    const t = new TestMongod();
    const client = { connectionId: 7, address: "127.0.0.1:5555" };
    const ask = async (command: object) =>
      replyDocument(await t.mongod.run(request("admin", command, undefined, client)));
    expect(await ask({ hello: 1 })).toMatchObject({ connectionId: 7 });
    expect(await ask({ whatsmyuri: 1 })).toEqual({ you: "127.0.0.1:5555", ok: 1 });
  });
});

describe("what shells and Compass ask for", () => {
  it("says honestly what this is", async () => {
    const t = new TestMongod();
    const info = await t.run({ buildInfo: 1 }, "admin");
    expect(info["version"]).toMatch(/^8\.2\.\d+-shardlab$/);
    expect(info["versionArray"].slice(0, 2)).toEqual([8, 2]);
    expect(info["modules"]).toEqual([expect.stringContaining("Shardlab embedded engine")]);
  });

  it("is answered in the shape they need", async () => {
    const t = new TestMongod();
    expect(await t.run({ ping: 1 }, "admin")).toEqual({ ok: 1 });
    expect(await t.run({ getLog: "startupWarnings" }, "admin")).toMatchObject({ log: [] });
    expect(await t.reply({ getLog: "nonsense" }, "admin")).toMatchObject({ ok: 0 });
    expect(await t.run({ connectionStatus: 1, showPrivileges: true }, "admin")).toMatchObject({
      authInfo: { authenticatedUsers: [], authenticatedUserPrivileges: [] },
    });
    expect(await t.run({ hostInfo: 1 }, "admin")).toMatchObject({
      system: { hostname: "127.0.0.1:27018" },
      os: {},
    });
    expect(await t.run({ getCmdLineOpts: 1 }, "admin")).toMatchObject({ argv: ["mongod"], parsed: {} });
    expect(await t.run({ getParameter: 1, featureCompatibilityVersion: 1 }, "admin")).toEqual({
      featureCompatibilityVersion: { version: "8.2" },
      ok: 1,
    });
    expect(Object.keys(await t.run({ getParameter: "*" }, "admin")).length).toBeGreaterThan(3);
    expect(await t.reply({ getParameter: 1, nonsense: 1 }, "admin")).toMatchObject({ code: 72 });
  });

  it("counts commands and time", async () => {
    const t = new TestMongod();
    await t.insert("c", { _id: 1 });
    await t.find("c");
    t.environment.time += 5000;
    expect(await t.run({ serverStatus: 1 }, "admin")).toMatchObject({
      process: "mongod",
      uptime: 5,
      opcounters: { insert: 1, query: 1, update: 0, delete: 0 },
    });
  });

  it("lets sessions begin and end", async () => {
    const t = new TestMongod();
    const { id } = await t.run({ startSession: 1 }, "admin");
    expect(id.id).toBeInstanceOf(UUID);
    expect(await t.run({ refreshSessions: [id] }, "admin")).toEqual({ ok: 1 });
    expect(await t.run({ endSessions: [id] }, "admin")).toEqual({ ok: 1 });
    expect(await t.run({ killSessions: [id] }, "admin")).toEqual({ ok: 1 });
  });
});

describe("a command", () => {
  it("that does not exist is refused by name", async () => {
    const t = new TestMongod();
    expect(await t.reply({ foo: 1 })).toEqual({
      ok: 0,
      errmsg: "no such command: 'foo'",
      code: 59,
      codeName: "CommandNotFound",
    });
  });

  it("is refused after the server was closed", async () => {
    const t = new TestMongod();
    await t.insert("c", { _id: 1 });
    t.mongod.close();
    expect(await t.reply({ find: "c" })).toMatchObject({ ok: 0, code: 91 });
  });

  it("refuses a broken body, a bad maxTimeMS and a doubled field", async () => {
    const t = new TestMongod();
    const whole = request("library", { find: "c", filter: {} });
    expect(replyDocument(await t.mongod.run({ ...whole, body: whole.body.subarray(0, 12) }))).toMatchObject({
      ok: 0,
      code: 22,
    });
    expect(await t.reply({ find: "c", maxTimeMS: -1 })).toMatchObject({ code: 2 });
    expect(await t.reply({ find: "c", readConcern: { level: "nonsense" } })).toMatchObject({ code: 2 });
  });
});
