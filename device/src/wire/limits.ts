// The limits of a link in one place: sizes, rates, credit, the retry delay, bans, connections, links and strangers.
// Every one is a row of docs/protocol.md#limits with the same number and sentence; a test compares them.

/** docs/protocol.md#frames: "A longer frame is refused by its length, before anything is kept for it." */
export const LARGEST_FRAME_BYTES = 1 << 20;

/**
 * docs/protocol.md#frames: "A neighbour's frames beyond this rate are dropped unread (`flood`). A device that keeps to
 * its pace cannot send as many."
 */
export const FRAMES_PER_SECOND = 250;

/** docs/protocol.md#frames: "After a stalled link this many frames may come at once before the rate counts." */
export const FRAME_BURST = 500;

/**
 * docs/protocol.md#frames: "A neighbour that sends this many frames more than the rate below allows never rests: it is
 * slowed and named. A network that settles needs fewer."
 */
export const RESTLESS_FRAMES = 6_000;

/** docs/protocol.md#frames: "A neighbour may send this many frames a second for ever." */
export const RESTLESS_FRAMES_PER_SECOND = 20;

/**
 * docs/protocol.md#frames: "Of a neighbour that is slowed only the latest frame counts, once in this time, because
 * every change makes a network settle again."
 */
export const CALM_MILLISECONDS = 1_000;

/**
 * docs/protocol.md#frames: "A coordinate further than this many half ranges from the middle of its feature's `min` and
 * `max` is refused (`bounds`)."
 */
export const BOX_HALF_RANGES = 1.000001;

/**
 * docs/protocol.md#frames: "A frame that has begun must end within this time, plus one second for every part of it
 * below."
 */
export const FRAME_MILLISECONDS = 10_000;

/**
 * docs/protocol.md#frames: "A frame gets one second more for each part of this size, because long frames on slow links
 * take long."
 */
export const FRAME_BYTES_PER_SECOND = 8_192;

/**
 * docs/protocol.md#frames: "A receiver that was busy itself reads for this long before it gives up on a frame, because
 * the rest may be waiting."
 */
export const FRAME_GRACE_MILLISECONDS = 500;

/**
 * docs/protocol.md#credit: "A sender with this many unconfirmed frames waits and keeps only its latest frame. A
 * receiver refuses a peer that sends more."
 */
export const MOST_UNCONFIRMED_FRAMES = 64;

/**
 * docs/protocol.md#credit: "A sender with this many unconfirmed bytes waits at first and on slow links, so that a link
 * carries news and not history."
 */
export const LEAST_UNCONFIRMED_BYTES = 65_536;

/**
 * docs/protocol.md#credit: "Every quick confirmation doubles the bytes that may be unconfirmed, up to this, and every
 * other one halves them."
 */
export const MOST_UNCONFIRMED_BYTES = 1_048_576;

/**
 * docs/protocol.md#credit: "A confirmation is quick if it comes within this time after the last frame that it confirms
 * was sent."
 */
export const QUICK_CONFIRMATION_MILLISECONDS = 1_000;

/**
 * docs/protocol.md#credit: "A receiver confirms after this many frames or when asked, because a confirmation costs as
 * much as a small frame."
 */
export const FRAMES_PER_CONFIRMATION = 32;

/**
 * docs/protocol.md#credit: "Two confirmations are at least this far apart, which holds a peer to 200 small frames a
 * second."
 */
export const BETWEEN_CONFIRMATIONS_MILLISECONDS = 320;

/**
 * docs/protocol.md#retry-delay: "A neighbour that cannot be reached is tried again at a random moment within this
 * time."
 */
export const FIRST_RETRY_MILLISECONDS = 1_000;

/**
 * docs/protocol.md#retry-delay: "After that the next attempt comes at a random moment within the time that the
 * neighbour has been down, or within this time if that is shorter."
 */
export const LONGEST_RETRY_MILLISECONDS = 300_000;

/** docs/protocol.md#retry-delay: "An attempt to reach a neighbour is given up after this time, its turn included." */
export const ATTEMPT_MILLISECONDS = 30_000;

/**
 * docs/protocol.md#retry-delay: "A device dials at most this many neighbours at once. Others wait for their turn, so that
 * a burst of handshakes on a busy machine takes longer and does not fail."
 */
export const MOST_DIALS = 8;

/**
 * docs/protocol.md#retry-delay: "A dial that nobody has answered within this time gives its turn to the next one and
 * goes on, because silence costs nothing."
 */
export const SILENT_DIAL_MILLISECONDS = 500;

/**
 * docs/protocol.md#retry-delay: "An address that does not answer within this time gives way to the next one, so that an
 * attempt comes to all of them."
 */
export const ANSWER_MILLISECONDS = 3_000;

/**
 * docs/protocol.md#retry-delay: "A stream that lasted this long was no failed attempt, and the retry delay begins
 * anew."
 */
export const SOUND_STREAM_MILLISECONDS = 10_000;

/**
 * docs/protocol.md#bans: "A neighbour that breaks a rule of the stream is kept away for this time, and for twice as
 * long after each further offence."
 */
export const FIRST_BAN_MILLISECONDS = 60_000;

/** docs/protocol.md#bans: "No ban is longer. After this time without an offence the next ban is a first one again." */
export const LONGEST_BAN_MILLISECONDS = 3_600_000;

/**
 * docs/protocol.md#bans: "A neighbour that opens more streams than this within the time below breaks a rule, because a
 * broken stream or a restart explains only a few."
 */
export const MOST_OPENINGS = 120;

/** docs/protocol.md#bans: "Streams that a neighbour opened are counted over this time." */
export const OPENINGS_MILLISECONDS = 60_000;

/** docs/protocol.md#connections: "Of the connections of one neighbour beyond this number the oldest are closed." */
export const MOST_PEER_CONNECTIONS = 3;

/**
 * docs/protocol.md#connections: "A device has at most this many connections. Only linked peers get as far as a
 * connection."
 */
export const MOST_CONNECTIONS = 1_000;

/**
 * docs/protocol.md#connections: "At most this many handshakes are under way, which is more than one address can hold
 * open at the rate and for the time below."
 */
export const MOST_HANDSHAKES = 300;

/**
 * docs/protocol.md#connections: "One address may begin this many handshakes a second. All neighbours may be behind one
 * address and return at once after a power cut."
 */
export const HANDSHAKES_PER_SECOND = 25;

/** docs/protocol.md#connections: "A handshake that takes longer is given up, by either end." */
export const HANDSHAKE_MILLISECONDS = 10_000;

/**
 * docs/protocol.md#connections: "A connection carries at most this many streams in each direction: a few of its own,
 * and those of circuits."
 */
export const MOST_STREAMS = 40;

/** docs/protocol.md#connections: "At most this many streams wait while a connection is being set up." */
export const MOST_EARLY_STREAMS = 4;

/**
 * docs/protocol.md#connections: "A connection carries at most this many streams of `/fedkm/2` in each direction: one
 * in use, and one that replaces it."
 */
export const MOST_PROTOCOL_STREAMS = 2;

/**
 * docs/protocol.md#connections: "A neighbour that has said nothing for this time is pinged, which notices one that
 * vanished without a word. Heartbeats come sooner, so that most links need no pings."
 */
export const PING_MILLISECONDS = 45_000;

/** docs/protocol.md#connections: "Links are looked over for silent neighbours at this interval." */
export const SILENCE_LOOK_MILLISECONDS = 15_000;

/** docs/protocol.md#connections: "The answer to a ping is awaited for at least this time." */
export const PING_ANSWER_MILLISECONDS = 10_000;

/**
 * docs/protocol.md#links-and-strangers: "A device has at most this many links, which bounds what a file may ask of the
 * network."
 */
export const MOST_LINKS = 1_000;

/** docs/protocol.md#links-and-strangers: "A link has at most this many addresses." */
export const MOST_ADDRESSES = 32;

/**
 * docs/protocol.md#links-and-strangers: "Of the addresses that a peer says it listens on, over a link or on the local
 * network, at most this many are tried. Anybody can claim any address, and the key decides."
 */
export const MOST_MET_ADDRESSES = 8;

/** docs/protocol.md#links-and-strangers: "What a peer says about its addresses is read up to this length." */
export const LARGEST_ADDRESSES_BYTES = 4_096;

/**
 * docs/protocol.md#links-and-strangers: "A peer that answers and has not linked back is tried again within this time at
 * the latest, so that a link that is accepted works soon."
 */
export const LONGEST_KNOCK_MILLISECONDS = 30_000;

/**
 * docs/protocol.md#links-and-strangers: "A device lists at most this many peers that are not linked and tried to
 * connect. The one not seen for longest is dropped."
 */
export const MOST_STRANGERS = 20;

/** docs/protocol.md#links-and-strangers: "Two lines in the log about new strangers are at least this far apart." */
export const BETWEEN_STRANGERS_MILLISECONDS = 60_000;

/**
 * docs/protocol.md#relays: "Through one relay a device has at most this many circuits that it opened, and as many that
 * others opened to it."
 */
export const MOST_CIRCUITS = 32;

/** docs/protocol.md#relays: "A relay ends a circuit after this time. The two ends make a new one at once." */
export const CIRCUIT_MILLISECONDS = 86_400_000;

/** docs/protocol.md#relays: "A relay ends a circuit that has carried this many bytes, in the same way." */
export const CIRCUIT_BYTES = 1_073_741_824;

/**
 * docs/protocol.md#relays: "A reservation at a relay lasts this long. Its device asks for it again 5 minutes before
 * the end."
 */
export const RESERVATION_MILLISECONDS = 7_200_000;

/**
 * docs/protocol.md#relays: "At this interval a device asks again for a reservation that it lost, and tries the direct
 * addresses of neighbours that it reaches through a relay."
 */
export const RELAY_LOOK_MILLISECONDS = 60_000;
