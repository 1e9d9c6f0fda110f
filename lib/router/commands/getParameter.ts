/** `getParameter`: the router's own parameters, by name or all. */
import type { RawValue } from "../../bson/index.js";
import { asDocument, asString, BsonType, getField } from "../../bson/index.js";
import { Arguments, CommandError, ErrorCode, treeReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { requiredField } from "../context.js";

export const getParameter: Command = {
  name: "getParameter",
  aliases: ["getparameter"],
  adminOnly: true,
  help: "get administrative option(s)",
  run({ server }, request) {
    const { all, details, setAt } = readOptions(requiredField(request, request.command));
    const wanted = server.parameters
      .all()
      .filter(({ name }) => all || getField(request.body, name) !== undefined)
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

/** `"*"`, or `{allParameters, showDetails, setAt}`; anything else asks for parameters by name. */
function readOptions(main: RawValue): { all: boolean; details: boolean; setAt: string | undefined } {
  if (main.type !== BsonType.object) {
    const all = main.type === BsonType.string && asString(main) === "*";
    return { all, details: false, setAt: undefined };
  }
  const args = new Arguments(
    "getParameter",
    asDocument(main),
    { fields: ["allParameters", "showDetails", "setAt"] },
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
