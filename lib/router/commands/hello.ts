/**
 * `hello` and its old name `isMaster`: who answers here. `msg: "isdbgrid"` tells
 * a driver that it talks to a router. There is no `topologyVersion`, so no
 * client asks to have its hello answered late.
 */
import { DocumentWriter } from "../../bson/index.js";
import type { Reply, Request } from "../../protocol/index.js";
import { okReply } from "../../protocol/index.js";
import type { Command, RouterContext } from "../context.js";
import { flag } from "../context.js";
import { LIMITS, WIRE_VERSIONS } from "../version.js";

export const hello: Command = { name: "hello", run: (context, request) => answer(context, request, false) };

export const isMaster: Command = {
  name: "isMaster",
  aliases: ["ismaster"],
  run: (context, request) => answer(context, request, true),
};

function answer(context: RouterContext, request: Request, old: boolean): Reply {
  const reply = new DocumentWriter()
    .bool(old ? "ismaster" : "isWritablePrimary", true)
    .string("msg", "isdbgrid")
    .int32("maxBsonObjectSize", LIMITS.maxBsonObjectSize)
    .int32("maxMessageSizeBytes", LIMITS.maxMessageSizeBytes)
    .int32("maxWriteBatchSize", LIMITS.maxWriteBatchSize)
    .date("localTime", context.waiting.now())
    .int32("logicalSessionTimeoutMinutes", 30)
    .int32("connectionId", request.client?.connectionId ?? 0)
    .int32("maxWireVersion", WIRE_VERSIONS.max)
    .int32("minWireVersion", WIRE_VERSIONS.min);
  if (flag(request, "helloOk")) reply.bool("helloOk", true);
  return okReply(reply.finish());
}
