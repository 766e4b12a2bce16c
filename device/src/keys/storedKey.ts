// Where things stand in a key as libp2p stores it, and what pads are salted with: the same in Node and in a page.

/** In libp2p's form of a key the secret stands after type and length. */
export const SECRET_AT = 4;
export const SECRET_BYTES = 32;

/** What a pad is for is in `info`, the study included. */
export const PAD_SALT = new TextEncoder().encode("fedkm");
