/** `getParameter` and `setParameter` on a table of parameters: the same for shard and router. */
import type { RawValue } from "../bson/index.js";
import { asDocument, asString, BsonType, forEachField, getField } from "../bson/index.js";
import { Arguments, isGeneric } from "./arguments.js";
import type { Reply } from "./endpoint.js";
import { CommandError, ErrorCode } from "./errors.js";
import type { ParameterSet } from "./parameters.js";
import { treeReply } from "./tree.js";

/**
 * Answers `getParameter`.
 * @param main the command's own value: `"*"`, `{allParameters, showDetails, setAt}`, or anything else for parameters
 *   by name
 * @param body the command, whose fields name parameters
 * @throws CommandError InvalidOptions (72) where nothing is asked for, BadValue (2) for another `setAt`
 */
export function getParameters(parameters: ParameterSet, main: RawValue, body: Uint8Array): Reply {
  const { all, details, setAt } = readOptions(main);
  const wanted = parameters
    .all()
    .filter(({ name }) => all || getField(body, name) !== undefined)
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
}

function readOptions(main: RawValue): { all: boolean; details: boolean; setAt: string | undefined } {
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

/**
 * Carries out `setParameter`: all of its parameters, or none where one can't be set at all.
 * @throws CommandError InvalidOptions (72) where nothing is to be set, and what {@link ParameterSet} says
 */
export function setParameters(parameters: ParameterSet, body: Uint8Array): Reply {
  const wanted = new Map<string, RawValue>();
  let first = true;
  forEachField(body, (name, value) => {
    if (first) first = false;
    else if (!isGeneric(name)) {
      parameters.checkSettable(name);
      wanted.set(name, value);
    }
  });
  // In the order of names, as MongoDB goes through them; `was` is the first one's.
  const names = [...wanted.keys()].sort();
  const [firstName] = names;
  if (firstName === undefined) {
    throw new CommandError(ErrorCode.InvalidOptions, "no option found to set, use help:true to see options ");
  }
  const was = parameters.get(firstName);
  for (const name of names) parameters.set(name, wanted.get(name)!);
  return treeReply({ was });
}
