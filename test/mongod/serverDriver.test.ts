/** The official driver as a client of catalog and administration: what it makes of the replies. */
import { MongoClient } from "mongodb";
import { afterEach, describe, expect, it } from "vitest";
import { Mongod, type MongodOptions } from "../../lib/mongod/index.js";
import { serve, type TcpServer } from "../../lib/net/index.js";
import { TestEnvironment } from "./support.js";

let server: TcpServer | undefined;
let client: MongoClient | undefined;

afterEach(async () => {
  await client?.close();
  await server?.close();
});

async function connect(options: Partial<MongodOptions>, uriOptions: string): Promise<MongoClient> {
  const environment = { now: Date.now, random: new TestEnvironment().random };
  server = await serve((host) => new Mongod({ environment, host, ...options }));
  client = new MongoClient(`mongodb://${server.address}/?${uriOptions}`, { serverSelectionTimeoutMS: 5000 });
  return client;
}

describe("the driver", () => {
  it("initiates a set by its one member and then finds the primary", async () => {
    const direct = await connect({ replSet: "rs", initiated: false }, "directConnection=true");
    await direct.db("admin").command({ replSetInitiate: {} });
    await direct.close();
    client = new MongoClient(`mongodb://${server!.address}/?replicaSet=rs`, {
      serverSelectionTimeoutMS: 5000,
    });
    const loans = client.db("library").collection("loans");
    await loans.insertOne({ n: 1 });
    expect(await loans.countDocuments()).toBe(1);
  });

  it("makes, lists, renames and drops collections and views", async () => {
    const db = (await connect({}, "directConnection=true")).db("library");
    await db.createCollection("loans", { validator: { n: { $gt: 0 } } });
    await db.createCollection("log", { capped: true, size: 4096, max: 5 });
    await db.createCollection("late", { viewOn: "loans", pipeline: [{ $match: { n: { $gt: 5 } } }] });
    const names = async (): Promise<string[]> =>
      (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name).sort();
    expect(await names()).toEqual(["late", "loans", "log", "system.views"]);
    expect(await db.collection("log").isCapped()).toBe(true);
    expect(await db.collection("loans").options()).toEqual({ validator: { n: { $gt: 0 } } });
    const renamed = await db.renameCollection("loans", "rentals");
    expect(renamed.collectionName).toBe("rentals");
    expect(await db.dropCollection("late")).toBe(true);
    expect(await db.dropDatabase()).toBe(true);
    expect(await names()).toEqual([]);
  });

  it("asks for figures and states", async () => {
    const admin = (await connect({}, "directConnection=true")).db("admin").admin();
    expect(await admin.serverStatus()).toMatchObject({ process: "mongod", ok: 1 });
    expect((await admin.serverInfo())["versionArray"]).toEqual([8, 2, expect.any(Number), 0]);
    expect(await admin.ping()).toEqual({ ok: 1 });
    expect((await admin.listDatabases()).databases).toEqual([]);
    expect(await client!.db("library").stats()).toMatchObject({ db: "library", collections: 0, views: 0 });
    await expect(admin.command({ nonsense: 1 })).rejects.toMatchObject({ code: 59 });
  });
});
