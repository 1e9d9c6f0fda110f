/**
 * hello, and its older names isMaster and ismaster: how a client learns what it talks to.
 *
 * `topologyVersion` is left out on purpose: no client then asks for a hello
 * that waits for changes.
 */
import type { RawValue } from "../../bson/index.js";
import { date, int64, objectId, timestamp } from "../../bson/index.js";
import {
  MAX_BSON_OBJECT_BYTES,
  MAX_MESSAGE_BYTES,
  MAX_WRITE_BATCH,
  WIRE_VERSIONS,
} from "../../protocol/index.js";
import type { Command, CommandContext } from "../command.js";
import { treeReply } from "../tree.js";

/** The only election that ever took place. */
const ELECTION: RawValue = objectId(new Uint8Array([0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 1]));

export const hello: Command = {
  name: "hello",
  aliases: ["isMaster", "ismaster"],
  fields: [],
  lenient: true,
  run(context) {
    const { server, request, arguments: args } = context;
    const now = server.environment.now();
    return treeReply({
      ...(request.command === "hello" ? {} : { ismaster: true }),
      ...(args.boolean("helloOk") && { helloOk: true }),
      isWritablePrimary: true,
      ...(server.replSet !== undefined && replicaSetMember(context, server.replSet, now)),
      maxBsonObjectSize: MAX_BSON_OBJECT_BYTES,
      maxMessageSizeBytes: MAX_MESSAGE_BYTES,
      maxWriteBatchSize: MAX_WRITE_BATCH,
      localTime: date(now),
      logicalSessionTimeoutMinutes: 30,
      connectionId: request.client?.connectionId ?? 0,
      minWireVersion: WIRE_VERSIONS.min,
      maxWireVersion: WIRE_VERSIONS.max,
      readOnly: false,
    });
  },
};

/** What a replica set's only member adds. */
function replicaSetMember({ server }: CommandContext, setName: string, now: number): Record<string, unknown> {
  const opTime = { ts: timestamp(Math.floor(now / 1000), 1), t: int64(1) };
  return {
    hosts: [server.host],
    setName,
    setVersion: 1,
    secondary: false,
    primary: server.host,
    me: server.host,
    electionId: ELECTION,
    lastWrite: {
      opTime,
      lastWriteDate: date(now),
      majorityOpTime: opTime,
      majorityWriteDate: date(now),
    },
  };
}
