import { createServer } from "node:net";
import fc from "fast-check";
import { MongoClient } from "mongodb";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TcpServer } from "../../lib/net/index.js";
import { ListenError, serve } from "../../lib/net/index.js";
import {
  body,
  int32,
  largeInsert,
  message,
  OP_COMPRESSED,
  opMsg,
  opQuery,
  sequence,
  withChecksum,
} from "../protocol/frames.js";
import { FakeServer } from "./fakeServer.js";
import { RawClient } from "./rawClient.js";

let fake: FakeServer;
let server: TcpServer;
const clients: RawClient[] = [];

beforeEach(async () => {
  fake = new FakeServer();
  server = await serve(fake);
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await server.close();
});

async function newClient(): Promise<RawClient> {
  const client = await RawClient.to(server.port);
  clients.push(client);
  return client;
}

const echo = (n: number): Uint8Array => opMsg([body({ echo: n, $db: "admin" })], 0, n);
const ping = (id = 7): Uint8Array => opMsg([body({ ping: 1, $db: "admin" })], 0, id);
const wait = (turns: number, id: number): Uint8Array => opMsg([body({ wait: turns, $db: "admin" })], 0, id);

describe("a server on a port", () => {
  it("answers OP_MSG with OP_MSG and OP_QUERY with OP_REPLY", async () => {
    const client = await newClient();
    client.send(
      opQuery("admin.$cmd", { ismaster: 1, helloOk: true }, 11),
      withChecksum([body({ ping: 1, $db: "admin" })]),
    );
    expect(await client.next()).toMatchObject({
      responseTo: 11,
      opCode: 1,
      document: { msg: "isdbgrid", ok: 1 },
    });
    expect(await client.next()).toMatchObject({ responseTo: 7, opCode: 2013, document: { ok: 1 } });
  });

  it("tells the endpoint who asks", async () => {
    const [first, second] = [await newClient(), await newClient()];
    for (const client of [first, second]) client.send(opMsg([body({ hello: 1, $db: "admin" })]));
    expect([
      (await first.next())!.document["connectionId"],
      (await second.next())!.document["connectionId"],
    ]).toEqual([1, 2]);
    expect(fake.seen[0]!.client!.address).toMatch(/^127\.0\.0\.1:\d+$/);
  });

  it("understands messages that arrive byte by byte", async () => {
    const client = await newClient();
    const bytes = Buffer.concat([
      echo(1),
      opMsg([sequence("documents", [{ _id: 1 }, { _id: 2 }]), body({ insert: "loans", $db: "library" })]),
    ]);
    for (const byte of bytes) {
      client.send(Uint8Array.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await client.next())!.document).toEqual({ echo: 1, ok: 1 });
    expect((await client.next())!.document).toEqual({ n: 2, ok: 1 });
  });

  it("understands messages however they are cut", async () => {
    const client = await newClient();
    const bytes = Buffer.concat([1, 2, 3, 4, 5].map(echo));
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 12 }),
        async (cuts) => {
          const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
          for (let i = 1; i < at.length; i++) client.send(bytes.subarray(at[i - 1], at[i]));
          for (const n of [1, 2, 3, 4, 5])
            expect((await client.next())!.document).toEqual({ echo: n, ok: 1 });
        },
      ),
      { numRuns: 50 },
    );
  });

  it("answers pipelined requests one by one, in their order", async () => {
    const client = await newClient();
    client.send(Buffer.concat([wait(20, 1), wait(0, 2), wait(5, 3), ping(4)]));
    const order = [];
    for (let i = 0; i < 4; i++) order.push((await client.next())!.responseTo);
    expect(order).toEqual([1, 2, 3, 4]);
    expect(fake.mostRunning).toBe(1);
  });

  it("serves one connection while another one waits", async () => {
    const [slow, quick] = [await newClient(), await newClient()];
    slow.send(wait(10_000, 1));
    while (fake.running === 0) await new Promise((resolve) => setImmediate(resolve));
    quick.send(ping());
    expect((await quick.next())!.document).toEqual({ ok: 1 });
    expect(fake.running).toBe(1);
  });

  it("sends no reply to moreToCome, and runs it before what follows", async () => {
    const client = await newClient();
    const insert = [body({ insert: "loans", $db: "library" }), sequence("documents", [{ _id: 1 }])];
    client.send(opMsg(insert, 0b10, 1), opMsg([body({ unknown: 1, $db: "library" })], 0b10, 2), ping(3));
    expect((await client.next())!.responseTo).toBe(3);
    expect(fake.inserted).toBe(1);
  });

  it("holds a client back that does not read its replies", async () => {
    const client = await newClient();
    client.socket.pause();
    const large = opMsg([body({ large: 2_000_000, $db: "admin" })]);
    for (let i = 0; i < 60; i++) client.send(large);
    // The replies make 120 MB; what the sockets' buffers take is a fraction of that.
    let ran = -1;
    while (fake.seen.length !== ran) {
      ran = fake.seen.length;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(ran).toBeLessThan(30);
    client.socket.resume();
    for (let i = 0; i < 60; i++) expect((await client.next())!.document["text"]).toHaveLength(2_000_000);
  });

  it("gives every message a buffer of its own", async () => {
    const client = await newClient();
    client.send(Buffer.concat([ping(1), ping(2)]));
    await client.next();
    await client.next();
    const [first, second] = fake.seen;
    expect(first!.body.buffer).not.toBe(second!.body.buffer);
    expect(first!.body.buffer.byteLength).toBe(ping().length);
    expect(first!.body.constructor).toBe(Uint8Array);
  });
});

describe("bad messages", () => {
  it("get an error reply, and the connection goes on", async () => {
    const client = await newClient();
    client.send(
      opMsg([body({ ping: 1 })], 0, 1),
      opMsg([[0, ...int32(999), 0]], 0, 2),
      opMsg([body({ nonsense: 1, $db: "admin" })], 0, 3),
      opMsg([body({ crash: 1, $db: "admin" })], 0, 4),
      opQuery("library.loans", {}, 5),
      ping(6),
    );
    const replies = [];
    for (let i = 0; i < 6; i++) replies.push(await client.next());
    expect(replies.map((reply) => [reply!.responseTo, reply!.document["code"]])).toEqual([
      [1, 40414],
      [2, 22],
      [3, 59],
      [4, 8],
      [5, 5739101],
      [6, undefined],
    ]);
    expect(replies[3]!.document).toEqual({
      ok: 0,
      errmsg: "a fault of ours",
      code: 8,
      codeName: "UnknownError",
    });
  });

  it.each([
    ["a length below 16", Uint8Array.from(int32(15))],
    ["a negative length", Uint8Array.from(int32(-100))],
    ["a length above 48,000,000", Uint8Array.from(int32(48_000_001))],
    ["HTTP", Buffer.from("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")],
    ["compression", message(OP_COMPRESSED, [...int32(2013), ...int32(20), 2])],
    ["an unknown required flag", opMsg([body({ ping: 1, $db: "admin" })], 1 << 5)],
  ])("with bad framing (%s) end that connection only, after the replies it is owed", async (_what, bytes) => {
    const [bad, good] = [await newClient(), await newClient()];
    bad.send(Buffer.concat([wait(3, 1), bytes, ping(2)]));
    expect((await bad.next())!.responseTo).toBe(1);
    expect(await bad.next()).toBeUndefined();
    good.send(ping(3));
    expect((await good.next())!.responseTo).toBe(3);
  });

  it("of a browser get an answer that it can show", async () => {
    const answer = await fetch(`http://127.0.0.1:${server.port}/`);
    expect(await answer.text()).toBe(
      "It looks like you are trying to access MongoDB over HTTP on the native driver port.\r\n",
    );
  });

  it("that promise 48 MB and don't come cost nothing", async () => {
    const before = process.memoryUsage().arrayBuffers;
    const bad = await Promise.all(Array.from({ length: 40 }, newClient));
    for (const client of bad) client.send(Uint8Array.from([...int32(48_000_000), ...int32(1)]));
    const good = await newClient();
    good.send(ping(3));
    expect((await good.next())!.responseTo).toBe(3);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100_000_000);
  });

  it("of several megabytes arrive whole, in pieces of any size", async () => {
    const client = await newClient();
    const large = largeInsert("loans", [{ text: "x".repeat(5_000_000) }]);
    for (let at = 0, step = 1; at < large.length; at += step, step = (step * 7) % 800_011)
      client.send(large.subarray(at, at + step));
    client.send(ping(2));
    expect((await client.next())!.document).toEqual({ n: 1, ok: 1 });
    expect((await client.next())!.responseTo).toBe(2);
    expect(fake.seen[0]!.sequences.get("documents")![0]!.length).toBeGreaterThan(5_000_000);
  });

  it("never disturb another client, however they are broken", async () => {
    const good = await newClient();
    const seeds = [
      opMsg([
        body({ insert: "loans", $db: "library", n: [1, { a: null }] }),
        sequence("documents", [{ _id: 1, t: "x" }]),
      ]),
      opQuery("admin.$cmd", { hello: 1, client: { driver: { name: "x" } } }),
      withChecksum([body({ ping: 1, $db: "admin" })]),
    ];
    const broken = fc
      .record({
        seed: fc.constantFrom(...seeds),
        flips: fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 4 }),
        cut: fc.option(fc.nat(), { nil: undefined }),
        fixLength: fc.boolean(),
      })
      .map(({ seed, flips, cut, fixLength }) => {
        let bytes = Buffer.from(seed);
        for (const [at, bits] of flips) bytes[at % bytes.length]! ^= bits;
        if (cut !== undefined) bytes = bytes.subarray(0, 16 + (cut % (bytes.length - 15)));
        if (fixLength) bytes.writeInt32LE(bytes.length, 0); // good framing, so that its contents are looked at
        return bytes;
      });
    let id = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(broken, { minLength: 20, maxLength: 20 }), async (messages) => {
        const bad = await Promise.all(messages.map(() => RawClient.to(server.port)));
        messages.forEach((bytes, i) => bad[i]!.socket.end(bytes));
        // Each is answered or closed; none hangs, none gets what is not a message.
        for (const client of bad) while (await client.next()) continue;
        good.send(echo(++id));
        expect((await good.next())!.document).toEqual({ echo: id, ok: 1 });
      }),
      { numRuns: 150 },
    );
  });
});

describe("a port", () => {
  it("in use is named, with what to do", async () => {
    await expect(serve(fake, { port: server.port })).rejects.toMatchObject({
      name: "ListenError",
      code: "EADDRINUSE",
      message: `port ${server.port} on 127.0.0.1 is in use by another program; choose another port, or 0 for any free one`,
    });
  });

  it.each([-1, 65_536, 1.5, NaN])("cannot be %s", async (port) => {
    await expect(serve(fake, { port })).rejects.toBeInstanceOf(ListenError);
  });

  it("is free again after close, and every client knows", async () => {
    const client = await newClient();
    client.send(wait(1_000_000, 1));
    await server.close();
    expect(await client.next()).toBeUndefined();
    const again = await serve(fake, { port: server.port });
    await again.close();
    await server.close(); // twice does no harm
  });

  it("is on 127.0.0.1 only", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(server.port, "127.0.0.2", resolve));
    await new Promise((resolve) => other.close(resolve));
  });

  it("is closed again when the endpoint can't be made", async () => {
    let address = "";
    const failing = serve((host) => {
      address = host;
      throw new Error("no such endpoint");
    });
    await expect(failing).rejects.toThrow("no such endpoint");
    const again = await serve(fake, { port: Number(address.split(":")[1]) });
    await again.close();
  });
});

describe("the official driver", () => {
  it("connects, runs commands, and leaves", async () => {
    const client = await new MongoClient(`mongodb://${server.address}/`, {
      serverSelectionTimeoutMS: 5_000,
    }).connect();
    expect(await client.db("admin").command({ ping: 1 })).toEqual({ ok: 1 });
    const inserted = await client
      .db("library")
      .collection("loans")
      .insertMany(Array.from({ length: 2_500 }, (_, n) => ({ n })));
    expect(inserted.insertedCount).toBe(2_500);
    expect(fake.inserted).toBe(2_500);
    await expect(client.db("admin").command({ nonsense: 1 })).rejects.toMatchObject({
      code: 59,
      message: "no such command: 'nonsense'",
    });
    await client.close();
    // It says goodbye without waiting for a reply.
    await expect.poll(() => fake.seen.map((request) => request.command)).toContain("endSessions");
  });
});
