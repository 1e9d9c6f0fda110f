/** explain: how a read or write would run, and what it examines when it does. Writes nothing. */
import { asDocument, asString, BsonType, firstField } from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { checkObjectSize, CommandError, ErrorCode } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { Arguments } from "../command.js";
import type { Verbosity } from "../planner/explain.js";
import { explainTrailer } from "../planner/explain.js";
import { treeReply } from "../tree.js";

const VERBOSITIES: readonly Verbosity[] = ["queryPlanner", "executionStats", "allPlansExecution"];

/** Makes the command; it needs to find the others. */
export function explainCommand(find: (name: string) => Command | undefined): Command {
  return {
    name: "explain",
    fields: ["verbosity"],
    help: "explain database reads and writes",
    run({ server, request, arguments: args, interrupt }) {
      if (args.main.type !== BsonType.object) throw args.wrongType("explain", args.main, "object");
      const body = asDocument(args.main);
      const verbosity = readVerbosity(args);
      const name = firstField(body)?.[0] ?? "";
      const command = find(name);
      if (!command)
        throw new CommandError(ErrorCode.CommandNotFound, `Explain failed due to unknown command: ${name}`);
      if (!command.explain) {
        throw new CommandError(ErrorCode.IllegalOperation, `Cannot explain cmd: ${name}`);
      }
      const inner: Request = { ...request, command: name, body };
      interrupt.explains = true;
      const explained = command.explain(
        { server, request: inner, arguments: new Arguments(command.name, body, command), interrupt },
        verbosity,
      );
      const reply = treeReply({ ...explained, ...explainTrailer(server, body, request.db) });
      checkObjectSize(reply.body);
      return reply;
    },
  };
}

function readVerbosity(args: Arguments): Verbosity {
  const value = args.get("verbosity");
  if (!value) return "allPlansExecution";
  if (value.type !== BsonType.string) throw args.wrongType("verbosity", value, "string");
  const verbosity = VERBOSITIES.find((one) => one === asString(value));
  if (!verbosity) {
    throw new CommandError(
      ErrorCode.BadValue,
      `Enumeration value '${asString(value)}' for field 'explain.verbosity' is not a valid value.`,
    );
  }
  return verbosity;
}
