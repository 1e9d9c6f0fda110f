/** `$limit` and `$skip`: how many documents pass. */
import { BsonType, asNumber, describeValue, isNumeric, type RawValue } from "../../../bson/index.js";
import { CommandError } from "../../../protocol/index.js";
import { streaming, type Emit, type Stage, type StageParser } from "../stage.js";

/**
 * The whole number of a `$limit` or `$skip`.
 * @throws CommandError 5107201 or 5107200 for what is no whole number of 64 bits, or negative
 */
function amount(name: string, code: number, spec: RawValue): number {
  const refuse = (what: string): never => {
    throw new CommandError(
      code,
      `invalid argument to ${name} stage: ${what}: ${name}: ${describeValue(spec)}`,
    );
  };
  if (!isNumeric(spec)) return refuse("Expected a number in");
  const number = asNumber(spec);
  if (Number.isNaN(number)) return refuse("Expected an integer, but found NaN in");
  if (spec.type !== BsonType.int64 && Math.abs(number) >= 2 ** 63) {
    return refuse("Cannot represent as a 64-bit integer");
  }
  if (!Number.isInteger(number)) return refuse("Expected an integer");
  if (number < 0) return refuse("Expected a non-negative number in");
  return number;
}

export const limit: StageParser = (spec) => {
  const count = amount("$limit", 5107201, spec);
  if (count === 0) throw new CommandError(15958, "the limit must be positive");
  return { count, create: () => new LimitStage(count) };
};

class LimitStage implements Stage {
  readonly name = "$limit";
  #left: number;

  constructor(count: number) {
    this.#left = count;
  }

  push(doc: Uint8Array, emit: Emit): void {
    if (this.#left === 0) return;
    this.#left--;
    emit(doc);
  }

  finish(): void {
    // Nothing is held back.
  }

  get satisfied(): boolean {
    return this.#left === 0;
  }
}

export const skip: StageParser = (spec) => {
  const count = amount("$skip", 5107200, spec);
  return {
    count,
    create: () => {
      let left = count;
      return streaming("$skip", (doc, emit) => {
        if (left > 0) left--;
        else return void emit(doc);
      });
    },
  };
};
