import { deserialize, serialize } from "bson";
import { describe, expect, it } from "vitest";
import { crc32c } from "../../lib/protocol/crc32c.js";
import type { IncomingRequest, Request } from "../../lib/protocol/index.js";
import {
  CommandError,
  encodeMsgRequest,
  encodeReply,
  errorReply,
  FramingError,
  okReply,
  parseMsgReply,
  parseRequest,
  request,
} from "../../lib/protocol/index.js";
import {
  body,
  bson,
  cstring,
  int32,
  message,
  OP_COMPRESSED,
  OP_MSG,
  opMsg,
  opQuery,
  sequence,
  withChecksum,
} from "./frames.js";

/** The request of a message that must hold one. */
function requestOf(bytes: Uint8Array): Request {
  const { content } = parseRequest(bytes);
  if (content instanceof CommandError) throw content;
  return content;
}

/** The code of the error reply that a message must get. */
function refusalOf(bytes: Uint8Array): number {
  const { content } = parseRequest(bytes);
  if (!(content instanceof CommandError)) throw new Error("expected a refusal");
  return content.code;
}

const PING = { ping: 1, $db: "admin" };
const INSERT = { insert: "loans", $db: "library" };
const LOANS = [{ _id: 1 }, { _id: 2, memberId: "m-7" }, { _id: 3 }];

describe("OP_MSG", () => {
  it("reads a ping written down byte by byte", () => {
    // prettier-ignore
    const bytes = Uint8Array.from([
      51, 0, 0, 0,   42, 0, 0, 0,   0, 0, 0, 0,   0xdd, 0x07, 0, 0,     // length 51, request 42, OP_MSG
      0, 0, 0, 0,    0,                                                 // no flags, kind 0
      30, 0, 0, 0,                                                      // a document of 30 bytes
      0x10, 112, 105, 110, 103, 0,   1, 0, 0, 0,                        // ping: int32 1
      0x02, 36, 100, 98, 0,   6, 0, 0, 0,   97, 100, 109, 105, 110, 0,  // $db: "admin"
      0,
    ]);
    const incoming = parseRequest(bytes);
    expect(incoming).toMatchObject({ requestId: 42, answerWith: OP_MSG, noReply: false });
    expect(requestOf(bytes)).toMatchObject({ db: "admin", command: "ping" });
    expect(deserialize(requestOf(bytes).body)).toEqual(PING);
  });

  it("reads document sequences before, after and around the command", () => {
    const updates = [{ q: {}, u: {} }];
    for (const sections of [
      [sequence("documents", LOANS), body(INSERT), sequence("updates", updates)],
      [body(INSERT), sequence("documents", LOANS), sequence("updates", updates)],
      [sequence("updates", updates), sequence("documents", LOANS), body(INSERT)],
    ]) {
      const { command, sequences } = requestOf(opMsg(sections));
      expect(command).toBe("insert");
      expect([...sequences.keys()].sort()).toEqual(["documents", "updates"]);
      expect(sequences.get("documents")!.map((d) => deserialize(d))).toEqual(LOANS);
      expect(sequences.get("updates")!.map((d) => deserialize(d))).toEqual(updates);
    }
  });

  it("hands on documents as slices of the message, uncopied", () => {
    const bytes = opMsg([body(INSERT), sequence("documents", LOANS)]);
    const { body: command, sequences } = requestOf(bytes);
    for (const slice of [command, ...sequences.get("documents")!]) expect(slice.buffer).toBe(bytes.buffer);
  });

  it("reads an empty sequence", () => {
    expect(requestOf(opMsg([body(INSERT), sequence("documents", [])])).sequences.get("documents")).toEqual(
      [],
    );
  });

  it("wants no reply where moreToCome says so", () => {
    expect(parseRequest(opMsg([body(INSERT)], 0b10)).noReply).toBe(true);
  });

  it("ignores exhaustAllowed and every other optional flag", () => {
    for (let bit = 16; bit < 32; bit++) expect(requestOf(opMsg([body(PING)], 1 << bit)).command).toBe("ping");
  });

  it("refuses every required flag it does not know", () => {
    for (let bit = 2; bit < 16; bit++)
      expect(() => parseRequest(opMsg([body(PING)], 1 << bit))).toThrow(FramingError);
  });

  it("verifies a checksum", () => {
    const bytes = withChecksum([body(PING)]);
    expect(requestOf(bytes).command).toBe("ping");
    bytes[30]! ^= 1;
    expect(() => parseRequest(bytes)).toThrow(/checksum/);
  });

  it("computes CRC-32C as its check value says", () => {
    expect(crc32c(Buffer.from("123456789"))).toBe(0xe3069283);
    expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa); // RFC 3720, B.4
    expect(crc32c(new Uint8Array(32).fill(0xff))).toBe(0x62a8ab43);
  });
});

describe("a bad message in good framing gets an error reply", () => {
  it.each<[string, number, number[][]]>([
    ["no $db", 40414, [body({ ping: 1 })]],
    ["a $db that is no string", 14, [body({ ping: 1, $db: 5 })]],
    ["an empty database name", 73, [body({ ping: 1, $db: "" })]],
    ["a database name with a dot", 73, [body({ ping: 1, $db: "a.b" })]],
    ["no command document", 40587, [sequence("documents", LOANS)]],
    ["no section at all", 40587, []],
    ["two command documents", 40430, [body(PING), body(PING)]],
    ["one sequence twice", 40431, [body(INSERT), sequence("documents", LOANS), sequence("documents", LOANS)]],
    ["an unknown kind of section", 40432, [body(PING), [2, 0, 0, 0, 0]]],
    ["documents twice over", 40433, [body({ ...INSERT, documents: LOANS }), sequence("documents", LOANS)]],
    ["a document longer than the message", 22, [[0, ...int32(500), 0]]],
    ["a document of negative length", 22, [[0, ...int32(-5), 0]]],
    ["a document cut off in its length", 22, [[0, 7, 0]]],
    ["an unknown BSON type", 22, [[0, ...int32(8), 0x77, 97, 0, 0]]],
    ["a sequence longer than the message", 22, [body(INSERT), [1, ...int32(999), ...cstring("documents")]]],
    ["a sequence too short for its name", 22, [body(INSERT), [1, ...int32(6), 97, 98]]],
    ["a sequence of size 0", 22, [body(INSERT), [1, ...int32(0)]]],
    [
      "a broken document among good ones",
      22,
      [
        body(INSERT),
        [1, ...int32(4 + 10 + 14 + 5), ...cstring("documents"), ...bson({ _id: 1 }), ...int32(5), 9],
      ],
    ],
  ])("%s", (_what, code, sections) => {
    expect(refusalOf(opMsg(sections))).toBe(code);
  });
});

describe("OP_QUERY", () => {
  it.each(["isMaster", "ismaster", "hello", "buildInfo"])("is understood for %s", (command) => {
    const incoming = parseRequest(opQuery("admin.$cmd", { [command]: 1, helloOk: true }, 9));
    expect(incoming).toMatchObject({ requestId: 9, answerWith: 1, noReply: false });
    expect(incoming.content).toMatchObject({ db: "admin", command });
  });

  it("unwraps $query", () => {
    const { command, body: document } = requestOf(
      opQuery("admin.$cmd", { $query: { hello: 1 }, $readPreference: {} }),
    );
    expect(command).toBe("hello");
    expect(deserialize(document)).toEqual({ hello: 1 });
  });

  it("is for the handshake only: other commands are refused by name", () => {
    const { content } = parseRequest(opQuery("library.$cmd", { count: "loans" }));
    expect(content).toMatchObject({
      code: 352,
      codeName: "UnsupportedOpQueryCommand",
      message:
        "Unsupported OP_QUERY command: count. The client driver may require an upgrade. For more details see " +
        "https://dochub.mongodb.org/core/legacy-opcode-removal",
    });
  });

  it("answers a query for documents with an error, not with documents", () => {
    const incoming = parseRequest(opQuery("library.loans", {}, 9));
    const [bytes] = encodeReply(errorReply(incoming.content), incoming, 3);
    const view = new DataView(bytes!.buffer);
    // Flags: the query failed.
    expect([view.getInt32(8, true), view.getInt32(12, true), view.getInt32(16, true)]).toEqual([9, 1, 2]);
    expect(deserialize(bytes!.subarray(36))).toEqual({
      $err:
        "OP_QUERY is no longer supported. The client driver may require an upgrade. For more details see " +
        "https://dochub.mongodb.org/core/legacy-opcode-removal",
      code: 5739101,
      ok: 0,
    });
  });

  it("has a fellow, OP_GET_MORE, that is answered alike", () => {
    const incoming = parseRequest(message(2005, [...int32(0), ...cstring("library.loans"), ...int32(0)], 9));
    expect(incoming).toMatchObject({ requestId: 9, answerWith: 1, content: { code: 5739101 } });
  });

  it("answers broken BSON with an error", () => {
    const bytes = opQuery("admin.$cmd", { hello: 1 });
    bytes[bytes.length - 1] = 1;
    expect(refusalOf(bytes)).toBe(22);
  });

  it("is answered by OP_REPLY with one document", () => {
    const incoming = parseRequest(opQuery("admin.$cmd", { hello: 1 }, 9));
    const [bytes] = encodeReply(okReply({ msg: "isdbgrid" }), incoming, 3);
    const view = new DataView(bytes!.buffer);
    const int = (at: number) => view.getInt32(at, true);
    expect([int(0), int(4), int(8), int(12)]).toEqual([bytes!.length, 3, 9, 1]);
    expect([int(16), view.getBigInt64(20, true), int(28), int(32)]).toEqual([8, 0n, 0, 1]);
    expect(deserialize(bytes!.subarray(36))).toEqual({ msg: "isdbgrid", ok: 1 });
  });
});

describe("bad framing", () => {
  it.each([
    [
      "a length below the header's",
      Uint8Array.from([...int32(15), ...int32(1), ...int32(0), ...int32(OP_MSG)]),
    ],
    ["a negative length", Uint8Array.from([...int32(-1), ...int32(1), ...int32(0), ...int32(OP_MSG)])],
    [
      "a length above 48,000,000",
      Uint8Array.from([...int32(48_000_001), ...int32(1), ...int32(0), ...int32(OP_MSG)]),
    ],
    ["compression", message(OP_COMPRESSED, [...int32(OP_MSG), ...int32(20), 2])],
    ["an opcode of the past (OP_INSERT)", message(2002, int32(0))],
    ["another one (OP_KILL_CURSORS)", message(2007, int32(0))],
    ["a reply", message(1, int32(0))],
    ["an unknown opcode", message(999, [])],
    ["OP_MSG without flags", message(OP_MSG, [])],
    ["OP_QUERY without an end of its namespace", message(2004, [...int32(0), 97, 98])],
    ["a checksum flag without a checksum", message(OP_MSG, int32(1))],
  ])("%s ends the connection", (_what, bytes) => {
    expect(() => parseRequest(bytes)).toThrow(FramingError);
  });
});

describe("our own messages", () => {
  const join = (pieces: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(pieces));

  it("carry a request there, with its sequences", () => {
    const sent = request(
      "library",
      { insert: "loans", ordered: false },
      { documents: LOANS.map((d) => serialize(d)) },
    );
    const got = requestOf(join(encodeMsgRequest(sent, 5)));
    expect(got).toMatchObject({ db: "library", command: "insert" });
    expect(deserialize(got.body)).toEqual({ insert: "loans", ordered: false, $db: "library" });
    expect(got.sequences.get("documents")!.map((d) => deserialize(d))).toEqual(LOANS);
  });

  it("name the request's database once, whatever the command said", () => {
    const sent = request("library", { find: "loans", $db: "elsewhere", filter: {} });
    expect(deserialize(requestOf(join(encodeMsgRequest(sent, 5))).body)).toEqual({
      find: "loans",
      filter: {},
      $db: "library",
    });
  });

  it("carry a reply back, small and large", () => {
    for (const size of [10, 100_000]) {
      const incoming: IncomingRequest = parseRequest(opMsg([body(PING)], 0, 77));
      const bytes = join(encodeReply(okReply({ text: "x".repeat(size) }), incoming, 3));
      const { responseTo, reply } = parseMsgReply(bytes);
      expect(responseTo).toBe(77);
      expect(deserialize(reply.body)).toEqual({ text: "x".repeat(size), ok: 1 });
    }
  });

  it("are refused beyond 48,000,000 bytes", () => {
    const documents = Array.from({ length: 4 }, () => serialize({ text: "x".repeat(12_000_000) }));
    expect(() => encodeMsgRequest(request("library", { insert: "loans" }, { documents }), 1)).toThrow(
      /48000000/,
    );
  });
});
