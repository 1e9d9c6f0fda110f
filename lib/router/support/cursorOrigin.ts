/** Whose cursor it is: a cursor that was opened in a session goes on in that session only. */
import { asDocument, BsonType, describeValue, getField, isTruthy, type RawValue } from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { CommandError, sessionKey } from "../../protocol/index.js";
import type { CursorOrigin } from "../merging/cursorStore.js";

/** What a command that opens a cursor says about it. */
export function originOf({ body }: Request): CursorOrigin {
  const lsid = getField(body, "lsid");
  const says = (name: string): boolean => {
    const value = getField(body, name);
    return value !== undefined && isTruthy(value);
  };
  return {
    ...(lsid && { command: body }),
    ...(says("noCursorTimeout") && { noTimeout: true }),
    ...(says("allowPartialResults") && { partial: true }),
  };
}

/**
 * Checks that a getMore comes from the session that opened the cursor.
 * @throws CommandError 50799, 50800, 50801: a mongos's numbers (a shard's are 50736–50738)
 */
export function checkSameSession(id: bigint, origin: CursorOrigin, request: Request): void {
  const opened = origin.command && lsidOf(origin.command);
  const now = lsidOf(request.body);
  const cannot = `Cannot run getMore on cursor ${id}, which was`;
  if (!opened && now) {
    throw new CommandError(50799, `${cannot} not created in a session, in session ${textOf(now)}`);
  }
  if (opened && !now) {
    throw new CommandError(50800, `${cannot} created in session ${textOf(opened)}, without an lsid`);
  }
  if (opened && now && sessionKey(opened) !== sessionKey(now)) {
    throw new CommandError(
      50801,
      `${cannot} created in session ${textOf(opened)}, in session ${textOf(now)}`,
    );
  }
}

function lsidOf(command: Uint8Array): Uint8Array | undefined {
  const lsid: RawValue | undefined = getField(command, "lsid");
  return lsid?.type === BsonType.object ? asDocument(lsid) : undefined;
}

function textOf(lsid: Uint8Array): string {
  return describeValue(getField(lsid, "id")!);
}
