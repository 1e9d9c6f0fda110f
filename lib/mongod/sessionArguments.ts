import { BsonType } from "../bson/index.js";
import type { Request } from "../protocol/index.js";
import { documentsOf } from "../protocol/index.js";
import type { Arguments } from "./command.js";

/**
 * The documents that a command's first field must list: `{endSessions: [{id: …}]}`.
 * @throws CommandError TypeMismatch (14)
 */
export function requiredDocuments(request: Request, args: Arguments): readonly Uint8Array[] {
  if (args.main.type !== BsonType.array) throw args.wrongType(args.command, args.main, "array");
  return documentsOf(request, request.command);
}
