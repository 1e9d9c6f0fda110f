/** features: build-level settings; shells of old ask for them. There is no JavaScript inside, so no `js`. */
import { int64 } from "../../bson/index.js";
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const features: Command = {
  name: "features",
  fields: ["oidReset"],
  onSecondary: "always",
  help: "return build level feature settings",
  run: ({ server }) => treeReply({ oidMachine: int64(server.objectIds.machine) }),
};
