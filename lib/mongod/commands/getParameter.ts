/** getParameter: the server's parameters, by name or all. */
import { getParameters } from "../../protocol/index.js";
import type { Command } from "../command.js";

export const getParameter: Command = {
  name: "getParameter",
  fields: [],
  lenient: true,
  adminOnly: true,
  onSecondary: "always",
  help: "get administrative option(s)",
  run: ({ server, arguments: args }) => getParameters(server.parameters, args.main, args.body),
};
