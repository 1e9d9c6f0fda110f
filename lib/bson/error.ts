/** Bytes that are not the BSON they should be, or a value of another type than the caller needs. */
export class BsonError extends Error {
  override readonly name = "BsonError";

  /** @param code MongoDB's InvalidBSON, or Overflow for a document that is nested too deeply */
  constructor(
    message: string,
    readonly code: 22 | 15 = 22,
  ) {
    super(message);
  }

  get codeName(): string {
    return this.code === 22 ? "InvalidBSON" : "Overflow";
  }
}
