/** `getParameter`: the router's own parameters, by name or all. */
import { getParameters } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { requiredField } from "../context.js";

export const getParameter: Command = {
  name: "getParameter",
  aliases: ["getparameter"],
  adminOnly: true,
  help: "get administrative option(s)",
  run: ({ server }, request) =>
    getParameters(server.parameters, requiredField(request, request.command), request.body),
};
