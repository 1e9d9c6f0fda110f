/** `whatsmyuri`: the client's address as seen from here. */
import { DocumentWriter } from "../../bson/index.js";
import { okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";

export const whatsmyuri: Command = {
  name: "whatsmyuri",
  run: (_context, request) =>
    okReply(new DocumentWriter().string("you", request.client?.address ?? "").finish()),
};
