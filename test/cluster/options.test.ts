import { describe, expect, it } from "vitest";
import type { ClusterOptions } from "../../lib/cluster/index.js";
import { ClusterError, parseChunkSize, resolveOptions } from "../../lib/cluster/index.js";

const KB = 1024;
const MB = 1024 * KB;

/** The error that options must end in. */
function refusal(options: object): ClusterError {
  try {
    resolveOptions(options as ClusterOptions);
  } catch (error) {
    if (error instanceof ClusterError) return error;
    throw error;
  }
  throw new Error("the options were accepted");
}

describe("options of a cluster", () => {
  it("have defaults", () => {
    expect(resolveOptions()).toEqual({
      shards: 2,
      engine: "embedded",
      rules: "8.0",
      port: 0,
      seed: 1,
      chunkSizeBytes: 128 * MB,
      clock: "virtual",
      download: false,
    });
  });

  it("take the chunk size from the rules: 64 MB before 6.0", () => {
    expect(resolveOptions({ rules: "5.0" }).chunkSizeBytes).toBe(64 * MB);
    expect(resolveOptions({ rules: "6.0" }).chunkSizeBytes).toBe(128 * MB);
    expect(resolveOptions({ rules: "2.4", chunkSize: "1MB" }).chunkSizeBytes).toBe(MB);
  });

  it("take the engine from the environment where none is asked for", () => {
    expect(resolveOptions({}, { SHARDLAB_ENGINE: "process" }).engine).toBe("process");
    expect(() => resolveOptions({}, { SHARDLAB_ENGINE: "uri" })).toThrow(/engine uri is not available yet/);
    expect(resolveOptions({ engine: "embedded" }, { SHARDLAB_ENGINE: "uri" }).engine).toBe("embedded");
    expect(resolveOptions({}, { SHARDLAB_ENGINE: "" }).engine).toBe("embedded");
  });

  it("allow a download only where somebody says so", () => {
    expect(resolveOptions({}, { SHARDLAB_DOWNLOAD: "1" }).download).toBe(true);
    expect(resolveOptions({}, { SHARDLAB_DOWNLOAD: "0" }).download).toBe(false);
    expect(resolveOptions({}, { SHARDLAB_DOWNLOAD: "" }).download).toBe(false);
    expect(resolveOptions({ download: true }).download).toBe(true);
    expect(resolveOptions({ download: false }, { SHARDLAB_DOWNLOAD: "1" }).download).toBe(false);
  });

  it.each([1, 2, 26])("allow %s shards", (shards) => {
    expect(resolveOptions({ shards }).shards).toBe(shards);
  });

  it.each<[object, string | RegExp]>([
    [{ shards: 0 }, "shards can't be 0; give a whole number from 1 to 26"],
    [{ shards: 27 }, "shards can't be 27; give a whole number from 1 to 26"],
    [{ shards: 1.5 }, "shards can't be 1.5; give a whole number from 1 to 26"],
    [{ shards: NaN }, "shards can't be NaN; give a whole number from 1 to 26"],
    [{ shards: "2" }, `shards can't be "2"; give a whole number from 1 to 26`],
    [{ port: -1 }, "port can't be -1; give a whole number from 0 to 65535"],
    [{ port: 65_536 }, "port can't be 65536; give a whole number from 0 to 65535"],
    [{ seed: 0.5 }, new RegExp(String.raw`^seed can't be 0.5; give a whole number`)],
    [{ rules: "9.0" }, `no rules for MongoDB "9.0"; choose from 2.4, 4.2, 4.4, 5.0, 6.0, 7.0, 8.0`],
    [{ rules: 8 }, "no rules for MongoDB 8; choose from 2.4, 4.2, 4.4, 5.0, 6.0, 7.0, 8.0"],
    [{ clock: "fast" }, `unknown clock "fast"; choose virtual or real`],
    [{ shard: 2 }, new RegExp(String.raw`^unknown option shard; choose from shards, engine`)],
    [
      { engine: "docker" },
      new RegExp(String.raw`^unknown engine "docker"; choose from embedded, process, mongod, uri, runner`),
    ],
    [{ engine: "toString" }, new RegExp(String.raw`^unknown engine "toString"`)],
    [
      { engine: "runner" },
      new RegExp(
        String.raw`^engine runner is not available yet in this version; use --engine embedded, process or mongod`,
      ),
    ],
    [{ download: "yes" }, `download can't be "yes"; give true or false`],
  ])("refuse %j in one line that says what to do", (options, message) => {
    const error = refusal(options);
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain("\n");
    expect(error.message.endsWith(`; ${error.remedy}`)).toBe(true);
  });

  it("tell an engine that is planned from one that nobody knows", () => {
    expect(refusal({ engine: "uri" }).code).toBe("engine-unavailable");
    expect(refusal({ engine: "url" }).code).toBe("unknown-engine");
    expect(refusal({ shards: 0 }).code).toBe("bad-option");
  });
});

describe("a chunk size", () => {
  it.each<[string | number, number]>([
    ["64KB", 64 * KB],
    ["64kb", 64 * KB],
    ["64 KiB", 64 * KB],
    ["1MB", MB],
    ["0.5MB", 512 * KB],
    ["1GB", 1024 * MB],
    ["2048", 2 * KB],
    ["2048B", 2 * KB],
    [65_536, 64 * KB],
  ])("%j is %i bytes", (text, bytes) => {
    expect(parseChunkSize(text)).toBe(bytes);
  });

  it.each<string | number>([
    "",
    "KB",
    "64XB",
    "-1MB",
    "64KBs",
    "1e3",
    0,
    100,
    "1023",
    "2GB",
    NaN,
    Infinity,
    1500.5,
    "0.3B",
  ])("can't be %j", (text) => {
    expect(() => parseChunkSize(text)).toThrow(
      /^chunkSize can't be .*; give a size from 1KB to 1GB, for example "64KB"$/,
    );
  });
});
