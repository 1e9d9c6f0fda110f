/** A server that hangs: it takes connections and bytes, and says nothing. */
import type { Server, Socket } from "node:net";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { serve, TcpEndpoint } from "../../lib/net/index.js";
import { FakeServer, run } from "./fakeServer.js";

/** Passes bytes between clients and a server; while it is stopped it passes nothing. */
class Valve {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #stopped = false;
  accepted = 0;

  constructor(target: number) {
    this.#server = createServer((client) => {
      this.accepted += 1;
      const server = connect(target, "127.0.0.1");
      client.pipe(server).pipe(client);
      for (const socket of [client, server]) {
        this.#sockets.add(socket);
        socket.on("error", () => undefined).on("close", () => (client.destroy(), server.destroy()));
        if (this.#stopped) socket.cork();
      }
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  stop(): void {
    this.#stopped = true;
    for (const socket of this.#sockets) socket.cork();
  }

  go(): void {
    this.#stopped = false;
    for (const socket of this.#sockets) socket.uncork();
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

const SILENCE_MS = 80;
let fake: FakeServer;
let server: Awaited<ReturnType<typeof serve>>;
let valve: Valve;
let endpoint: TcpEndpoint;

beforeEach(async () => {
  fake = new FakeServer();
  server = await serve(fake);
  valve = new Valve(server.port);
  endpoint = new TcpEndpoint(`127.0.0.1:${await valve.listen()}`, { silenceMS: SILENCE_MS });
});
afterEach(async () => {
  endpoint.close();
  valve.close();
  await server.close();
});

const timed = async (work: Promise<unknown>): Promise<{ ms: number; outcome: unknown }> => {
  const begun = performance.now();
  const outcome = await work.catch((error: unknown) => error);
  return { ms: performance.now() - begun, outcome };
};

it("is given up after twice the silence; the request may have run, later ones are not sent at all", async () => {
  await run(endpoint, { ping: 1 });
  valve.stop();
  const { ms, outcome } = await timed(run(endpoint, { ping: 1 }));
  expect(outcome).toMatchObject({
    name: "EndpointUnreachableError",
    mayHaveRun: true,
    message: expect.stringContaining("gives no sign of life") as string,
  });
  expect(ms).toBeGreaterThan(1.9 * SILENCE_MS);
  const later = await timed(run(endpoint, { ping: 1 }));
  expect(later.outcome).toMatchObject({ name: "EndpointUnreachableError", mayHaveRun: false });
  expect(later.ms).toBeLessThan(SILENCE_MS / 2);
  expect(endpoint.breaks).toBeGreaterThan(0);
});

it("is used again once it answers", async () => {
  valve.stop();
  await timed(run(endpoint, { ping: 1 }));
  valve.go();
  await expect
    .poll(() => run(endpoint, { echo: 3 }).catch(() => undefined), { timeout: 5_000, interval: 10 })
    .toEqual({ echo: 3, ok: 1 });
});

it("one that works long on a request is asked on another connection, and is waited for", async () => {
  const { ms, outcome } = await timed(run(endpoint, { sleep: 5 * SILENCE_MS }));
  expect(outcome).toMatchObject({ ok: 1 });
  expect(ms).toBeGreaterThan(4 * SILENCE_MS);
  expect(fake.seen.map(({ command }) => command)).toContain("hello");
  expect(endpoint.breaks).toBe(0);
});

it("maxTimeMS ends the wait for a reply, and for a place in the pool", async () => {
  const narrow = new TcpEndpoint(endpoint.address, { maxConnections: 1 });
  valve.stop();
  const [first, second] = await Promise.all([
    timed(run(narrow, { ping: 1, maxTimeMS: 50 })),
    timed(run(narrow, { ping: 1, maxTimeMS: 60 })),
  ]);
  for (const { outcome, ms } of [first, second]) {
    expect(outcome).toMatchObject({ code: 50, codeName: "MaxTimeMSExpired" });
    expect(ms).toBeLessThan(1_000);
  }
  // We hung up ourselves: no news of the server.
  expect(narrow.breaks).toBe(0);
  valve.go();
  expect(await run(narrow, { echo: 1, maxTimeMS: 5_000 })).toEqual({ echo: 1, ok: 1 });
  narrow.close();
});
