// The heartbeat and every other time and threshold that a device sets itself, in one place.
// Every one is a row of docs/protocol.md#limits with the same number and sentence; a test compares them.

/**
 * docs/protocol.md#heartbeat: "A device that has sent nothing for this time updates once and sends its frame again,
 * with the next sequence."
 */
export const HEARTBEAT_MILLISECONDS = 30_000;

/**
 * docs/protocol.md#away: "A neighbour that was silent for this time, and for the rounds below, is away: updates leave
 * it out until it is heard again."
 */
export const AWAY_MILLISECONDS = 600_000;

/**
 * docs/protocol.md#away: "A neighbour is away only after this many own rounds without it. A heartbeat counts as a
 * round."
 */
export const AWAY_ROUNDS = 50;

/**
 * docs/protocol.md#order: "A device goes above an epoch that a neighbour names only up to this, so that no neighbour
 * can use up its epochs."
 */
export const LARGEST_LEARNT_EPOCH = 4_503_599_627_370_496;

/** docs/protocol.md#updates: "Two updates are at least this far apart, and at least as far as the earlier one took." */
export const PACE_MILLISECONDS = 10;

/**
 * docs/protocol.md#updates: "This many updates after a new neighbour or new rows choose the basin: each runs to its
 * end, and from the neighbours' centroids too. They are few, so that devices that do it at the same time cannot do it
 * for ever."
 */
export const OPENING_UPDATES = 4;

/**
 * docs/protocol.md#openings: "A device looks for the seed of its sketches when none has come for this time, so that it
 * looks once and not once for each."
 */
export const SEED_QUIET_MILLISECONDS = 200;

/** docs/protocol.md#openings: "The seed is the best of this many starts of k-means on the centroids of the sketches." */
export const SEED_STARTS = 20;

/**
 * docs/protocol.md#openings: "The seed is rounded to this share of each feature's range. It only says where to begin,
 * and equal seeds have equal hashes."
 */
export const SEED_RESOLUTION = 1e-6;

/**
 * docs/protocol.md#openings: "A device keeps at most this many sketches. In a larger network all keep the same sample of
 * them."
 */
export const MOST_SKETCHES = 64;

/** docs/protocol.md#openings: "The sketches that a device keeps take at most this many bytes, but two are always kept." */
export const LARGEST_SKETCHES_BYTES = 262_144;

/** docs/protocol.md#openings: "A frame carries sketches up to this many bytes, but always one if one is missing." */
export const FRAME_SKETCHES_BYTES = 65_536;

/**
 * docs/protocol.md#openings: "A connected neighbour that shows other sketches is sent the frame again, with what it
 * lacks, at this interval."
 */
export const AGREE_MILLISECONDS = 500;

/** docs/protocol.md#openings: "A frame is repeated at most this often for a neighbour whose sketches stay others." */
export const AGREE_ATTEMPTS = 10;

/** docs/protocol.md#openings: "A neighbour may bring news of openings this often at once." */
export const OPENING_BURST = 128;

/**
 * docs/protocol.md#openings: "Beyond that a neighbour may bring news of openings once in this time. What it says of
 * openings in between is not heard, so that nobody can keep a network restless."
 */
export const BETWEEN_OPENINGS_MILLISECONDS = 60_000;

/**
 * docs/protocol.md#openings: "A number further than this above the own one is refused, so that nobody can use up the
 * numbers. A device that has none yet takes any."
 */
export const FARTHEST_OPENING = 16_777_216;

/**
 * docs/protocol.md#openings: "A device sends a new sketch when the old one is worse for its rows by more than this
 * share. Smaller changes of rows need no opening."
 */
export const SKETCH_TOLERANCE = 0.001;

/**
 * docs/protocol.md#openings: "A device also sends a new sketch when the share of a cluster has changed by more than
 * this."
 */
export const SHARE_TOLERANCE = 0.1;

/** docs/protocol.md#changes-of-study: "A neighbour may say this often at once which studies it speaks." */
export const STATEMENT_BURST = 16;

/**
 * docs/protocol.md#changes-of-study: "Beyond that a neighbour may say it once in this time, because reading a study costs
 * more than reading a frame."
 */
export const BETWEEN_STATEMENTS_MILLISECONDS = 10_000;

/**
 * docs/protocol.md#changes-of-study: "A device in a change looks at this interval whether all neighbours have followed."
 */
export const CHANGE_LOOK_MILLISECONDS = 1_000;

/**
 * docs/protocol.md#updates: "Where all devices have settled and their contractions are alike, none is further from the
 * fixed point than this share of a feature's range."
 */
export const PRECISION = 1e-6;

/**
 * docs/protocol.md#updates: "A contraction counts as at most this, because a device without own rows follows its
 * neighbours whole and its threshold must not become 0."
 */
export const LARGEST_CONTRACTION = 0.999;

/**
 * docs/protocol.md#updates: "A device that goes to and fro is looked for in blocks of this many updates between two
 * frames with something new."
 */
export const DAMPING_UPDATES = 64;

/**
 * docs/protocol.md#updates: "A device whose path in a block is longer than this many times the room that it took halves its
 * steps, until a neighbour moves further than that room or an opening begins."
 */
export const DAMPING_TURNS = 8;

/** docs/protocol.md#updates: "Moves are judged in blocks of this many updates." */
export const NOISE_UPDATES = 256;

/**
 * docs/protocol.md#updates: "A block is progress if its moves take up less than this share of the least room that an
 * earlier block took. Two blocks in a row without progress are noise."
 */
export const NOISE_PROGRESS = 0.9;

/**
 * docs/protocol.md#updates: "The first block that takes up more than this many times the least room of earlier ones is
 * something new, and what follows is judged by it."
 */
export const NOISE_GROWTH = 4;

/** docs/protocol.md#updates: "A change is held back while it is smaller than the room of the noise times this." */
export const NOISE_MARGIN = 1.5;

/**
 * docs/protocol.md#updates: "After this time without a move above the threshold there is no noise, and what was held
 * back is sent."
 */
export const NOISE_QUIET_MILLISECONDS = 15_000;

/**
 * docs/protocol.md#files-of-a-device: "Two writes of the state are at least this far apart. Centroids can be computed
 * again, and disks wear out."
 */
export const STATE_MILLISECONDS = 5_000;

/**
 * docs/protocol.md#files-of-a-device: "`status.json` is written at this interval while it has news, and once more at
 * the end."
 */
export const STATUS_MILLISECONDS = 1_000;

/**
 * docs/protocol.md#files-of-a-device: "A status that had no news is looked at again after this time, because the look
 * was most of what an idle device did."
 */
export const STATUS_LOOK_MILLISECONDS = 3_000;

/**
 * docs/protocol.md#files-of-a-device: "Without news `status.json` is written at this interval, because counters and
 * ages are no news."
 */
export const STATUS_QUIET_MILLISECONDS = 60_000;

/**
 * docs/protocol.md#files-of-a-device: "The data and the links are looked at for changes at this interval while they
 * change or cannot be used."
 */
export const WATCH_MILLISECONDS = 1_000;

/** docs/protocol.md#files-of-a-device: "Data and links that stay as they are are looked at for changes at this interval." */
export const WATCH_QUIET_MILLISECONDS = 3_000;

/**
 * docs/protocol.md#files-of-a-device: "Data or links that could not be used are read again when they have changed, and
 * otherwise after as long as they have been unusable, or after this time if that is shorter."
 */
export const REREAD_MILLISECONDS = 60_000;

/**
 * docs/protocol.md#private: "Private rows are released a second time when the network has come to rest, but not sooner
 * than this time after the start."
 */
export const RELEASE_MILLISECONDS = 60_000;

/** docs/protocol.md#private: "After this further time the second release is made wherever the centroids are." */
export const RELEASE_PATIENCE_MILLISECONDS = 600_000;
