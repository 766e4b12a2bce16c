// Every limit, time and threshold of a device in one place: sizes, rates, the retry delay, the heartbeat, bans and more.
// The lists of docs/protocol.md#limits are made of this file: a title begins a list, a sentence and its constant are an item.

// Frames

/** A longer frame is refused by its length, before anything is kept for it. */
export const LARGEST_FRAME_BYTES = 1 << 20;
/** A neighbour's frames beyond this rate are dropped unread (`flood`). The pace of a device keeps it below. */
export const FRAMES_PER_SECOND = 250;
/** After a stalled link this many frames may come at once before the rate counts. */
export const FRAME_BURST = 500;
/** A neighbour this many frames above the rate below never rests: it is slowed and named. Settling needs fewer. */
export const RESTLESS_FRAMES = 6_000;
/** A neighbour may send this many frames a second for ever. */
export const RESTLESS_FRAMES_PER_SECOND = 20;
/** Of a slowed neighbour only the latest frame in this time counts, because every change unsettles a network. */
export const CALM_MILLISECONDS = 1_000;
/** A coordinate further than this many half ranges from the middle of its bounds is refused (`bounds`). */
export const BOX_HALF_RANGES = 1.000001;
/** A frame that has begun must end within this time, plus one second for every part of it below. */
export const FRAME_MILLISECONDS = 10_000;
/** A frame gets one second more for each part of this size, because long frames on slow links take long. */
export const FRAME_BYTES_PER_SECOND = 8_192;
/** A receiver that was busy reads for this long before it gives up on a frame: the rest may be waiting. */
export const FRAME_GRACE_MILLISECONDS = 500;

// Credit

/** A sender with this many unconfirmed frames keeps only its latest one. A receiver refuses whoever sends more. */
export const MOST_UNCONFIRMED_FRAMES = 64;
/** A sender waits at so many unconfirmed bytes at first and on slow links, which then carry news, not history. */
export const LEAST_UNCONFIRMED_BYTES = 65_536;
/** Every quick confirmation doubles the bytes that may be unconfirmed, up to this, and every other one halves them. */
export const MOST_UNCONFIRMED_BYTES = 1_048_576;
/** A confirmation is quick if it comes within this time after the last frame that it confirms was sent. */
export const QUICK_CONFIRMATION_MILLISECONDS = 1_000;
/** A receiver confirms after this many frames or when asked, because a confirmation costs as much as a small frame. */
export const FRAMES_PER_CONFIRMATION = 32;
/** Two confirmations are at least this far apart, which holds a peer to 200 small frames a second. */
export const BETWEEN_CONFIRMATIONS_MILLISECONDS = 320;

// Retry delay

/** A neighbour that cannot be reached is tried again at a random moment within this time. */
export const FIRST_RETRY_MILLISECONDS = 1_000;
/** After that it is tried at a random moment within the time that it has been down, and within this at most. */
export const LONGEST_RETRY_MILLISECONDS = 300_000;
/** An attempt to reach a neighbour is given up after this time, its turn included. */
export const ATTEMPT_MILLISECONDS = 30_000;
/** A device dials at most this many neighbours at once, so that many handshakes take longer and do not fail. */
export const MOST_DIALS = 8;
/** A dial unanswered for this time gives its turn to the next one and goes on: silence costs nothing. */
export const SILENT_DIAL_MILLISECONDS = 500;
/** An address silent for this time gives way to the next one, so that an attempt comes to all of them. */
export const ANSWER_MILLISECONDS = 3_000;
/** A stream that lasted this long was no failed attempt, and the retry delay begins anew. */
export const SOUND_STREAM_MILLISECONDS = 10_000;

// Bans

/** A neighbour that breaks a rule of the stream is banned for this time, and twice as long at each offence. */
export const FIRST_BAN_MILLISECONDS = 60_000;
/** No ban is longer. After this time without an offence the next ban is a first one again. */
export const LONGEST_BAN_MILLISECONDS = 3_600_000;
/** More streams of a neighbour than this within the time below break a rule: restarts explain only a few. */
export const MOST_OPENINGS = 120;
/** Streams that a neighbour opened are counted over this time. */
export const OPENINGS_MILLISECONDS = 60_000;

// Connections

/** Of the connections of one neighbour beyond this number the oldest are closed. */
export const MOST_PEER_CONNECTIONS = 3;
/** A device has at most this many connections. Only linked peers get as far as a connection. */
export const MOST_CONNECTIONS = 1_000;
/** At most this many handshakes are under way: more than one address can hold open by the two limits below. */
export const MOST_HANDSHAKES = 300;
/** One address may begin so many handshakes a second: all neighbours may return behind it after a power cut. */
export const HANDSHAKES_PER_SECOND = 25;
/** A handshake that takes longer is given up, by either end. */
export const HANDSHAKE_MILLISECONDS = 10_000;
/** A connection carries at most this many streams in each direction: a few of its own, and those of circuits. */
export const MOST_STREAMS = 40;
/** At most this many streams wait while a connection is being set up. */
export const MOST_EARLY_STREAMS = 4;
/** A connection carries at most this many streams of `/fedkm/2` each way: one in use, one that replaces it. */
export const MOST_PROTOCOL_STREAMS = 2;
/** The system asks on a connection that was quiet for this time whether the other machine is there: at no cost to a process. */
export const KEEP_ALIVE_MILLISECONDS = 2_000;
/** A neighbour silent for this time is pinged, in case it vanished. Heartbeats come sooner on most links. */
export const PING_MILLISECONDS = 45_000;
/** Links are looked over for silent neighbours at this interval. */
export const SILENCE_LOOK_MILLISECONDS = 15_000;
/** The answer to a ping is awaited for at least this time. */
export const PING_ANSWER_MILLISECONDS = 10_000;

// Links and strangers

/** A device has at most this many links, which bounds what a file may ask of the network. */
export const MOST_LINKS = 1_000;
/** A link has at most this many addresses. */
export const MOST_ADDRESSES = 32;
/** Of the addresses that a peer claims at most this many are tried. Anybody can claim any; the key decides. */
export const MOST_MET_ADDRESSES = 8;
/** What a peer says about its addresses is read up to this length. */
export const LARGEST_ADDRESSES_BYTES = 4_096;
/** A peer that has not linked back is tried within this time, so that a link that is accepted works soon. */
export const LONGEST_KNOCK_MILLISECONDS = 30_000;
/** At most this many peers that are not linked and tried to connect are listed, the latest ones. */
export const MOST_STRANGERS = 20;
/** Two lines in the log about new strangers are at least this far apart. */
export const BETWEEN_STRANGERS_MILLISECONDS = 60_000;

// Relays

/** Through one relay a device has at most this many circuits that it opened, and as many that others opened to it. */
export const MOST_CIRCUITS = 32;
/** A relay ends a circuit after this time. The two ends make a new one at once. */
export const CIRCUIT_MILLISECONDS = 86_400_000;
/** A relay ends a circuit that has carried this many bytes, in the same way. */
export const CIRCUIT_BYTES = 1_073_741_824;
/** A reservation at a relay lasts this long. Its device asks for it again 5 minutes before the end. */
export const RESERVATION_MILLISECONDS = 7_200_000;
/** At this interval lost reservations are asked for again, and direct addresses of relayed neighbours tried. */
export const RELAY_LOOK_MILLISECONDS = 60_000;

// Heartbeat

/** A device that has sent nothing for this time updates once and sends its frame again, with the next sequence. */
export const HEARTBEAT_MILLISECONDS = 30_000;

// Away

/** A neighbour silent for this time and for the rounds below is away: updates leave it out until it is heard. */
export const AWAY_MILLISECONDS = 600_000;
/** A neighbour is away only after this many own rounds without it. A heartbeat counts as a round. */
export const AWAY_ROUNDS = 50;

// Order

/** A device goes above an epoch that a neighbour names only up to this, so that no neighbour can use up its epochs. */
export const LARGEST_LEARNT_EPOCH = 4_503_599_627_370_496;

// Updates

/** Two updates are at least this far apart, and at least as far as the earlier one took. */
export const PACE_MILLISECONDS = 10;
/**
 * After new rows, a new neighbour or a new common start, this many updates run to their end and try several starts, so
 * that the device can still change to other clusters. Later updates make one pass from where it is: devices that went on
 * changing would never settle.
 */
export const OPENING_UPDATES = 4;
/** Where all have settled and contract alike, nobody is further from the fixed point than this share of a range. */
export const PRECISION = 1e-6;
/** A contraction counts as at most this: a device without rows must not come to a threshold of 0. */
export const LARGEST_CONTRACTION = 0.999;
/** Whether a device goes to and fro is judged over blocks of this many updates in which no neighbour says anything new. */
export const DAMPING_UPDATES = 64;
/**
 * A device goes to and fro if its path in a block, which is the sum of its moves, is longer than this many times its
 * room, which is the largest range of a coordinate in the block. It then halves its steps, until a neighbour moves
 * further than that room.
 */
export const DAMPING_TURNS = 8;
/** Moves are judged in blocks of this many updates. */
export const NOISE_UPDATES = 256;
/** A block below this share of the least room of earlier ones is progress. Two in a row that are not are noise. */
export const NOISE_PROGRESS = 0.9;
/** The first block above this many times the least room of earlier ones is news, and the measure from then on. */
export const NOISE_GROWTH = 4;
/** A change is held back while it is smaller than the room of the noise times this. */
export const NOISE_MARGIN = 1.5;
/** After this time without a move above the threshold there is no noise, and what was held back is sent. */
export const NOISE_QUIET_MILLISECONDS = 15_000;

// Openings

/** A device looks for the common start when no sketch has come for this time, so that it looks once for all of them. */
export const START_QUIET_MILLISECONDS = 200;
/** The common start is the best of this many k-means on the centroids of the sketches. */
export const START_ATTEMPTS = 20;
/** The common start is rounded to this share of each feature's range, so that equal starts have equal hashes. */
export const START_RESOLUTION = 1e-6;
/** A device keeps at most this many sketches. In a larger network all keep the same sample of them. */
export const MOST_SKETCHES = 64;
/** The sketches that a device keeps take at most this many bytes, but two are always kept. */
export const LARGEST_SKETCHES_BYTES = 262_144;
/** A frame carries sketches up to this many bytes, but always one if one is missing. */
export const FRAME_SKETCHES_BYTES = 65_536;
/** A connected neighbour that shows other sketches is sent the frame again, with what it lacks, at this interval. */
export const AGREE_MILLISECONDS = 500;
/** A frame is repeated at most this often for a neighbour whose sketches stay others. */
export const AGREE_ATTEMPTS = 10;
/** A neighbour may bring news of openings this often at once. */
export const OPENING_BURST = 128;
/** Beyond that it may bring news of openings once in this time, so that nobody can keep a network restless. */
export const BETWEEN_OPENINGS_MILLISECONDS = 60_000;
/** A number further than this above the own one is refused: nobody can use up the numbers. A new device takes any. */
export const FARTHEST_OPENING = 16_777_216;
/** A device sends a new sketch when the old one is worse for its rows by more than this share. */
export const SKETCH_TOLERANCE = 0.001;
/** A device also sends a new sketch when the share of a cluster has changed by more than this. */
export const SHARE_TOLERANCE = 0.1;

// Keys of devices

/** A frame carries at most this many statements about successors, the latest ones. */
export const MOST_SUCCESSORS = 16;
/** A device keeps at most this many revocations. */
export const MOST_REVOCATIONS = 64;
/** The reason of a revocation has at most this many characters. */
export const LONGEST_REASON = 200;
/** At the word of one neighbour at most this many others are unlinked within the time below; owners see the rest. */
export const MOST_UNLINKED = 3;
/** Others that were unlinked at the word of a neighbour are counted over this time. */
export const UNLINKED_MILLISECONDS = 86_400_000;
/** Beyond the number that a device keeps, a neighbour may bring one new revocation in this time, whoever signed it. */
export const BETWEEN_REVOCATIONS_MILLISECONDS = 3_600_000;
/** A neighbour may send this many frames about keys at once. */
export const KEY_FRAME_BURST = 16;
/** Beyond that a neighbour may send one frame about keys in this time. */
export const BETWEEN_KEY_FRAMES_MILLISECONDS = 10_000;
/** What a neighbour has not answered is sent again after this time, and each time after twice as long. */
export const FIRST_REPEAT_MILLISECONDS = 30_000;
/** It is sent again after this time at the latest, for as long as the connection stands. */
export const LONGEST_REPEAT_MILLISECONDS = 3_600_000;

// Changes of study

/** A neighbour may say this often at once which studies it speaks. */
export const STATEMENT_BURST = 16;
/** Beyond that a neighbour may say it once in this time, because reading a study costs more than reading a frame. */
export const BETWEEN_STATEMENTS_MILLISECONDS = 10_000;
/** A device in a change looks at this interval whether all neighbours have followed. */
export const CHANGE_LOOK_MILLISECONDS = 1_000;

// Board

/** A device that has told a neighbour nothing for this time tells it again where it is. */
export const BOARD_BEAT_MILLISECONDS = 15_000;
/** A neighbour silent for this time is told that it does not count; sums lack its rows until it is heard again. */
export const SILENCE_MILLISECONDS = 60_000;
/** What a neighbour has not confirmed is sent again after this time, then after twice as long, and so on. */
export const PATIENCE_MILLISECONDS = 100;
/** A neighbour that has not heard this device is greeted again after this time, then after twice as long. */
export const GREETING_MILLISECONDS = 30;
/** A device that received entries confirms them after this time, unless it has something else to say before. */
export const CONFIRM_MILLISECONDS = 50;
/** What came from others is passed on this long after the last frame, in one frame. The own entry goes at once. */
export const FORWARD_MILLISECONDS = 45;
/** Two moments at which a device sends are at least this far apart. */
export const BOARD_PACE_MILLISECONDS = 30;
/**
 * Entries with more integers than this are not sent to a neighbour of the device that they come from, which has them
 * from there, and numbers that all find themselves are not sent at all. Smaller ones are sent more than once on
 * purpose, so that a lost frame costs no time.
 */
export const SMALL_INTEGERS = 64;
/** Between two rests a member may open sums so often. Then it is suspended: neither its entries nor its links count. */
export const MOST_BASE_OPENINGS = 64;
/** A neighbour that starts, or says that a device counts or does not, more often than this within the time below is named. */
export const RESTLESS_STARTS = 3;
/**
 * So is one that opens more often than this: as often as one liar among its own neighbours can make it open. That is each
 * time that the liar drops it or counts it again until it is left out, and once where the others closed a board meanwhile.
 */
export const RESTLESS_OPENINGS = 6;
/** Both are counted over this time, and a neighbour is named for as long. */
export const RESTLESS_MILLISECONDS = 60_000;
/** A suspended member counts again after the network has come to rest this often. */
export const SUSPENDED_RESTS = 8;
/** A neighbour that has come again so often at once, and each time made a device open, does not count for a while. */
export const LINK_OPENING_BURST = 2;
/** Beyond that, a neighbour may come again once in this time. */
export const BETWEEN_LINK_OPENINGS_MILLISECONDS = 60_000;
/** A neighbour that is still at an earlier base after this time does not count until it has come after. */
export const BEHIND_MILLISECONDS = 10_000;
/** A neighbour that claims a later base and has not proven it after this time is named. */
export const UNPROVEN_MILLISECONDS = 5_000;
/** So many signatures of a neighbour's frames are checked at once. */
export const SIGNATURE_BURST = 512;
/** Beyond that, so many signatures of a neighbour's frames are checked in a second. */
export const SIGNATURES_PER_SECOND = 1_000;
/** Of devices that may be invented so many signatures of a frame are checked; what is left comes again. */
export const UNKNOWN_SIGNATURES_PER_FRAME = 32;
/** A device whose rows the answer does not fit says so at most once in this time. */
export const BETWEEN_DOUBTS_MILLISECONDS = 86_400_000;
/** A board has at most so many entries: larger networks need sums over a tree. */
export const MOST_ENTRIES = 256;
/** Of what one owner says about members at most this much is kept. */
export const MOST_MEMBER_STATEMENTS = 1_024;
/** A frame has at most so many statements about members. */
export const MEMBER_STATEMENTS_PER_FRAME = 32;

// Heads of histories

/** After a start, nothing of guarded or private rows is sent until all neighbours have said what they have seen, or for this time. */
export const HISTORY_WAIT_MILLISECONDS = 10_000;
/** A neighbour that has not said what it has seen is asked again after this time, then after twice as long, and so on. */
export const HISTORY_REPEAT_MILLISECONDS = 300;
/** A device remembers this many of its latest heads, to know them again. */
export const MOST_HEADS = 64;

// Private

/** Private rows are released again when the network rests, but not sooner than this time after the start. */
export const RELEASE_MILLISECONDS = 60_000;
/** After this further time the second release is made wherever the centroids are. */
export const RELEASE_PATIENCE_MILLISECONDS = 600_000;

// Files of a device

/** Two writes of the state are at least this far apart. Centroids can be computed again, and disks wear out. */
export const STATE_MILLISECONDS = 5_000;
/** Of status.json: another program reads none with another. */
export const STATUS_VERSION = 3;
/** `status.json` is written at this interval while it has news, and once more at the end. */
export const STATUS_MILLISECONDS = 1_000;
/** A status without news is looked at again after this time: the look was most of an idle device's work. */
export const STATUS_LOOK_MILLISECONDS = 3_000;
/** Without news `status.json` is written at this interval, because counters and ages are no news. */
export const STATUS_QUIET_MILLISECONDS = 15_000;
/** The data and the links are looked at for changes at this interval while they change or cannot be used. */
export const WATCH_MILLISECONDS = 1_000;
/** Data and links that stay as they are are looked at for changes at this interval. */
export const WATCH_QUIET_MILLISECONDS = 3_000;
/** Unusable data or links are read again when they change, or after as long as they were unusable, at most this. */
export const REREAD_MILLISECONDS = 60_000;
