// Thrift's compact encoding as Parquet footers have it: any structure to a tree of fields and back, also of fields that
// nobody here knows.

/** By the types of the encoding; booleans are a type each. */
export type Thrift =
  | { readonly type: 1 | 2 }
  | { readonly type: 3 | 4 | 5 | 6; readonly value: bigint }
  | { readonly type: 7 | 8; readonly bytes: Uint8Array }
  | { readonly type: 9 | 10; readonly of: number; readonly items: Thrift[] }
  | { readonly type: 12; readonly fields: Map<number, Thrift> };

export type Struct = Extract<Thrift, { type: 12 }>;

const TRUE = 1;
const DOUBLE_BYTES = 8;

export function readThrift(bytes: Uint8Array): Struct {
  let at = 0;
  const byte = () => {
    if (at >= bytes.length) throw new Error("a footer that ends early");
    return bytes[at++];
  };
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const next = byte();
      value |= BigInt(next & 0x7f) << shift;
      if (next < 0x80) return value;
    }
  };
  const zigzag = () => {
    const value = varint();
    return (value >> 1n) ^ -(value & 1n);
  };
  const take = (length: number) => {
    if (at + length > bytes.length) throw new Error("a footer that ends early");
    at += length;
    return bytes.slice(at - length, at);
  };
  const value = (type: number, isItem: boolean): Thrift => {
    if (type === 1 || type === 2) return { type: isItem ? (byte() === TRUE ? 1 : 2) : type };
    if (type === 3) return { type, value: BigInt(byte()) };
    if (type === 4 || type === 5 || type === 6) return { type, value: zigzag() };
    if (type === 7) return { type, bytes: take(DOUBLE_BYTES) };
    if (type === 8) return { type, bytes: take(Number(varint())) };
    if (type === 9 || type === 10) {
      const head = byte();
      const size = head >> 4 === 15 ? Number(varint()) : head >> 4;
      return { type, of: head & 15, items: Array.from({ length: size }, () => value(head & 15, true)) };
    }
    if (type === 12) return struct();
    throw new Error(`a field of type ${type} in the footer`);
  };
  const struct = (): Struct => {
    const fields = new Map<number, Thrift>();
    for (let id = 0; ; ) {
      const head = byte();
      if (head === 0) return { type: 12, fields };
      id = head >> 4 === 0 ? Number(zigzag()) : id + (head >> 4);
      fields.set(id, value(head & 15, false));
    }
  };
  return struct();
}

export function writeThrift(root: Struct): Uint8Array {
  const out: number[] = [];
  const varint = (value: bigint) => {
    for (let rest = value; ; rest >>= 7n) {
      if (rest < 0x80n) return void out.push(Number(rest));
      out.push(Number(rest & 0x7fn) | 0x80);
    }
  };
  const zigzag = (value: bigint) => varint(BigInt.asUintN(64, (value << 1n) ^ (value >> 63n)));
  const append = (bytes: Uint8Array) => {
    for (const byte of bytes) out.push(byte);
  };
  const value = (own: Thrift, isItem: boolean): void => {
    if (own.type === 1 || own.type === 2) {
      if (isItem) out.push(own.type);
    } else if (own.type === 3) out.push(Number(own.value));
    else if (own.type <= 6) zigzag((own as { value: bigint }).value);
    else if (own.type === 7) append(own.bytes);
    else if (own.type === 8) {
      varint(BigInt(own.bytes.length));
      append(own.bytes);
    } else if (own.type === 9 || own.type === 10) {
      const { length } = own.items;
      out.push((Math.min(length, 15) << 4) | own.of);
      if (length >= 15) varint(BigInt(length));
      for (const item of own.items) value(item, true);
    } else struct(own as Struct);
  };
  const struct = ({ fields }: Struct): void => {
    let last = 0;
    for (const id of [...fields.keys()].sort((a, b) => a - b)) {
      const own = fields.get(id) as Thrift;
      const delta = id - last;
      out.push(((delta > 0 && delta < 16 ? delta : 0) << 4) | own.type);
      if (!(delta > 0 && delta < 16)) zigzag(BigInt(id));
      value(own, false);
      last = id;
    }
    out.push(0);
  };
  struct(root);
  return Uint8Array.from(out);
}

export const int32 = (value: number): Thrift => ({ type: 5, value: BigInt(value) });
export const int64 = (value: number | bigint): Thrift => ({ type: 6, value: BigInt(value) });
export const text = (value: string): Thrift => ({ type: 8, bytes: new TextEncoder().encode(value) });
export const list = (of: number, items: Thrift[]): Thrift => ({ type: 9, of, items });
export const struct = (fields: Readonly<Record<number, Thrift>>): Struct => ({
  type: 12,
  fields: new Map(Object.entries(fields).map(([id, value]) => [Number(id), value])),
});
