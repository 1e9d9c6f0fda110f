/** The failure of a conversion: the one kind of error that `onError` catches. */
import { CommandError, ErrorCode } from "../../protocol/index.js";

export const CONVERSION_FAILURE = ErrorCode.ConversionFailure;

/** A value that cannot be converted. */
export function conversionFailure(message: string): CommandError {
  return new CommandError(CONVERSION_FAILURE, message);
}
