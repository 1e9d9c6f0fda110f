/** setParameter: changes the server's parameters; answers what the first one was. */
import { setParameters } from "../../protocol/index.js";
import type { Command } from "../command.js";

export const setParameter: Command = {
  name: "setParameter",
  fields: [],
  lenient: true,
  adminOnly: true,
  onSecondary: "always",
  help: "set administrative option(s)",
  run: ({ server, arguments: args }) => setParameters(server.parameters, args.body),
};
