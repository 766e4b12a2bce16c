// What a peer is: the key that proves who it is, its id, and the addresses at which it can be dialled.

/** Who a device is: its name among peers, and the Ed25519 key (libp2p's protobuf) that proves it. */
export interface Identity {
  readonly peer: string;
  readonly key: Uint8Array;
}

/** A linked peer and where it may be found; none: it finds us. */
export interface Contact {
  readonly peer: string;
  readonly addresses: readonly string[];
}

// Written here rather than taken from libp2p, which a command that only looks at a folder would spend most of its time loading.

/** How libp2p writes an Ed25519 key: type 1, 64 bytes; then 32 bytes of secret and the 32 bytes of its public key. */
export const KEY_HEAD = Uint8Array.of(0x08, 0x01, 0x12, 0x40);
const SECRET_LENGTH = 32;
/** What stands before the public key in an id: the identity hash of 36 bytes, which are type 1 and 32 bytes. */
const ID_HEAD = Uint8Array.of(0x00, 0x24, 0x08, 0x01, 0x12, 0x20);
const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** A new identity: a key pair and the peer id of it. */
export async function createIdentity(): Promise<Identity> {
  const { ed25519 } = await import("@noble/curves/ed25519.js");
  const { secretKey, publicKey } = ed25519.keygen();
  return { peer: peerOf(publicKey), key: Uint8Array.of(...KEY_HEAD, ...secretKey, ...publicKey) };
}

/** The identity that a stored key stands for. Throws if it is no key. */
export function identityOf(key: Uint8Array): Identity {
  const isKey = key.length === KEY_HEAD.length + 2 * SECRET_LENGTH && KEY_HEAD.every((byte, i) => key[i] === byte);
  if (!isKey) throw new RangeError(`key must be 68 bytes of an Ed25519 key, got ${key.length} others`);
  return { peer: peerOf(key.subarray(-SECRET_LENGTH)), key };
}

/** The 32 bytes of the public key that an id is made of. */
export function publicKeyOf(peer: string): Uint8Array {
  const bytes = base58Bytes(peer);
  if (bytes === undefined || !isEd25519Id(bytes)) throw new RangeError(`peer ${peerFault(peer)}`);
  return bytes.subarray(ID_HEAD.length);
}

function isEd25519Id(bytes: Uint8Array): boolean {
  return bytes.length === ID_HEAD.length + SECRET_LENGTH && ID_HEAD.every((byte, i) => bytes[i] === byte);
}

/** The id that is made of these 32 bytes of a public key. */
export function peerOf(publicKey: Uint8Array): string {
  if (publicKey.length !== SECRET_LENGTH)
    throw new RangeError(`public key must have 32 bytes, got ${publicKey.length}`);
  return base58Text(Uint8Array.of(...ID_HEAD, ...publicKey));
}

/** A number in base 58; zeros at its beginning are ones. */
function base58Text(bytes: Uint8Array): string {
  const zeros = bytes.findIndex((byte) => byte !== 0);
  let value = bytes.reduce((sum, byte) => 256n * sum + BigInt(byte), 0n);
  let text = "";
  for (; value > 0n; value /= 58n) text = ALPHABET[Number(value % 58n)] + text;
  return "1".repeat(zeros) + text;
}

/** Undefined: another character is in it, or it is longer than any id. */
function base58Bytes(text: string): Uint8Array | undefined {
  if (text.length > 2 * SECRET_LENGTH || !/^[1-9A-HJ-NP-Za-km-z]+$/.test(text)) return undefined;
  let value = Array.from(text, (letter) => BigInt(ALPHABET.indexOf(letter))).reduce((sum, one) => 58n * sum + one, 0n);
  const bytes: number[] = [];
  for (; value > 0n; value >>= 8n) bytes.unshift(Number(value & 255n));
  const zeros = /^1*/.exec(text)?.[0].length ?? 0;
  return Uint8Array.of(...Array<number>(zeros).fill(0), ...bytes);
}

/** Why this is no peer id, if it is none. */
export function peerFault(text: string): string | undefined {
  const bytes = base58Bytes(text);
  if (bytes !== undefined && isEd25519Id(bytes)) return undefined;
  // The SHA-256 of a longer key, such as RSA's.
  const isOther = bytes?.length === 34 && bytes[0] === 0x12 && bytes[1] === 0x20;
  return isOther ? `must be of an Ed25519 key, got ${text}` : `must be a peer id such as 12D3KooW..., got ${text}`;
}

const ADDRESS =
  /^(?:\/ip6zone\/[^/]+)?\/(?<kind>ip4|ip6|dns|dns4|dns6|dnsaddr)\/(?<host>[^/]+)\/tcp\/(?<port>\d{1,5})(?:\/(?:ws|wss|tls|http|https|sni\/[^/]+))*$/;

/** Why this is no address that a device can listen on, if it is none. */
export function peerListenFault(text: string): string | undefined {
  const { kind = "", host = "", port } = ADDRESS.exec(text)?.groups ?? {};
  if (isHost(kind, host) && Number(port) < 65_536) return undefined;
  return /^(?:\/[^/]+)+$/.test(text) && /\/(?:p2p|p2p-circuit|udp)(?:\/|$)|^\/(?:ip4|ip6|dns[46]?)\/[^/]+$/.test(text)
    ? `must have a tcp port, no peer and no relay, got ${text}`
    : `must be a multiaddress such as /ip4/192.168.1.5/tcp/4601, got ${text}`;
}

function isHost(kind: string, host: string): boolean {
  if (kind === "ip4") return /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/.test(host);
  return kind === "ip6" ? host.includes(":") && URL.canParse(`http://[${host}]`) : kind !== "";
}

/** Why this is no address that others can dial, if it is none: one to listen on may mean every interface or any port. */
export function peerDialFault(text: string): string | undefined {
  const fault = peerListenFault(text);
  if (fault !== undefined) return fault;
  return isOpen(text) ? `must have a host and a port that others can dial, got ${text}` : undefined;
}

/** Why this is no address at which a peer can be reached, if it is none: directly, or through a neighbour that relays. */
export function peerReachFault(text: string): string | undefined {
  const relay = peerRelay(text);
  return relay !== undefined && text === peerThroughRelay(relay) ? peerFault(relay) : peerDialFault(text);
}

/** Where a peer is that has a reservation at a relay. How to reach the relay is known: it must be linked. */
export function peerThroughRelay(relay: string): string {
  return `/p2p/${relay}/p2p-circuit`;
}

/** The relay that an address leads through, if it does. */
export function peerRelay(address: string): string | undefined {
  return /\/p2p\/([^/]+)\/p2p-circuit/.exec(address)?.[1];
}

/** Whether an address stands for every interface (0.0.0.0, ::) or for any free port (0). */
function isOpen(address: string): boolean {
  return /^\/ip4\/0\.0\.0\.0\/|^\/ip6\/[0:]+\/|\/tcp\/0(\/|$)/.test(address);
}

// The invite by which a device is made known to others: its id and its addresses, as text and as QR code.

const SCHEME = "fedkm:";

/** fedkm:PEER@ADDRESS,ADDRESS: one word, safe in a shell and in a chat. */
export function formatInvite({ peer, addresses }: Contact): string {
  return `${SCHEME}${peer}${addresses.length > 0 ? "@" : ""}${addresses.join(",")}`;
}

/** The device that an invite names, and its addresses. */
export function parseInvite(text: string): Contact {
  const match = /^fedkm:([^@\s]+)(?:@(\S+))?$/.exec(text.trim());
  if (match === null) throw new RangeError(`invite must look like fedkm:PEER@ADDRESS,ADDRESS, got "${text}"`);
  const [, peer, list] = match;
  const addresses = list === undefined ? [] : list.split(",");
  const fault = peerFault(peer) ?? addresses.map(peerReachFault).find((found) => found !== undefined);
  if (fault !== undefined) throw new RangeError(`invite ${fault}`);
  return { peer, addresses };
}

/** An invite to be photographed from a terminal. */
export async function drawInvite(invite: string): Promise<string> {
  // Loaded here: most programs that know invites draw none.
  return (await import("uqr")).renderUnicodeCompact(invite);
}
