/** A replica set of one member: from a fresh `mongod --replSet` to primary, out of office, and back. */
import { ObjectId } from "bson";
import { describe, expect, it } from "vitest";
import { TestMongod } from "./support.js";

const HOST = "127.0.0.1:27018";
const SECONDARY_OK = { $readPreference: { mode: "secondaryPreferred" } };

/** As a freshly started `mongod --replSet rs`. */
function fresh(): TestMongod {
  return new TestMongod({ replSet: "rs", initiated: false });
}

describe("a member without a configuration", () => {
  it("says so, and is neither primary nor secondary", async () => {
    const t = fresh();
    const hello = await t.run({ hello: 1 }, "admin");
    expect(hello).toMatchObject({
      isWritablePrimary: false,
      secondary: false,
      info: "Does not have a valid replica set config",
      isreplicaset: true,
      maxWireVersion: 27,
    });
    for (const name of ["setName", "hosts", "me", "primary"]) expect(hello).not.toHaveProperty(name);
    expect(await t.run({ ismaster: 1 }, "admin")).toMatchObject({ ismaster: false, isreplicaset: true });
  });

  it("takes no writes and no reads, but answers about itself", async () => {
    const t = fresh();
    expect(await t.reply({ insert: "c", documents: [{ _id: 1 }] })).toMatchObject({
      code: 10107,
      codeName: "NotWritablePrimary",
      errmsg: "not primary",
    });
    expect(await t.reply({ create: "c" })).toMatchObject({ code: 10107 });
    expect(await t.reply({ find: "c" })).toMatchObject({
      code: 13435,
      errmsg: "not primary and secondaryOk=false",
    });
    expect(await t.reply({ find: "c", ...SECONDARY_OK })).toMatchObject({
      code: 13436,
      errmsg: "node is not in primary or recovering state",
    });
    for (const command of ["ping", "buildInfo", "serverStatus", "connectionStatus", "hostInfo"])
      expect(await t.run({ [command]: 1 }, "admin")).toMatchObject({ ok: 1 });
    const notYet = { code: 94, codeName: "NotYetInitialized" };
    expect(await t.reply({ replSetGetStatus: 1 }, "admin")).toMatchObject(notYet);
    expect(await t.reply({ replSetGetConfig: 1 }, "admin")).toMatchObject(notYet);
    expect(await t.reply({ replSetReconfig: {} }, "admin")).toMatchObject(notYet);
    expect(await t.reply({ replSetFreeze: 5 }, "admin")).toMatchObject(notYet);
  });

  it("may write to local, which is its own", async () => {
    const t = fresh();
    expect(await t.reply({ insert: "c", documents: [{ _id: 1 }] }, "local")).toMatchObject({ n: 1 });
  });
});

describe("replSetInitiate", () => {
  it("without a configuration makes one, and the member is primary at once", async () => {
    const t = fresh();
    expect(await t.run({ replSetInitiate: {} }, "admin")).toEqual({
      info2: "no configuration specified. Using a default configuration for the set",
      me: HOST,
      ok: 1,
    });
    expect(await t.run({ hello: 1 }, "admin")).toMatchObject({
      hosts: [HOST],
      setName: "rs",
      setVersion: 1,
      isWritablePrimary: true,
      secondary: false,
      primary: HOST,
      me: HOST,
      electionId: new ObjectId("7fffffff0000000000000001"),
    });
    await t.insert("c", { _id: 1 });
    expect(await t.reply({ replSetInitiate: {} }, "admin")).toMatchObject({
      code: 23,
      codeName: "AlreadyInitialized",
      errmsg: "already initialized",
    });
  });

  it("with one completes it with MongoDB's defaults", async () => {
    const t = fresh();
    await t.run(
      { replSetInitiate: { _id: "rs", members: [{ _id: 7, host: HOST, tags: { dc: "a" } }] } },
      "admin",
    );
    const { config } = await t.run({ replSetGetConfig: 1 }, "admin");
    expect(config).toEqual({
      _id: "rs",
      version: 1,
      term: 1,
      members: [
        {
          _id: 7,
          host: HOST,
          arbiterOnly: false,
          buildIndexes: true,
          hidden: false,
          priority: 1,
          tags: { dc: "a" },
          secondaryDelaySecs: 0,
          votes: 1,
        },
      ],
      protocolVersion: 1,
      writeConcernMajorityJournalDefault: true,
      settings: {
        chainingAllowed: true,
        heartbeatIntervalMillis: 2000,
        heartbeatTimeoutSecs: 10,
        electionTimeoutMillis: 10000,
        catchUpTimeoutMillis: -1,
        catchUpTakeoverDelayMillis: 30000,
        getLastErrorModes: {},
        getLastErrorDefaults: { w: 1, wtimeout: 0 },
        replicaSetId: expect.any(ObjectId),
      },
    });
    expect(await t.run({ hello: 1 }, "admin")).toMatchObject({ tags: { dc: "a" } });
  });

  const member = { _id: 0, host: HOST };
  // [configuration, code]
  const bad: [object, number][] = [
    [{ _id: "other", members: [member] }, 93],
    [{ members: [member] }, 93],
    [{ _id: "rs", members: [] }, 93],
    [{ _id: "rs" }, 93],
    [{ _id: "rs", members: [{ _id: 0, host: "elsewhere:27018" }] }, 93],
    [{ _id: "rs", members: [{ _id: 0, host: "127.0.0.1:1" }] }, 93],
    [{ _id: "rs", members: [{ _id: 0 }] }, 93],
    [{ _id: "rs", members: [{ ...member, priority: 0 }] }, 93],
    [{ _id: "rs", members: [{ ...member, votes: 0 }] }, 93],
    [{ _id: "rs", members: [{ ...member, arbiterOnly: true }] }, 93],
    [{ _id: "rs", members: [{ ...member, hidden: true }] }, 93],
    [{ _id: "rs", members: [{ ...member, foo: 1 }] }, 93],
    [{ _id: "rs", members: [member], foo: 1 }, 93],
    [{ _id: "rs", members: [member], settings: { foo: 1 } }, 93],
    [{ _id: "rs", members: [member], protocolVersion: 0 }, 93],
    [{ _id: "rs", members: [member], configsvr: true }, 93],
    [{ _id: "rs", members: [member], version: 2 }, 93],
    [{ _id: "rs", members: [member, { _id: 1, host: "127.0.0.1:27019" }] }, 238],
  ];
  it.each(bad)("%j is refused", async (config, code) => {
    const t = fresh();
    expect(await t.reply({ replSetInitiate: config }, "admin")).toMatchObject({ code });
    expect(await t.reply({ create: "c" })).toMatchObject({ code: 10107 });
  });

  it("knows itself by its other local name", async () => {
    const t = fresh();
    await t.run({ replSetInitiate: { _id: "rs", members: [{ _id: 0, host: "localhost:27018" }] } }, "admin");
    expect(await t.run({ hello: 1 }, "admin")).toMatchObject({
      me: "localhost:27018",
      hosts: ["localhost:27018"],
    });
  });

  it("is for members of sets, in admin", async () => {
    expect(await new TestMongod().reply({ replSetInitiate: {} }, "admin")).toMatchObject({ code: 76 });
    expect(await fresh().reply({ replSetInitiate: {} })).toMatchObject({ code: 13 });
  });
});

describe("replSetReconfig", () => {
  it("takes the next version, with the member's other settings", async () => {
    const t = new TestMongod({ replSet: "rs" });
    const { config } = await t.run({ replSetGetConfig: 1 }, "admin");
    config.version = 2;
    config.members[0].priority = 5;
    config.settings.electionTimeoutMillis = 5000;
    expect(await t.run({ replSetReconfig: config }, "admin")).toEqual({ ok: 1 });
    expect((await t.run({ replSetGetConfig: 1 }, "admin"))["config"]).toEqual({ ...config, term: 1 });
    expect(await t.run({ hello: 1 }, "admin")).toMatchObject({ setVersion: 2, isWritablePrimary: true });
    expect(await t.run({ replSetGetStatus: 1 }, "admin")).toMatchObject({
      members: [{ configVersion: 2, configTerm: 1 }],
    });
  });

  it("refuses what does not follow from the present one, unless forced", async () => {
    const t = new TestMongod({ replSet: "rs" });
    const { config } = await t.run({ replSetGetConfig: 1 }, "admin");
    expect(await t.reply({ replSetReconfig: config }, "admin")).toMatchObject({
      code: 103,
      codeName: "NewReplicaSetConfigurationIncompatible",
      errmsg:
        "New replica set configuration version and term must be greater than old, but {version: 1, term: 1} is not " +
        "greater than {version: 1, term: 1} for replica set rs",
    });
    const other = new ObjectId();
    const renamed = { ...config, version: 2, settings: { ...config.settings, replicaSetId: other } };
    expect(await t.reply({ replSetReconfig: renamed }, "admin")).toMatchObject({ code: 103 });
    const numbered = { ...config, version: 2, members: [{ ...config.members[0], _id: 3 }] };
    expect(await t.reply({ replSetReconfig: numbered }, "admin")).toMatchObject({ code: 103 });
    const elsewhere = { ...config, version: 2, members: [{ ...config.members[0], host: "x:1" }] };
    expect(await t.reply({ replSetReconfig: elsewhere }, "admin")).toMatchObject({ code: 103 });
    expect(await t.reply({ replSetReconfig: 1 }, "admin")).toMatchObject({
      code: 93,
      errmsg: "no configuration specified",
    });
    expect(await t.run({ replSetReconfig: config, force: true }, "admin")).toEqual({ ok: 1 });
    expect((await t.run({ hello: 1 }, "admin"))["setVersion"]).toBe(2);
  });
});

describe("replSetStepDown", () => {
  it("without force fails: nobody could take over", async () => {
    const t = new TestMongod({ replSet: "rs" });
    expect(await t.reply({ replSetStepDown: 30 }, "admin")).toMatchObject({
      code: 262,
      codeName: "ExceededTimeLimit",
      errmsg:
        "No electable secondaries caught up as of 2026-01-01T00:00:00.000+00:00Please use the replSetStepDown command " +
        "with the argument {force: true} to force node to step down.",
    });
    expect(await t.run({ hello: 1 }, "admin")).toMatchObject({ isWritablePrimary: true });
  });

  it("by force leaves a secondary, until the period is over and it elects itself", async () => {
    const t = new TestMongod({ replSet: "rs" });
    await t.insert("c", { _id: 1 });
    expect(await t.run({ replSetStepDown: 30, force: true }, "admin")).toEqual({ ok: 1 });
    const hello = await t.run({ hello: 1 }, "admin");
    expect(hello).toMatchObject({ setName: "rs", isWritablePrimary: false, secondary: true, me: HOST });
    expect(hello).not.toHaveProperty("primary");
    expect(hello).not.toHaveProperty("electionId");
    expect(await t.run({ replSetGetStatus: 1 }, "admin")).toMatchObject({
      myState: 2,
      members: [{ stateStr: "SECONDARY", state: 2 }],
    });
    expect(await t.reply({ insert: "c", documents: [{ _id: 2 }] })).toMatchObject({ code: 10107 });
    expect(await t.reply({ find: "c" })).toMatchObject({ code: 13435 });
    expect(await t.find("c", {}, SECONDARY_OK)).toEqual([{ _id: 1 }]);
    expect(await t.reply({ replSetStepDown: 30, force: true }, "admin")).toMatchObject({ code: 10107 });

    t.environment.time += 29_999;
    expect(await t.run({ hello: 1 }, "admin")).toMatchObject({ secondary: true });
    t.environment.time += 1;
    expect(await t.run({ hello: 1 }, "admin")).toMatchObject({
      isWritablePrimary: true,
      electionId: new ObjectId("7fffffff0000000000000002"),
    });
    await t.insert("c", { _id: 2 });
    expect(await t.run({ replSetGetStatus: 1 }, "admin")).toMatchObject({
      term: 2,
      members: [{ electionDate: new Date(Date.UTC(2026, 0, 1, 0, 0, 30)), configTerm: 2 }],
    });
    expect((await t.run({ replSetGetConfig: 1 }, "admin"))["config"].term).toBe(2);
  });

  // [command, code]
  const bad: [object, number][] = [
    [{ replSetStepDown: -1 }, 2],
    [{ replSetStepDown: 5 }, 2], // shorter than the 10 seconds that secondaries get
    [{ replSetStepDown: 60, secondaryCatchUpPeriodSecs: -1 }, 2],
    [{ replSetStepDown: 60, foo: 1 }, 40415],
  ];
  it.each(bad)("%j is refused", async (command, code) => {
    expect(await new TestMongod({ replSet: "rs" }).reply(command, "admin")).toMatchObject({ code });
  });
});

describe("replSetFreeze", () => {
  it("is for secondaries; 0 ends a step-down early", async () => {
    const t = new TestMongod({ replSet: "rs" });
    expect(await t.reply({ replSetFreeze: 10 }, "admin")).toMatchObject({
      code: 95,
      errmsg: "cannot freeze node when primary or running for election. state: Primary",
    });
    await t.run({ replSetStepDown: 10, force: true }, "admin");
    expect(await t.run({ replSetFreeze: 60 }, "admin")).toEqual({ ok: 1 });
    t.environment.time += 11_000;
    expect(await t.run({ hello: 1 }, "admin")).toMatchObject({ secondary: true });
    expect(await t.run({ replSetFreeze: 1 }, "admin")).toMatchObject({ warning: expect.any(String) });
    expect(await t.run({ replSetFreeze: 0 }, "admin")).toEqual({ info: "unfreezing", ok: 1 });
    expect(await t.run({ hello: 1 }, "admin")).toMatchObject({ isWritablePrimary: true });
  });
});

describe("default read and write concern", () => {
  it("are a set's, and say where they come from", async () => {
    const t = new TestMongod({ replSet: "rs" });
    expect(await t.run({ getDefaultRWConcern: 1 }, "admin")).toEqual({
      defaultReadConcern: { level: "local" },
      defaultWriteConcern: { w: "majority", wtimeout: 0 },
      defaultWriteConcernSource: "implicit",
      defaultReadConcernSource: "implicit",
      localUpdateWallClockTime: new Date(t.environment.time),
      ok: 1,
    });
    const set = (concerns: object): object => ({ setDefaultRWConcern: 1, ...concerns });
    expect(
      await t.run(set({ defaultWriteConcern: { w: 1 }, defaultReadConcern: { level: "majority" } }), "admin"),
    ).toMatchObject({
      defaultReadConcern: { level: "majority" },
      defaultWriteConcern: { w: 1, wtimeout: 0 },
      defaultWriteConcernSource: "global",
      defaultReadConcernSource: "global",
    });
    expect(await t.reply(set({}), "admin")).toMatchObject({ code: 2 });
    expect(await t.reply(set({ defaultWriteConcern: { w: 0 } }), "admin")).toMatchObject({ code: 2 });
    expect(await t.reply(set({ defaultWriteConcern: { w: 3 } }), "admin")).toMatchObject({ code: 238 });
    expect(await t.reply(set({ defaultReadConcern: { level: "snapshot" } }), "admin")).toMatchObject({
      code: 2,
    });
    expect(await t.reply(set({ defaultWriteConcern: {} }), "admin")).toMatchObject({ code: 20 });
    expect(await new TestMongod().reply({ getDefaultRWConcern: 1 }, "admin")).toMatchObject({ code: 51300 });
  });
});
