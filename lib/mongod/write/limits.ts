/** Most bytes of a document that clients may store (`maxBsonObjectSize`). */
export const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;
/** Most bytes of a document in a message: a little room for what the protocol adds. */
export const MAX_INTERNAL_BYTES = MAX_DOCUMENT_BYTES + 16 * 1024;
/** Most statements in one write command (`maxWriteBatchSize`). */
export const MAX_BATCH_STATEMENTS = 100_000;
