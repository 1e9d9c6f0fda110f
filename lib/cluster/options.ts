/**
 * What a cluster can be asked for, checked before anything is started.
 *
 * Options come from notebooks, where TypeScript has looked at them, and from
 * the command line and the environment, where nobody has. Every refusal is one
 * line that names the cause and the remedy.
 */
import type { RulesVersion } from "../router/index.js";
import { RULES_VERSIONS, rulesFor } from "../router/index.js";
import { ClusterError, ClusterErrorCode } from "./error.js";

/** Where shards and router come from. */
export type EngineName = "embedded" | "process" | "mongod" | "uri" | "runner";

export interface ClusterOptions {
  /** Number of shards, 1 to 26; they are called shardA, shardB, … Default 2. */
  shards?: number;
  /** Default: the environment variable SHARDLAB_ENGINE, else `embedded`. */
  engine?: EngineName;
  /** The MongoDB version whose sharding rules apply. Default `"8.0"`. */
  rules?: RulesVersion;
  /** Port of the router; 0 (default) for any free one. */
  port?: number;
  /** Repeats every random choice of the cluster. Default 1. */
  seed?: number;
  /** Largest chunk before it is split or moved: bytes, or text such as `"64KB"`. Default as `rules` say: 128 MB or 64 MB. */
  chunkSize?: string | number;
  /** `virtual` (default): rules that make MongoDB wait are reported, not waited for. `real`: they wait. */
  clock?: "virtual" | "real";
  /**
   * Engine `mongod` may download MongoDB where none is found. Default: whether the environment variable
   * SHARDLAB_DOWNLOAD is 1; nothing is ever downloaded unasked.
   */
  download?: boolean;
}

/** Options with every default filled in. */
export interface ResolvedOptions {
  readonly shards: number;
  readonly engine: EngineName;
  readonly rules: RulesVersion;
  readonly port: number;
  readonly seed: number;
  readonly chunkSizeBytes: number;
  readonly clock: "virtual" | "real";
  readonly download: boolean;
}

const ENGINES: Readonly<Record<EngineName, "available" | "planned">> = {
  embedded: "available",
  process: "available",
  mongod: "available",
  uri: "planned",
  runner: "planned",
};
const MAX_SHARDS = 26;
const KNOWN: ReadonlySet<string> = new Set([
  "shards",
  "engine",
  "rules",
  "port",
  "seed",
  "chunkSize",
  "clock",
  "download",
] satisfies (keyof ClusterOptions)[]);

/**
 * Checks options and fills in defaults.
 * @param options what was asked for
 * @param env the caller's environment: SHARDLAB_ENGINE and SHARDLAB_DOWNLOAD say what nobody asked for
 * @throws ClusterError naming the option, what is wrong and what to write instead
 */
export function resolveOptions(
  options: ClusterOptions = {},
  env: Readonly<Record<string, string | undefined>> = {},
): ResolvedOptions {
  for (const name of Object.keys(options)) {
    if (!KNOWN.has(name)) throw bad(`unknown option ${name}`, `choose from ${[...KNOWN].join(", ")}`);
  }
  const engine = options.engine ?? (env["SHARDLAB_ENGINE"] || "embedded");
  const rules = options.rules ?? "8.0";
  checkEngine(engine);
  if (!RULES_VERSIONS.includes(rules)) {
    throw bad(`no rules for MongoDB ${show(rules)}`, `choose from ${RULES_VERSIONS.join(", ")}`);
  }
  return {
    engine,
    rules,
    shards: wholeNumber("shards", options.shards ?? 2, 1, MAX_SHARDS),
    port: wholeNumber("port", options.port ?? 0, 0, 65_535),
    seed: wholeNumber("seed", options.seed ?? 1, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    chunkSizeBytes:
      options.chunkSize === undefined ? rulesFor(rules).chunkSizeMB * MB : parseChunkSize(options.chunkSize),
    clock: checkClock(options.clock ?? "virtual"),
    download: checkDownload(options.download ?? env["SHARDLAB_DOWNLOAD"] === "1"),
  };
}

function checkEngine(engine: string): asserts engine is EngineName {
  const names = Object.keys(ENGINES) as EngineName[];
  if (!Object.hasOwn(ENGINES, engine)) {
    throw new ClusterError(
      ClusterErrorCode.unknownEngine,
      `unknown engine ${show(engine)}`,
      `choose from ${names.join(", ")} (available in this version: ${names.filter(isAvailable).join(", ")})`,
    );
  }
  if (!isAvailable(engine as EngineName)) {
    throw new ClusterError(
      ClusterErrorCode.engineUnavailable,
      `engine ${engine} is not available yet in this version`,
      'use --engine embedded, process or mongod (in a notebook: engine: "embedded")',
    );
  }
}

function isAvailable(engine: EngineName): boolean {
  return ENGINES[engine] === "available";
}

function checkClock(clock: string): "virtual" | "real" {
  if (clock !== "virtual" && clock !== "real")
    throw bad(`unknown clock ${show(clock)}`, "choose virtual or real");
  return clock;
}

function checkDownload(download: unknown): boolean {
  if (typeof download === "boolean") return download;
  throw bad(`download can't be ${show(download)}`, "give true or false");
}

function wholeNumber(name: string, value: unknown, min: number, max: number): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
  throw bad(`${name} can't be ${show(value)}`, `give a whole number from ${min} to ${max}`);
}

const KB = 1024;
const MB = 1024 * KB;
const GB = 1024 * MB;
const UNITS: Readonly<Record<string, number>> = { "": 1, B: 1, KB, KIB: KB, MB, MIB: MB, GB, GIB: GB };
/** MongoDB itself allows whole megabytes from 1 to 1024; classroom data needs less. */
const MIN_CHUNK_SIZE = KB;
const MAX_CHUNK_SIZE = GB;

/**
 * Reads a chunk size.
 * @param size bytes, or a number with a unit of 1024s: `"64KB"`, `"1MB"`, `"0.5 MB"`
 * @returns bytes
 * @throws ClusterError outside 1 KB to 1 GB, or for anything that is no size
 */
export function parseChunkSize(size: string | number): number {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*$/.exec(String(size));
  const unit = UNITS[(match?.[2] ?? "").toUpperCase()];
  const bytes = match && unit !== undefined ? Number(match[1]) * unit : NaN;
  if (Number.isInteger(bytes) && bytes >= MIN_CHUNK_SIZE && bytes <= MAX_CHUNK_SIZE) return bytes;
  throw bad(`chunkSize can't be ${show(size)}`, `give a size from 1KB to 1GB, for example "64KB"`);
}

function bad(cause: string, remedy: string): ClusterError {
  return new ClusterError(ClusterErrorCode.badOption, cause, remedy);
}

/** A value as its user would recognise it, on one line. */
function show(value: unknown): string {
  const text = typeof value === "string" ? `"${value}"` : String(value);
  return text.replace(/\s+/g, " ").slice(0, 60);
}
