// Protocol buffers as bytes: messages of numbered fields, written in order.

type Field = readonly [number: number, value: bigint | number | string | Uint8Array | readonly Field[]];
/** Numbers are varints; texts, bytes and messages have their length in front. */
export type Message = readonly Field[];

const encoder = new TextEncoder();

export function encode(message: Message): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const [number, value] of message) {
    if (typeof value === "number" || typeof value === "bigint") {
      parts.push(varint(BigInt(number) << 3n), varint(BigInt.asUintN(64, BigInt(value))));
      continue;
    }
    const bytes =
      typeof value === "string" ? encoder.encode(value) : value instanceof Uint8Array ? value : encode(value);
    parts.push(varint((BigInt(number) << 3n) | 2n), varint(BigInt(bytes.length)), bytes);
  }
  return Buffer.concat(parts);
}

function varint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    if (rest < 0x80n) return Uint8Array.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 0x7fn) | 0x80);
  }
}
