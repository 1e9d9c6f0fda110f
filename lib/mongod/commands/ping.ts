/** ping: whether anybody is there. */
import { okReply } from "../../protocol/index.js";
import type { Command } from "../command.js";

export const ping: Command = {
  name: "ping",
  fields: [],
  onSecondary: "always",
  help: "a way to check that the server is alive. responds immediately even if server is in a db lock.",
  run: () => okReply(),
};
