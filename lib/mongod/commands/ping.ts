/** ping: is it there? */
import { okReply } from "../../protocol/index.js";
import type { Command } from "../command.js";

export const ping: Command = {
  name: "ping",
  fields: [],
  lenient: true,
  run: () => okReply(),
};
