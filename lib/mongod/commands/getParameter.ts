/** getParameter: the server's parameters, by name or all. */
import type { RawValue } from "../../bson/index.js";
import { asDocument, asString, BsonType, getField } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { Arguments } from "../command.js";
import { treeReply } from "../tree.js";

export const getParameter: Command = {
  name: "getParameter",
  fields: [],
  lenient: true,
  adminOnly: true,
  onSecondary: "always",
  help: "get administrative option(s)",
  run({ server, arguments: args }) {
    const { all, details, setAt } = readOptions(args.main);
    const wanted = server.parameters
      .all()
      .filter(({ name }) => all || getField(args.body, name) !== undefined)
      .filter(({ runtime, startup }) => setAt === undefined || (setAt === "runtime" ? runtime : startup));
    if (wanted.length === 0) throw new CommandError(ErrorCode.InvalidOptions, "no option found to get");
    return treeReply(
      Object.fromEntries(
        wanted.map(({ name, value, runtime, startup }) => [
          name,
          details ? { value, settableAtRuntime: runtime, settableAtStartup: startup } : value,
        ]),
      ),
    );
  },
};

interface Options {
  readonly all: boolean;
  readonly details: boolean;
  readonly setAt: string | undefined;
}

/** `"*"`, or `{allParameters, showDetails, setAt}`; anything else asks for parameters by name. */
function readOptions(main: RawValue): Options {
  if (main.type !== BsonType.object) {
    const all = main.type === BsonType.string && asString(main) === "*";
    return { all, details: false, setAt: undefined };
  }
  const args = new Arguments(
    "getParameter",
    asDocument(main),
    { fields: ["allParameters", "showDetails", "setAt", "forIncrementalFeatureRollout"] },
    false,
  );
  const setAt = args.string("setAt");
  if (setAt !== undefined && setAt !== "runtime" && setAt !== "startup") {
    throw new CommandError(
      ErrorCode.BadValue,
      `Enumeration value '${setAt}' for field 'getParameter.setAt' is not a valid value.`,
    );
  }
  return { all: args.boolean("allParameters"), details: args.boolean("showDetails"), setAt };
}
