/** setFeatureCompatibilityVersion: to the version that it has; features of others are not simulated. */
import { asString, BsonType } from "../../bson/index.js";
import { CommandError, notSimulated, okReply } from "../../protocol/index.js";
import type { Command } from "../command.js";

const CURRENT = "8.2";
const OLDER: ReadonlySet<string> = new Set(["8.0"]);

export const setFeatureCompatibilityVersion: Command = {
  name: "setFeatureCompatibilityVersion",
  fields: ["confirm", "downgradeOnDiskChanges", "fromConfigServer", "phase", "dryRun"],
  adminOnly: true,
  writes: true,
  help: "Set the featureCompatibilityVersion used by this server",
  run({ arguments: args }) {
    const { main } = args;
    if (main.type !== BsonType.string) throw args.wrongType("setFeatureCompatibilityVersion", main, "string");
    const version = asString(main);
    if (version !== CURRENT && !OLDER.has(version)) {
      throw new CommandError(
        4_926_900,
        `Invalid feature compatibility version value '${version}'; expected '8.0' or '${CURRENT}'. See ` +
          "https://docs.mongodb.com/master/release-notes/8.0-compatibility/#feature-compatibility.",
      );
    }
    if (!args.boolean("confirm")) {
      throw new CommandError(
        7_369_100,
        `Once you have changed FCV to ${version}, you will not be able to change it back without support ` +
          "assistance. Please re-run this command with 'confirm: true' to acknowledge this and continue.",
      );
    }
    if (version !== CURRENT) throw notSimulated(`featureCompatibilityVersion ${version}`);
    return okReply();
  },
};
