/**
 * mongodb-memory-server boots our program, told about it as its users tell it: `systemBinary`. It is its public
 * API that is called, its downloads that never happen, and its words on stderr that would tell of a problem.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { MongoClient } from "mongodb";
import type * as MemoryServer from "mongodb-memory-server-core";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { describeWith, memoryServer } from "./programs.js";
import { mongodProgram } from "./servers.js";

const binary = { systemBinary: mongodProgram, version: "8.2.6" };

describeWith(memoryServer, "mongodb-memory-server with our mongod as its system binary", () => {
  // The package as it is installed; its types are those of the core package.
  const { MongoMemoryReplSet, MongoMemoryServer } = createRequire(import.meta.url)(
    memoryServer.path,
  ) as typeof MemoryServer;
  const warnings = vi.spyOn(console, "warn");
  // After a start that failed it leaves its folder, for inspection: here that goes with ours.
  const place = mkdtempSync(path.join(tmpdir(), "shardlab-mms-"));
  beforeAll(() => vi.stubEnv("TMPDIR", place));
  afterAll(() => {
    vi.unstubAllEnvs();
    rmSync(place, { recursive: true });
  });
  afterEach(() => {
    expect(warnings.mock.calls).toEqual([]);
    warnings.mockClear();
  });

  const alone = async <T>(uri: string, work: (client: MongoClient) => Promise<T>): Promise<T> => {
    const client = await new MongoClient(uri, { serverSelectionTimeoutMS: 5_000 }).connect();
    try {
      return await work(client);
    } finally {
      await client.close();
    }
  };

  it("boots it standalone, and stops it without a trace", async () => {
    const server = await MongoMemoryServer.create({ binary });
    const info = server.instanceInfo;
    expect(await alone(server.getUri(), (client) => client.db("admin").command({ hello: 1 }))).toMatchObject({
      isWritablePrimary: true,
    });
    await alone(server.getUri(), (client) =>
      client.db("library").collection("loans").insertOne({ memberId: 7 }),
    );
    expect(info?.dbPath && existsSync(info.dbPath)).toBe(true);
    await server.stop();
    expect(info?.dbPath && existsSync(info.dbPath)).toBe(false);
    await expect(listens(info?.port ?? 0)).resolves.toBe(false);
  });

  it("boots it as a replica set of one, which becomes primary", async () => {
    const set = await MongoMemoryReplSet.create({ replSet: { count: 1, name: "rs7" }, binary });
    // Not a direct connection: the driver finds the member by the configuration that was set.
    await alone(set.getUri(), async (client) => {
      const status = (await client.db("admin").command({ replSetGetStatus: 1 })) as unknown as {
        set: string;
        members: { stateStr: string }[];
      };
      expect([status.set, status.members.map(({ stateStr }) => stateStr)]).toEqual(["rs7", ["PRIMARY"]]);
      const config = (await client.db("admin").command({ replSetGetConfig: 1 })) as unknown as {
        config: { settings: { electionTimeoutMillis: number }; members: { host: string }[] };
      };
      expect(config.config.settings.electionTimeoutMillis).toBe(5_000);
      expect(set.getUri()).toContain(config.config.members[0]?.host);
      await client
        .db("library")
        .collection("loans")
        .insertOne({ memberId: 7 }, { writeConcern: { w: "majority" } });
      expect(await client.db("library").collection("loans").countDocuments()).toBe(1);
    });
    const { port } = set.servers[0]!.instanceInfo!;
    await set.stop();
    await expect(listens(port)).resolves.toBe(false);
  });

  it("boots it as a replica set of three: what the primary has, the secondaries answer", async () => {
    const set = await MongoMemoryReplSet.create({ replSet: { count: 3 }, binary });
    await alone(set.getUri(), async (client) => {
      const loans = client.db("library").collection("loans");
      await loans.insertOne({ memberId: 7 }, { writeConcern: { w: 3 } });
      expect(await loans.countDocuments({}, { readPreference: "secondary" })).toBe(1);
    });
    await set.stop();
  });

  it("restarts it on the same port, with its documents: the directory has a journal", async () => {
    const server = await MongoMemoryServer.create({ binary });
    const uri = server.getUri();
    await alone(uri, (client) => client.db("library").collection("loans").insertOne({ memberId: 7 }));
    await server.stop({ doCleanup: false });
    await server.start(true);
    expect(server.getUri()).toBe(uri);
    expect(await alone(uri, (client) => client.db("library").collection("loans").countDocuments())).toBe(1);
    await server.stop();
  });

  it("is told by it when the port is taken", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    warnings.mockImplementation(() => undefined);
    await expect(
      MongoMemoryServer.create({ instance: { port, portGeneration: false }, binary }),
    ).rejects.toThrow(`Port "${port}" already in use`);
    warnings.mockReset();
    await new Promise((resolve) => other.close(resolve));
  });

  it("is told by it when the directory can't be used", async () => {
    const server = await MongoMemoryServer.create({ binary });
    const dbPath = server.instanceInfo?.dbPath ?? "";
    warnings.mockImplementation(() => undefined);
    await expect(MongoMemoryServer.create({ instance: { dbPath }, binary })).rejects.toThrow(
      /DBException in initAndListen[^]*DBPathInUse: Unable to lock the lock file/,
    );
    warnings.mockReset();
    await server.stop();
  });
});

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.once("connect", () => (socket.destroy(), resolve(true))).once("error", () => resolve(false));
  });
}
