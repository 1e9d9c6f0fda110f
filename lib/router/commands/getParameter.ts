/** `getParameter`: the parameters that shells and tools ask for when they connect. */
import type { RawValue } from "../../bson/index.js";
import {
  array,
  asDocument,
  asString,
  BsonType,
  document,
  DocumentWriter,
  FALSE,
  forEachField,
  getField,
  isTruthy,
} from "../../bson/index.js";
import { CommandError, ErrorCode, okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { requiredField } from "../context.js";

const PARAMETERS: ReadonlyMap<string, RawValue> = new Map([
  ["featureCompatibilityVersion", document(new DocumentWriter().string("version", "8.2").finish())],
  ["authenticationMechanisms", array([])],
  ["enableTestCommands", FALSE],
]);

export const getParameter: Command = {
  name: "getParameter",
  aliases: ["getparameter"],
  adminOnly: true,
  run(_context, request) {
    const wanted = requiredField(request, request.command);
    const all =
      (wanted.type === BsonType.string && asString(wanted) === "*") ||
      (wanted.type === BsonType.object && isTruthy(getField(asDocument(wanted), "allParameters")));
    const answer = new DocumentWriter();
    let found = 0;
    const add = (name: string): void => {
      const value = PARAMETERS.get(name);
      if (!value) return;
      answer.field(name, value);
      found += 1;
    };
    if (all) for (const name of PARAMETERS.keys()) add(name);
    else forEachField(request.body, (name) => add(name));
    if (found === 0) throw new CommandError(ErrorCode.InvalidOptions, "no option found to get");
    return okReply(answer.finish());
  },
};
