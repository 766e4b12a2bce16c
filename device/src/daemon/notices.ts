// What a person should know about a running device: a list in which each notice has its cause, its beginning and its end.

/** Where lines go; a pino logger is one. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/**
 * About this device: `data` files cannot be read, `rows` do not count or are `waiting`, the `history` is lost, `links` or
 * the `reset`, `met`, `state`, `epoch`, `status` file or that of the `next` study cannot be used, lines of the `log` or of
 * the `record` are lost, the `audit` log or what is known about `keys` is not written, its clusters are
 * `pulled` away from its rows, a person has `paused` it, its owner's `limits` keep it out of the study, or something keeps sums over all devices (`sums`) from being complete or plausible.
 */
type OwnCause =
  | "data"
  | "rows"
  | "waiting"
  | "history"
  | "links"
  | "reset"
  | "met"
  | "state"
  | "epoch"
  | "status"
  | "log"
  | "record"
  | "next"
  | "audit"
  | "keys"
  | "pulled"
  | "paused"
  | "limits"
  | "sums";

/**
 * About a link: the neighbour is `silent`, has `refused` this device, is `away`, takes part in another `study`, makes a `proposal` of one, does not follow a
 * `change` of study, stays `out` of it, speaks another `version` of the protocol, breaks a rule of shared clusters (`fault`), is under a `ban`, never rests (`restless`), asks for too
 * many `openings`, `disagrees` with most others, its stamps and ours are not in `order`, it or this device has a new
 * `key`, it says that somebody is `revoked`, or the `relay` between it and this device is gone.
 */
type LinkCause =
  | "silent"
  | "refused"
  | "away"
  | "study"
  | "proposal"
  | "change"
  | "out"
  | "version"
  | "order"
  | "fault"
  | "ban"
  | "restless"
  | "openings"
  | "key"
  | "revoked"
  | "relay"
  | "disagrees";

/** Something that the owner of a device should know. */
export interface Notice {
  readonly cause: OwnCause | LinkCause;
  /** The name of the link that it is about; null: it is about this device itself. */
  readonly link: string | null;
  readonly text: string;
  readonly since: string;
  /** When it was over; null: it is not. */
  readonly until: string | null;
}

export interface LinkProblem extends Pick<Notice, "text"> {
  readonly cause: LinkCause;
  readonly link: string;
}

export type NoticeBoard = ReturnType<typeof noticeBoard>;

/** Of notices that are over, so many are remembered. */
const MOST_OVER = 20;

export function noticeBoard(log: Log, now: () => Date) {
  const open = new Map<string, Notice>();
  const over: Notice[] = [];

  const fieldsOf = ({ cause, link }: Pick<Notice, "cause" | "link">) => (link === null ? { cause } : { cause, link });
  const begin = (key: string, notice: Omit<Notice, "since" | "until">) => {
    const known = open.get(key);
    if (known?.text === notice.text) return;
    open.set(key, { ...notice, since: known?.since ?? now().toISOString(), until: null });
    log.warn(fieldsOf(notice), notice.text);
  };
  const end = (key: string) => {
    const known = open.get(key);
    if (known === undefined) return;
    open.delete(key);
    over.unshift({ ...known, until: now().toISOString() });
    over.splice(MOST_OVER);
    log.info(fieldsOf(known), `over: ${known.text}`);
  };

  return {
    /** What is wrong about this device itself, or that it is over (undefined). */
    set(cause: OwnCause, text: string | undefined) {
      if (text === undefined) end(cause);
      else begin(cause, { cause, link: null, text });
    },
    /** Everything that is wrong with links now: whatever is not among it is over. */
    setLinks(problems: readonly LinkProblem[]) {
      const keys = problems.map(({ cause, link }) => `${cause} ${link}`);
      for (const [key, { link }] of open) if (link !== null && !keys.includes(key)) end(key);
      for (const [index, problem] of problems.entries()) begin(keys[index], problem);
    },
    /** Those that are not over, then the latest that are. */
    list: (): Notice[] => [...open.values(), ...over],
  };
}
