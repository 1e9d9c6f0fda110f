/**
 * hello, and its older names isMaster and ismaster: how a client learns what it talks to.
 *
 * `topologyVersion` is left out on purpose: no client then asks for a hello
 * that waits for changes.
 */
import { date, int64, timestamp } from "../../bson/index.js";
import {
  MAX_BSON_OBJECT_BYTES,
  MAX_MESSAGE_BYTES,
  MAX_WRITE_BATCH,
  WIRE_VERSIONS,
} from "../../protocol/index.js";
import type { Command, Server } from "../command.js";
import { treeReply } from "../tree.js";

export const hello: Command = {
  name: "hello",
  aliases: ["isMaster", "ismaster"],
  fields: [],
  lenient: true,
  onSecondary: "always",
  help: "checks whether this node is primary in its replica set",
  run({ server, request, arguments: args }) {
    const legacy = request.command !== "hello";
    return treeReply({
      ...(args.boolean("helloOk") && { helloOk: true }),
      ...helloFields(server, legacy),
      maxBsonObjectSize: MAX_BSON_OBJECT_BYTES,
      maxMessageSizeBytes: MAX_MESSAGE_BYTES,
      maxWriteBatchSize: MAX_WRITE_BATCH,
      localTime: date(server.environment.now()),
      logicalSessionTimeoutMinutes: server.parameters.number("localLogicalSessionTimeoutMinutes"),
      connectionId: request.client?.connectionId ?? 0,
      minWireVersion: WIRE_VERSIONS.min,
      maxWireVersion: WIRE_VERSIONS.max,
      readOnly: false,
    });
  },
};

/**
 * What hello says of the server's part in its replica set.
 * @param legacy answer with the word `ismaster`, as isMaster does
 */
export function helloFields(server: Server, legacy: boolean): Record<string, unknown> {
  const writable = (yes: boolean): Record<string, unknown> =>
    legacy ? { ismaster: yes } : { isWritablePrimary: yes };
  const set = server.replication;
  if (!set) return writable(true);
  const { state } = set;
  if (state === "startup") {
    return {
      ...writable(false),
      secondary: false,
      info: "Does not have a valid replica set config",
      isreplicaset: true,
    };
  }
  const { config } = set;
  const now = server.environment.now();
  const opTime = { ts: timestamp(Math.floor(now / 1000), 1), t: int64(set.term) };
  const visible = config.members.filter(({ hidden }) => !hidden);
  const passives = visible.filter(({ priority }) => priority === 0).map(({ host }) => host);
  const own = config.members.find(({ host }) => host === config.host);
  return {
    hosts: visible.filter(({ priority }) => priority > 0).map(({ host }) => host),
    ...(passives.length > 0 && { passives }),
    setName: set.name,
    setVersion: config.version,
    ...writable(state === "primary"),
    secondary: state === "secondary",
    ...((state === "primary" || set.follows) && { primary: config.primary }),
    ...(own?.priority === 0 && { passive: true }),
    ...(own?.hidden && { hidden: true }),
    ...(config.tags.length > 5 && { tags: config.tags }),
    me: config.host,
    ...(set.configsvr && { configsvr: 2 }),
    ...(state === "primary" && { electionId: set.electionId }),
    lastWrite: {
      opTime,
      lastWriteDate: date(now),
      majorityOpTime: opTime,
      majorityWriteDate: date(now),
    },
  };
}
