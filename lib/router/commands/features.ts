/** `features`: build-level settings; shells of old ask for them. */
import { int64 } from "../../bson/index.js";
import { treeReply } from "../../protocol/index.js";
import type { Command } from "../context.js";

export const features: Command = {
  name: "features",
  fields: ["oidReset"],
  help: "return build level feature settings",
  run: ({ ids }) => treeReply({ oidMachine: int64(ids.machine) }),
};
