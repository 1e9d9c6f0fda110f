/** whatsmyuri: the client's address as the server sees it. */
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const whatsmyuri: Command = {
  name: "whatsmyuri",
  fields: [],
  onSecondary: "always",
  help: "{whatsmyuri:1}",
  run: ({ request }) => treeReply({ you: request.client?.address ?? "127.0.0.1:0" }),
};
