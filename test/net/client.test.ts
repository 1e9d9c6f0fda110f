import { createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { serialize } from "bson";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fromDocument } from "../../lib/bson/index.js";
import type { TcpServer } from "../../lib/net/index.js";
import { serve, TcpEndpoint } from "../../lib/net/index.js";
import { EndpointUnreachableError, replyDocument, request } from "../../lib/protocol/index.js";
import { body, opMsg } from "../protocol/frames.js";
import { FakeServer, run } from "./fakeServer.js";

let fake: FakeServer;
let server: TcpServer;
let endpoint: TcpEndpoint;

beforeEach(async () => {
  fake = new FakeServer();
  server = await serve(fake);
  endpoint = new TcpEndpoint(server.address, { maxConnections: 4 });
});

afterEach(async () => {
  endpoint.close();
  await server.close();
});

describe("a server as an endpoint", () => {
  it("answers as it would in the same process", async () => {
    expect(await run(endpoint, { echo: 5 })).toEqual({ echo: 5, ok: 1 });
    expect(replyDocument(await endpoint.run(request("admin", { nonsense: 1 })))).toMatchObject({
      ok: 0,
      code: 59,
    });
  });

  it("gets document sequences as they are", async () => {
    const documents = Array.from({ length: 1_000 }, (_, i) => serialize({ _id: i }));
    const reply = await endpoint.run(request("library", { insert: "loans" }, { documents }));
    expect(replyDocument(reply)).toEqual({ n: 1_000, ok: 1 });
    const [seen] = fake.seen;
    expect(seen!.db).toBe("library");
    expect(fromDocument(seen!.body)).toEqual({ insert: "loans", $db: "library" });
    expect(seen!.sequences.get("documents")!.map((d) => fromDocument(d)["_id"])).toEqual(
      documents.map((_, i) => i),
    );
  });

  it("gives every request its own reply, over few connections", async () => {
    const replies = await Promise.all(Array.from({ length: 200 }, (_, n) => run(endpoint, { echo: n })));
    expect(replies.map((reply) => reply["echo"])).toEqual(Array.from({ length: 200 }, (_, n) => n));
    expect(new Set(fake.seen.map((seen) => seen.client!.connectionId)).size).toBeLessThanOrEqual(4);
  });

  it("runs as many requests at once as it may have connections", async () => {
    await Promise.all(Array.from({ length: 12 }, () => run(endpoint, { wait: 50 })));
    expect(fake.mostRunning).toBe(4);
  });

  it("uses a connection again", async () => {
    for (let i = 0; i < 5; i++) await run(endpoint, { ping: 1 });
    expect(fake.seen.map((seen) => seen.client!.connectionId)).toEqual([1, 1, 1, 1, 1]);
  });

  it("answers a request that is too large with an error reply", async () => {
    const documents = Array.from({ length: 4 }, () => serialize({ text: "x".repeat(12_000_000) }));
    const reply = await endpoint.run(request("library", { insert: "loans" }, { documents }));
    expect(replyDocument(reply)).toMatchObject({ ok: 0, code: 16, codeName: "InvalidLength" });
    expect(await run(endpoint, { ping: 1 })).toEqual({ ok: 1 });
  });
});

describe("a server that is gone", () => {
  it("makes requests reject, and is found again when it is back", async () => {
    await run(endpoint, { ping: 1 });
    await server.close();
    await expect(run(endpoint, { ping: 1 })).rejects.toBeInstanceOf(EndpointUnreachableError);
    await expect(run(endpoint, { ping: 1 })).rejects.toThrow(`cannot reach ${server.address}`);
    server = await serve(fake, { port: server.port });
    expect(await run(endpoint, { echo: 2 })).toEqual({ echo: 2, ok: 1 });
  });

  it("fails the requests that were under way", async () => {
    const under = [1, 2, 3].map(() => run(endpoint, { wait: 1_000_000 }));
    const outcomes = Promise.allSettled(under);
    while (fake.running < 3) await new Promise((resolve) => setImmediate(resolve));
    await server.close();
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { name: "EndpointUnreachableError" } });
    }
  });

  it("fails those that wait for a connection, one by one", async () => {
    await server.close();
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => run(endpoint, { ping: 1 })));
    expect(outcomes.map((outcome) => outcome.status)).toEqual(Array(10).fill("rejected"));
  });
});

describe("close", () => {
  it("fails what is under way and what comes later", async () => {
    const under = run(endpoint, { wait: 1_000_000 });
    const outcome = expect(under).rejects.toBeInstanceOf(EndpointUnreachableError);
    while (fake.running < 1) await new Promise((resolve) => setImmediate(resolve));
    endpoint.close();
    await outcome;
    await expect(run(endpoint, { ping: 1 })).rejects.toThrow("the endpoint is closed");
  });
});

describe("a server that misbehaves", () => {
  let other: Server;
  afterEach(() => new Promise((resolve) => other.close(resolve)));

  async function misbehaving(onConnection: (socket: Socket) => void): Promise<TcpEndpoint> {
    other = createServer(onConnection);
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    return new TcpEndpoint(`127.0.0.1:${(other.address() as AddressInfo).port}`);
  }

  it.each<[string, Uint8Array]>([
    ["answers another request", opMsg([body({ ok: 1 })])],
    ["answers in another protocol", Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n")],
    ["answers broken BSON", opMsg([[0, 9, 0, 0, 0, 1]])],
  ])("%s: the request rejects", async (_what, bytes) => {
    const client = await misbehaving((socket) =>
      socket.on("error", () => undefined).once("data", () => socket.write(bytes)),
    );
    await expect(run(client, { ping: 1 })).rejects.toBeInstanceOf(EndpointUnreachableError);
    client.close();
  });

  it("hangs up without a word: the request rejects", async () => {
    const client = await misbehaving((socket) => socket.once("data", () => socket.end()));
    await expect(run(client, { ping: 1 })).rejects.toThrow(/connection closed/);
    client.close();
  });
});

describe("an address", () => {
  it.each(["", "host:", ":27017", "a b:1", "host:99999", "host:0", "mongodb://host:1", "::1"])(
    "cannot be %j",
    (address) => {
      expect(() => new TcpEndpoint(address)).toThrow(TypeError);
    },
  );

  it.each(["localhost", "127.0.0.1:27018", "[::1]:27017", "db-1.example.net:1"])("may be %s", (address) => {
    expect(new TcpEndpoint(address).address).toBe(address);
  });
});
