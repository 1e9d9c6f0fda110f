/**
 * MD5 (RFC 1321) of bytes that come in pieces, for `dbHash`.
 *
 * `lib/bson/md5.ts` hashes one short message as fast as can be; this one keeps
 * 64 bytes and four words whatever the length.
 */

const SHIFTS = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21] as const;
/** floor(2^32 × |sin(i + 1)|) */
const SINES = Int32Array.from({ length: 64 }, (_, i) => Math.floor(Math.abs(Math.sin(i + 1)) * 4294967296));

/** An MD5 being computed. */
export class Md5Stream {
  private readonly state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
  private readonly block = new Uint8Array(64);
  private readonly words = new DataView(this.block.buffer);
  private filled = 0;
  private length = 0;

  /** Adds bytes. */
  update(bytes: Uint8Array): this {
    this.length += bytes.length;
    let at = 0;
    while (at < bytes.length) {
      const part = Math.min(64 - this.filled, bytes.length - at);
      this.block.set(bytes.subarray(at, at + part), this.filled);
      this.filled += part;
      at += part;
      if (this.filled === 64) this.digestBlock();
    }
    return this;
  }

  /** The digest in hexadecimal. Nothing can be added afterwards. */
  finish(): string {
    const { block, words, length } = this;
    block.fill(0, this.filled);
    block[this.filled] = 0x80;
    if (this.filled >= 56) {
      this.digestBlock();
      block.fill(0);
    }
    words.setUint32(56, (length * 8) >>> 0, true);
    words.setUint32(60, Math.floor(length / 0x20000000), true);
    this.digestBlock();
    const digest = new DataView(new ArrayBuffer(16));
    this.state.forEach((word, i) => digest.setInt32(i * 4, word, true));
    let hex = "";
    for (let i = 0; i < 16; i++) hex += digest.getUint8(i).toString(16).padStart(2, "0");
    return hex;
  }

  private digestBlock(): void {
    const { state, words } = this;
    let a = state[0]!;
    let b = state[1]!;
    let c = state[2]!;
    let d = state[3]!;
    for (let i = 0; i < 64; i++) {
      const round = i >> 4;
      let mixed: number;
      let word: number;
      if (round === 0) {
        mixed = (b & c) | (~b & d);
        word = i;
      } else if (round === 1) {
        mixed = (d & b) | (~d & c);
        word = (5 * i + 1) & 15;
      } else if (round === 2) {
        mixed = b ^ c ^ d;
        word = (3 * i + 5) & 15;
      } else {
        mixed = c ^ (b | ~d);
        word = (7 * i) & 15;
      }
      const sum = (a + mixed + SINES[i]! + words.getInt32(word * 4, true)) | 0;
      const shift = SHIFTS[round * 4 + (i & 3)]!;
      a = d;
      d = c;
      c = b;
      b = (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0;
    }
    state[0] = (state[0]! + a) | 0;
    state[1] = (state[1]! + b) | 0;
    state[2] = (state[2]! + c) | 0;
    state[3] = (state[3]! + d) | 0;
    this.filled = 0;
  }
}
