import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { hash64, string } from "shardlab/bson";

/** The rule itself (facts §2.1) with Node's MD5: seed 0, type 15, the string with its length and NUL. */
function slowly(text: string): bigint {
  const message = Buffer.concat([Buffer.alloc(12), Buffer.from(`${text}\0`)]);
  message.writeInt32LE(15, 4);
  message.writeInt32LE(Buffer.byteLength(text) + 1, 8);
  return createHash("md5").update(message).digest().readBigInt64LE(0);
}

test("a hash that is remembered is the hash: 5,000 texts share the memo's 4,096 places, each asked twice", () => {
  const texts = Array.from({ length: 5_000 }, (_, i) => `${"x".repeat(i % 30)}${i}`);
  for (const text of [...texts, ...texts]) {
    const expected = slowly(text);
    expect(hash64(string(text))).toBe(expected);
    // Now from the memo, where the text is short enough.
    expect(hash64(string(text))).toBe(expected);
  }
});
