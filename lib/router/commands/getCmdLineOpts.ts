/** `getCmdLineOpts`: the router is not started by a command line of its own. */
import { DocumentWriter } from "../../bson/index.js";
import { okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";

export const getCmdLineOpts: Command = {
  name: "getCmdLineOpts",
  adminOnly: true,
  run: () =>
    okReply(
      new DocumentWriter().values("argv", []).document("parsed", new DocumentWriter().finish()).finish(),
    ),
};
