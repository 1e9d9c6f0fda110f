/** Bytes that are not the BSON they should be, or a value of another type than the caller needs. */
export class BsonError extends Error {
  override readonly name = "BsonError";
  /** MongoDB's InvalidBSON. */
  readonly code = 22;
  readonly codeName = "InvalidBSON";
}
