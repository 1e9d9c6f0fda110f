/**
 * What `$currentOp` shows: the operation that asks, for a command runs from start to end and no other is under way,
 * and cursors at rest.
 */
import { BsonType, asDocument, date, getField, int64 } from "../bson/index.js";
import type { Request } from "../protocol/index.js";
import type { Server } from "./command.js";
import type { ServerCursor } from "./cursors.js";
import { encodeTree } from "./tree.js";

/**
 * The documents of `$currentOp`.
 * @param request the command that asks
 * @param wants whether an option of the stage is on: `idleCursors`, …
 */
export function currentOperations(
  server: Server,
  request: Request | undefined,
  wants: (option: string) => boolean,
): Uint8Array[] {
  const operations = request ? [activeOperation(server, request)] : [];
  if (wants("idleCursors")) operations.push(...server.cursors.all().map((each) => idleCursor(server, each)));
  return operations;
}

function activeOperation(server: Server, { db, body, client }: Request): Uint8Array {
  const lsid = getField(body, "lsid");
  return encodeTree({
    type: "op",
    host: server.host,
    ...(client && {
      desc: `conn${client.connectionId}`,
      connectionId: client.connectionId,
      client: client.address,
    }),
    active: true,
    currentOpTime: new Date(server.environment.now()).toISOString(),
    isFromUserConnection: client !== undefined,
    threaded: true,
    opid: server.statistics.operationNumber,
    ...(lsid?.type === BsonType.object && { lsid: asDocument(lsid) }),
    secs_running: int64(0),
    microsecs_running: int64(0),
    op: "command",
    ns: `${db}.$cmd.aggregate`,
    redacted: false,
    command: body,
    numYields: 0,
    queryFramework: "classic",
    locks: {},
    waitingForLock: false,
    lockStats: {},
    waitingForFlowControl: false,
    flowControlStats: {},
  });
}

function idleCursor(server: Server, cursor: ServerCursor): Uint8Array {
  const lsid = cursor.command && getField(cursor.command, "lsid");
  return encodeTree({
    type: "idleCursor",
    host: server.host,
    ns: cursor.namespace,
    ...(lsid?.type === BsonType.object && { lsid: asDocument(lsid) }),
    cursor: {
      cursorId: int64(cursor.id),
      createdDate: date(cursor.createdAt),
      lastAccessDate: date(cursor.lastUsed),
      nDocsReturned: int64(cursor.documents),
      nBatchesReturned: int64(cursor.batches),
      noCursorTimeout: cursor.noTimeout,
      tailable: cursor.tailable,
      awaitData: false,
      ...(cursor.command && { originatingCommand: cursor.command }),
    },
  });
}
