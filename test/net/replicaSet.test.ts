/** A replica set as an endpoint: its primary is found, followed when another is elected, and missed when there is none. */
import { afterEach, describe, expect, it } from "vitest";
import type { TcpServer } from "../../lib/net/index.js";
import { connectTo, ReplicaSetEndpoint, serve, TcpEndpoint } from "../../lib/net/index.js";
import type { Endpoint, Reply, Request } from "../../lib/protocol/index.js";
import {
  CommandError,
  EndpointUnreachableError,
  errorReply,
  okReply,
  replyDocument,
  request,
} from "../../lib/protocol/index.js";

/** A member of a set as far as `hello` goes; writes are counted. */
class Member implements Endpoint {
  writes = 0;
  server!: TcpServer;
  constructor(
    readonly set: string | undefined,
    public isPrimary: boolean,
    public primary?: () => string,
  ) {}

  run({ command }: Request): Promise<Reply> {
    return Promise.resolve(this.#answer(command));
  }

  #answer(command: string): Reply {
    if (command === "hello") {
      const { set: setName, isPrimary: isWritablePrimary, primary } = this;
      return okReply({
        ...(setName && { setName }),
        isWritablePrimary,
        ...(primary && { primary: primary() }),
      });
    }
    if (!this.isPrimary) return errorReply(new CommandError(10107, "not primary"));
    this.writes++;
    return okReply({ port: this.server.port });
  }
}

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function start(member: Member): Promise<Member> {
  member.server = await serve(member);
  opened.push(member.server);
  return member;
}

function endpointOf(set: string, ...members: Member[]): ReplicaSetEndpoint {
  const endpoint = new ReplicaSetEndpoint(`${set}/${members.map(({ server }) => server.address).join(",")}`);
  opened.push(endpoint);
  return endpoint;
}

const write = async (endpoint: Endpoint): Promise<unknown> =>
  replyDocument(await endpoint.run(request("library", { insert: "loans" })))["port"];

describe("a replica set as an endpoint", () => {
  it("asks its primary, wherever it stands in the connection string", async () => {
    const [one, two] = [await start(new Member("rs", false)), await start(new Member("rs", true))];
    const endpoint = endpointOf("rs", one, two);
    expect(await Promise.all([write(endpoint), write(endpoint)])).toEqual([two.server.port, two.server.port]);
    expect([one.writes, two.writes]).toEqual([0, 2]);
  });

  it("learns of a primary that only the others name", async () => {
    const primary = await start(new Member("rs", true));
    const known = await start(new Member("rs", false, () => primary.server.address));
    expect(await write(endpointOf("rs", known))).toBe(primary.server.port);
  });

  it("follows when another member is elected: the refused write has not run and runs once", async () => {
    const [one, two] = [await start(new Member("rs", true)), await start(new Member("rs", false))];
    const endpoint = endpointOf("rs", one, two);
    await write(endpoint);
    [one.isPrimary, two.isPrimary] = [false, true];
    expect(await write(endpoint)).toBe(two.server.port);
    expect([one.writes, two.writes]).toEqual([1, 1]);
  });

  it("follows when the primary is gone", async () => {
    const [one, two] = [await start(new Member("rs", true)), await start(new Member("rs", false))];
    const endpoint = endpointOf("rs", one, two);
    await write(endpoint);
    await one.server.close();
    two.isPrimary = true;
    // One of these meets the broken connection; nobody knows whether it has run, so it is not repeated.
    const outcomes = [
      await write(endpoint).catch(() => "broken"),
      await write(endpoint).catch(() => "broken"),
    ];
    expect(outcomes.at(-1)).toBe(two.server.port);
    expect(endpoint.breaks).toBeGreaterThanOrEqual(1);
    expect(endpoint.pool.created).toBeGreaterThanOrEqual(2);
  });

  it.each<[string, Member[]]>([
    ["has no primary", [new Member("rs", false), new Member("rs", false)]],
    ["is another set", [new Member("other", true)]],
  ])("that %s is unreachable, and nothing was sent", async (_what, members) => {
    for (const member of members) await start(member);
    const failure = await write(endpointOf("rs", ...members)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(EndpointUnreachableError);
    expect(failure).toMatchObject({ mayHaveRun: false });
    expect(members.map(({ writes }) => writes)).toEqual(members.map(() => 0));
  });

  it("ends when members name each other for ever", async () => {
    let port = 1;
    const liar = await start(new Member("rs", false, () => `127.0.0.1:${port++}`));
    await expect(write(endpointOf("rs", liar))).rejects.toMatchObject({ mayHaveRun: false });
    expect(port).toBeLessThan(60);
    const mad = await start(new Member("rs", false, () => "no address at all"));
    await expect(write(endpointOf("rs", mad))).rejects.toMatchObject({ mayHaveRun: false });
  });

  it("is told apart from a single server by its connection string", () => {
    expect(connectTo("rs/127.0.0.1:1,127.0.0.1:2")).toBeInstanceOf(ReplicaSetEndpoint);
    expect(connectTo("127.0.0.1:1")).toBeInstanceOf(TcpEndpoint);
    for (const wrong of ["/127.0.0.1:1", "rs/", "rs/a b"]) expect(() => connectTo(wrong)).toThrow(TypeError);
  });
});
