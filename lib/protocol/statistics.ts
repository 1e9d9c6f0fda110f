/**
 * What a server has done since it started, as `serverStatus` and `top` report it.
 *
 * Counted after each command from its request and reply, so that the commands
 * themselves know nothing of it.
 */
import {
  asDocument,
  asNumber,
  asString,
  BsonType,
  elementCount,
  elements,
  firstField,
  getField,
} from "../bson/index.js";
import { documentsOf, isOk } from "./command.js";
import type { Reply, Request } from "./endpoint.js";

/** Runs of one command. */
export interface CommandCount {
  total: number;
  failed: number;
}

/** `opcounters`: documents inserted, statements of updates and deletes, queries, getMores, everything else. */
export interface OperationCounts {
  insert: number;
  query: number;
  update: number;
  delete: number;
  getmore: number;
  command: number;
}

/** `metrics.document`. */
export interface DocumentCounts {
  deleted: number;
  inserted: number;
  returned: number;
  updated: number;
}

/** Reads and writes of one namespace, for `top`: how many and for how many microseconds. */
export interface NamespaceUse {
  queries: Use;
  getmore: Use;
  insert: Use;
  update: Use;
  remove: Use;
  commands: Use;
}

export interface Use {
  time: number;
  count: number;
}

type Kind = keyof NamespaceUse;

/** Commands that are not counted as `command`. */
const KINDS: ReadonlyMap<string, Kind> = new Map([
  ["find", "queries"],
  ["aggregate", "queries"],
  ["getMore", "getmore"],
  ["insert", "insert"],
  ["update", "update"],
  ["delete", "remove"],
]);

/** The counter of a command that failed as a whole: its statements were none. */
const OF_FAILED: ReadonlyMap<string, keyof OperationCounts> = new Map([
  ["find", "query"],
  ["aggregate", "query"],
  ["getMore", "getmore"],
]);

/** Namespaces that `top` keeps apart; a flood of made-up names starts afresh. */
const MAX_NAMESPACES = 10_000;

/** The counters of one server. */
export class ServerStatistics {
  readonly operations: OperationCounts = {
    insert: 0,
    query: 0,
    update: 0,
    delete: 0,
    getmore: 0,
    command: 0,
  };
  readonly documents: DocumentCounts = { deleted: 0, inserted: 0, returned: 0, updated: 0 };
  /** What expired documents cost: counted by the TTL monitor. */
  readonly ttl = { deletedDocuments: 0, deletedKeys: 0, invalidTTLIndexSkips: 0, passes: 0, subPasses: 0 };
  /** By command name. */
  readonly commands = new Map<string, CommandCount>();
  /** Commands begun; the running one's number. */
  operationNumber = 0;
  /** Names of commands that came and don't exist. */
  unknownCommands = 0;
  /** Failed commands whose code says that the user erred. */
  userAsserts = 0;
  /** By namespace. */
  readonly namespaces = new Map<string, NamespaceUse>();

  /** Counts one command that has been answered. */
  record(name: string, request: Request, reply: Reply, milliseconds: number): void {
    const ok = isOk(reply);
    let count = this.commands.get(name);
    if (!count) this.commands.set(name, (count = { total: 0, failed: 0 }));
    count.total++;
    if (!ok) {
      count.failed++;
      this.userAsserts++;
    }
    // A command that failed may not even be readable; it counts, and nothing of it is looked at.
    if (!ok) {
      this.operations[OF_FAILED.get(name) ?? "command"]++;
      return;
    }
    this.countOperation(name, request, reply);
    this.recordUse(KINDS.get(name) ?? "commands", request, milliseconds);
  }

  private countOperation(name: string, request: Request, reply: Reply): void {
    const { operations, documents } = this;
    switch (name) {
      case "insert": {
        const n = numberOf(reply, "n");
        operations.insert += n + errorsOf(reply);
        documents.inserted += n;
        return;
      }
      case "update":
        operations.update += attempted(request, reply, "updates");
        documents.updated += numberOf(reply, "nModified");
        documents.inserted += arrayLength(reply.body, "upserted");
        return;
      case "delete":
        operations.delete += attempted(request, reply, "deletes");
        documents.deleted += numberOf(reply, "n");
        return;
      case "bulkWrite":
        this.countBulk(request, reply);
        return;
      case "find":
      case "aggregate":
        operations.query++;
        documents.returned += batchLength(reply, "firstBatch");
        return;
      case "getMore":
        operations.getmore++;
        documents.returned += batchLength(reply, "nextBatch");
        return;
      case "findAndModify":
        operations.command++;
        this.countFindAndModify(reply);
        return;
      default:
        operations.command++;
    }
  }

  private countBulk(request: Request, reply: Reply): void {
    const { operations, documents } = this;
    for (const operation of documentsOf(request, "ops")) {
      const kind = firstField(operation)?.[0];
      if (kind === "insert" || kind === "update" || kind === "delete") operations[kind]++;
    }
    documents.inserted += numberOf(reply, "nInserted") + numberOf(reply, "nUpserted");
    documents.updated += numberOf(reply, "nModified");
    documents.deleted += numberOf(reply, "nDeleted");
  }

  private countFindAndModify(reply: Reply): void {
    const result = getField(reply.body, "lastErrorObject");
    if (result?.type !== BsonType.object) return;
    const document = asDocument(result);
    const n = getField(document, "n");
    if (!n || asNumber(n) === 0) return;
    const { documents } = this;
    const updatedExisting = getField(document, "updatedExisting");
    if (!updatedExisting) documents.deleted++;
    else if (getField(document, "upserted")) documents.inserted++;
    else documents.updated++;
  }

  private recordUse(kind: Kind, request: Request, milliseconds: number): void {
    const name = firstField(request.body)?.[1];
    if (name?.type !== BsonType.string) return;
    const namespace = `${request.db}.${asString(name)}`;
    let use = this.namespaces.get(namespace);
    if (!use) {
      if (this.namespaces.size >= MAX_NAMESPACES) this.namespaces.clear();
      use = newUse();
      this.namespaces.set(namespace, use);
    }
    use[kind].count++;
    use[kind].time += Math.max(0, Math.round(milliseconds * 1000));
  }
}

function newUse(): NamespaceUse {
  const use = (): Use => ({ time: 0, count: 0 });
  return {
    queries: use(),
    getmore: use(),
    insert: use(),
    update: use(),
    remove: use(),
    commands: use(),
  };
}

/** Statements that were tried: those after the error of an ordered batch were not. */
function attempted(request: Request, reply: Reply, sequence: string): number {
  const statements = documentsOf(request, sequence).length;
  const errors = getField(reply.body, "writeErrors");
  const ordered = getField(request.body, "ordered");
  if (
    errors?.type !== BsonType.array ||
    (ordered?.type === BsonType.bool && ordered.bytes[ordered.start] === 0)
  )
    return statements;
  const [first] = elements(asDocument(errors));
  const index = first?.type === BsonType.object ? getField(asDocument(first), "index") : undefined;
  return index ? asNumber(index) + 1 : statements;
}

function errorsOf(reply: Reply): number {
  return arrayLength(reply.body, "writeErrors");
}

function batchLength(reply: Reply, name: string): number {
  const cursor = getField(reply.body, "cursor");
  return cursor?.type === BsonType.object ? arrayLength(asDocument(cursor), name) : 0;
}

function arrayLength(document: Uint8Array, name: string): number {
  const value = getField(document, name);
  return value?.type === BsonType.array ? elementCount(asDocument(value)) : 0;
}

function numberOf(reply: Reply, name: string): number {
  const value = getField(reply.body, name);
  return value ? asNumber(value) : 0;
}
