/**
 * CRC-32C (Castagnoli), the checksum that an OP_MSG may end with.
 *
 * Reflected polynomial 0x82F63B78, start and final XOR all ones. The standard
 * check value: the nine bytes "123456789" give 0xE3069283.
 */
const TABLE = new Uint32Array(256);
for (let byte = 0; byte < 256; byte++) {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  TABLE[byte] = crc;
}

/**
 * The checksum of `bytes[start, end)`.
 * @returns an unsigned 32-bit number
 */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length): number {
  let crc = 0xffffffff;
  for (let i = start; i < end; i++) {
    crc = (crc >>> 8) ^ (TABLE[(crc ^ (bytes[i] as number)) & 0xff] as number);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
