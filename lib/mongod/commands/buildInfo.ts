/** buildInfo: version, and an honest word on what this is. */
import { MAX_BSON_OBJECT_BYTES } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const buildInfo: Command = {
  name: "buildInfo",
  aliases: ["buildinfo"],
  fields: [],
  onSecondary: "always",
  help: "get version #, etc.",
  run({ server }) {
    const numbers = server.version.split(/[.-]/).slice(0, 3).map(Number);
    return treeReply({
      version: server.version,
      gitVersion: "shardlab",
      // Not MongoDB: clients that show modules show this.
      modules: ["Shardlab embedded engine (simulates mongod in memory)"],
      allocator: "javascript",
      javascriptEngine: "none",
      sysInfo: "deprecated",
      versionArray: [...numbers, 0],
      openssl: { running: "disabled", compiled: "disabled" },
      buildEnvironment: {},
      bits: 64,
      debug: false,
      maxBsonObjectSize: MAX_BSON_OBJECT_BYTES,
      storageEngines: ["shardlab"],
    });
  },
};
