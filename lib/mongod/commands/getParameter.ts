/** getParameter: the few server parameters that clients look at. */
import { asDocument, asString, BsonType, getField, isTruthy } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

const PARAMETERS: Readonly<Record<string, unknown>> = {
  featureCompatibilityVersion: { version: "8.2" },
  authenticationMechanisms: [],
  enableTestCommands: false,
  internalQueryFrameworkControl: "forceClassicEngine",
  ttlMonitorEnabled: false,
  transactionLifetimeLimitSeconds: 60,
};

export const getParameter: Command = {
  name: "getParameter",
  fields: [],
  lenient: true,
  run({ arguments: args }) {
    const { main } = args;
    const options = main.type === BsonType.object ? getField(asDocument(main), "allParameters") : undefined;
    const all =
      (main.type === BsonType.string && asString(main) === "*") ||
      (options !== undefined && isTruthy(options));
    const wanted = Object.entries(PARAMETERS).filter(([name]) => {
      const asked = getField(args.body, name);
      return all || (asked !== undefined && isTruthy(asked));
    });
    if (wanted.length === 0) throw new CommandError(ErrorCode.InvalidOptions, "no option found to get");
    return treeReply(Object.fromEntries(wanted));
  },
};
