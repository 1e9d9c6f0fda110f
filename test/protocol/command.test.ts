import { Long, serialize } from "bson";
import { describe, expect, it } from "vitest";
import { BsonError, fromDocument } from "../../lib/bson/index.js";
import {
  codeName,
  collectionNamespace,
  CommandError,
  cursorReply,
  documentsOf,
  EndpointUnreachableError,
  ErrorCode,
  errorReply,
  failureOf,
  isOk,
  notSimulated,
  okReply,
  readCursorReply,
  replyDocument,
  request,
  throwIfFailed,
} from "../../lib/protocol/index.js";

/** The code of the CommandError that `run` throws. */
function codeOf(run: () => unknown): number {
  try {
    run();
  } catch (error) {
    if (error instanceof CommandError) return error.code;
    throw error;
  }
  throw new Error("nothing was thrown");
}

const LOANS = [{ _id: 1 }, { _id: 2 }];

describe("the documents of a write", () => {
  it("are the same as a sequence and as an array", () => {
    const slices = LOANS.map((loan) => serialize(loan));
    const asSequence = request("library", { insert: "loans" }, { documents: slices });
    const asArray = request("library", { insert: "loans", documents: LOANS });
    for (const insert of [asSequence, asArray]) {
      expect(documentsOf(insert, "documents").map(fromDocument)).toEqual(LOANS);
    }
    expect(documentsOf(asArray, "documents")[0]!.buffer).toBe(asArray.body.buffer);
  });

  it("are required", () => {
    expect(codeOf(() => documentsOf(request("library", { insert: "loans" }), "documents"))).toBe(40414);
  });

  it.each([
    ["no array", 14, request("library", { insert: "loans", documents: 5 })],
    ["an array of other things", 14, request("library", { insert: "loans", documents: [{}, "x"] })],
    ["both ways at once", 40433, request("library", { insert: "loans", documents: [] }, { documents: [] })],
  ])("are refused as %s", (_what, code, insert) => {
    expect(codeOf(() => documentsOf(insert, "documents"))).toBe(code);
  });
});

describe("the namespace of a command", () => {
  it("is database and collection", () => {
    expect(collectionNamespace(request("library", { find: "loans" }))).toBe("library.loans");
    expect(collectionNamespace(request("library", { find: "system.views" }))).toBe("library.system.views");
    expect(collectionNamespace(request("library", { find: "a.b.c" }))).toBe("library.a.b.c");
  });

  it.each<[string, object]>([
    ["", { find: "loans" }],
    ["li brary", { find: "loans" }],
    ["a.b", { find: "loans" }],
    ["li$brary", { find: "loans" }],
    ["x".repeat(64), { find: "loans" }],
    ["é".repeat(32), { find: "loans" }], // 64 bytes
    ["library", { find: 1 }],
    ["library", { find: "" }],
    ["library", { find: ".loans" }],
    ["library", { find: "lo$ans" }],
    ["library", { find: "lo\0ans" }],
    ["library", { find: "x".repeat(248) }], // 256 bytes with the database and the dot
  ])("is refused for %j and %j", (db, command) => {
    expect(codeOf(() => collectionNamespace(request(db, command)))).toBe(73);
  });

  it("must be there: a command that is empty has none", () => {
    expect(codeOf(() => collectionNamespace(request("library", {})))).toBe(2);
  });

  it("may be 255 bytes long", () => {
    expect(collectionNamespace(request("library", { find: "x".repeat(247) }))).toHaveLength(255);
  });
});

describe("errors", () => {
  it("have names, or are called by their number", () => {
    expect(codeName(26)).toBe("NamespaceNotFound");
    expect(codeName(40414)).toBe("IDLFailedToParse");
    expect(codeName(31025)).toBe("Location31025");
    expect(codeName(ErrorCode.UnrecognizedStage)).toBe("Location40324");
  });

  it("have one name for each number", () => {
    const codes = Object.values(ErrorCode);
    expect(new Set(codes).size).toBe(codes.length);
  });

  it("become replies with code, name and message", () => {
    const error = new CommandError(11000, "E11000 duplicate key", { keyValue: { _id: 5 } });
    expect(replyDocument(errorReply(error))).toEqual({
      ok: 0,
      errmsg: "E11000 duplicate key",
      code: 11000,
      codeName: "DuplicateKey",
      keyValue: { _id: 5 },
    });
    expect(replyDocument(errorReply(new BsonError("broken")))).toMatchObject({
      code: 22,
      codeName: "InvalidBSON",
    });
    expect(replyDocument(errorReply(new EndpointUnreachableError("127.0.0.1:1", "gone")))).toMatchObject({
      code: 6,
      codeName: "HostUnreachable",
      errmsg: "cannot reach 127.0.0.1:1: gone",
    });
    expect(replyDocument(errorReply(notSimulated("$graphLookup")))).toMatchObject({
      code: 238,
      codeName: "NotImplemented",
      errmsg: "not simulated: $graphLookup",
    });
  });

  it("show no stack, whatever went wrong", () => {
    expect(replyDocument(errorReply(new TypeError("x is undefined")))).toEqual({
      ok: 0,
      errmsg: "x is undefined",
      code: 8,
      codeName: "UnknownError",
    });
  });

  it("come back from a reply as they went in", () => {
    const told = failureOf(errorReply(new CommandError(61, "no key", { hint: "add it" })));
    expect(told).toMatchObject({
      code: 61,
      codeName: "ShardKeyNotFound",
      message: "no key",
      extra: { hint: "add it" },
    });
    expect(codeOf(() => throwIfFailed(errorReply(told)))).toBe(61);
  });
});

describe("replies", () => {
  it("end with ok: 1", () => {
    expect(Object.entries(throwIfFailed(okReply({ n: 3 })))).toEqual([
      ["n", 3],
      ["ok", 1],
    ]);
    expect(throwIfFailed(okReply(serialize({ n: 3 })))).toEqual({ n: 3, ok: 1 });
    expect(throwIfFailed(okReply())).toEqual({ ok: 1 });
  });

  it.each([
    [1, true],
    [true, true],
    [Long.fromNumber(1), true],
    [0, false],
    [false, false],
  ])("ok: %s means %s", (ok, good) => {
    expect(isOk({ body: serialize({ ok }) })).toBe(good);
  });

  it("without ok are failures", () => {
    expect(isOk({ body: serialize({}) })).toBe(false);
  });
});

describe("a batch of a cursor", () => {
  it("carries raw documents there and back", () => {
    const documents = LOANS.map((loan) => serialize(loan));
    const reply = cursorReply("library.loans", 2n ** 62n, documents, "firstBatch");
    expect(fromDocument(reply.body)).toMatchObject({
      cursor: { firstBatch: LOANS, ns: "library.loans" },
      ok: 1,
    });
    const { id, ns, batch } = readCursorReply(reply);
    expect([id, ns]).toEqual([2n ** 62n, "library.loans"]);
    expect(batch.map((slice) => Buffer.from(slice))).toEqual(documents.map((slice) => Buffer.from(slice)));
    expect(batch[0]!.buffer).toBe(reply.body.buffer);
  });

  it("may be empty, and the last one", () => {
    expect(readCursorReply(cursorReply("a.b", 0n, [], "nextBatch"))).toEqual({
      id: 0n,
      ns: "a.b",
      batch: [],
    });
  });

  it("fails as its reply failed", () => {
    expect(codeOf(() => readCursorReply(errorReply(new CommandError(43, "cursor id 5 not found"))))).toBe(43);
    expect(codeOf(() => readCursorReply(okReply()))).toBe(2);
  });
});
