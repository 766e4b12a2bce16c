// How much one device may have under way to another. Both ends use these numbers, so an end that goes beyond them breaks the rules.

/** Frames sent and not yet confirmed. */
export const MOST_FRAMES = 64;

/**
 * A sender with this many bytes unconfirmed waits, so that a slow link carries news and not history. It begins with the
 * least, doubles it up to the most with every confirmation that is quick, and halves it with every one that is not.
 */
export const LEAST_BYTES = 65_536;
export const MOST_BYTES = 1_048_576;

/** A quick confirmation: so long after the last frame that it confirms. */
export const CONFIRMED_MILLISECONDS = 1_000;

/** The hearer confirms after so many frames, or when asked: seldom, because a confirmation costs as much as a small frame. */
export const CONFIRMED_FRAMES = 32;

/** Two confirmations are at least so far apart: at most 200 small frames a second, and never one lost. */
export const BETWEEN_CONFIRMATIONS_MILLISECONDS = 320;

/** A frame that has begun must end within this, and a second more for every 8 KiB: long frames on slow links take long. */
export const FRAME_MILLISECONDS = 10_000;
export const BYTES_A_SECOND = 8_192;

/** If the hearer itself was busy, the rest of a frame may be waiting: so long for reading it. */
export const GRACE_MILLISECONDS = 500;
