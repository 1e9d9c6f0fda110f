/** `setParameter`: changes the router's own parameters; answers what the first one was. Shards keep theirs. */
import { setParameters } from "../../protocol/index.js";
import type { Command } from "../context.js";

export const setParameter: Command = {
  name: "setParameter",
  adminOnly: true,
  help: "set administrative option(s)",
  run: ({ server }, request) => setParameters(server.parameters, request.body),
};
