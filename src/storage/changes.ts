/**
 * What every node must invalidate because it changed: a host (its status, fall-backs, owner or HSTS), the
 * links of one keyspace that share a folded key, a rule set, how visits to a workspace's links get labels and tokens (`label`), a token (by
 * its identifier), the certificate of a host, the quotas of a workspace, or the sessions of a person (by the person's
 * identifier). `limit` invalidates nothing: a process has visitors for a link's last clicks, which others hold.
 */
export type Change =
  | { readonly kind: 'host'; readonly subject: string }
  | { readonly kind: 'link'; readonly subject: string }
  | { readonly kind: 'rule-set'; readonly subject: string }
  | { readonly kind: 'label'; readonly subject: string }
  | { readonly kind: 'token'; readonly subject: string }
  | { readonly kind: 'certificate'; readonly subject: string }
  | { readonly kind: 'quota'; readonly subject: string }
  | { readonly kind: 'session'; readonly subject: string }
  | { readonly kind: 'limit'; readonly subject: string }

export function hostChange(host: string): Change {
  return { kind: 'host', subject: host }
}

export function linkChange(keyspaceId: number, foldedKey: string): Change {
  return { kind: 'link', subject: linkSubject(keyspaceId, foldedKey) }
}

export function ruleSetChange(workspaceId: string, id: string): Change {
  return { kind: 'rule-set', subject: ruleSetSubject(workspaceId, id) }
}

/** The set of keys in a keyspace whose links take more of a path than their key. */
export function pathsChange(keyspaceId: number): Change {
  return { kind: 'link', subject: pathsSubject(keyspaceId) }
}

export function labelChange(workspaceId: string): Change {
  return { kind: 'label', subject: workspaceId }
}

export function tokenChange(id: string): Change {
  return { kind: 'token', subject: id }
}

export function certificateChange(host: string): Change {
  return { kind: 'certificate', subject: host }
}

export function quotaChange(workspaceId: string): Change {
  return { kind: 'quota', subject: workspaceId }
}

/** The sessions, the account or a membership of a person changed. */
export function sessionChange(personId: string): Change {
  return { kind: 'session', subject: personId }
}

/** Calls in the clicks that processes hold of a link's limit (clicks/limits/click-limits.ts). */
export function limitChange(linkSeq: number): Change {
  return { kind: 'limit', subject: String(linkSeq) }
}

/** The subject, in caches and the change log, of the links of one folded key. */
export function linkSubject(keyspaceId: number, foldedKey: string): string {
  return `${keyspaceId}/${foldedKey}`
}

/** The subject, in caches and the change log, of a rule set; it finds the set of no other workspace. */
export function ruleSetSubject(workspaceId: string, id: string): string {
  return `${workspaceId}/${id}`
}

/** Like the subject of an empty key, which no link has. */
export function pathsSubject(keyspaceId: number): string {
  return linkSubject(keyspaceId, '')
}

/** A cache of data that this or another process may change. */
export type ChangeListener = {
  /** Invalidates what was changed; may load it again. */
  apply(changes: readonly Change[]): void
  /** Invalidates everything. */
  forgetAll(): void
  /** Invalidates cached absences: while the log is unreadable, what was absent may be created. */
  forgetAbsences(): void
}

/** A reader's position in the change log. Opaque: each engine has its own format. */
export type ChangeCursor = string

/** The log of changes, written in the same transaction as each change. */
export type ChangeLog = {
  /** Call only within a transaction of `Store.write`. */
  append(change: Change, atMicros: number): Promise<void>
  /** Returns the cursor after everything committed so far. */
  end(): Promise<ChangeCursor>
  /**
   * Returns everything committed after `cursor`, and the next cursor. May return a change twice; never
   * omits one, in whatever order transactions commit.
   */
  since(cursor: ChangeCursor, limit: number): Promise<NewChanges>
  /**
   * Deletes a bounded number of the oldest changes from before `beforeMicros`; returns true when there may
   * be more. Call for changes that every reader has passed long ago.
   */
  trim(beforeMicros: number): Promise<boolean>
}

export type NewChanges = {
  /**
   * Undefined when the reader must invalidate everything: there are more changes than `limit`, the log has
   * already deleted some that it has not read, or the database was restored to an older state.
   */
  readonly changes: readonly Change[] | undefined
  readonly cursor: ChangeCursor
  /**
   * Whether the database server may have crashed since `cursor` was returned, and lost the state of its
   * last transactions: then a reader reads again from a cursor that is some seconds older.
   */
  readonly isInterrupted: boolean
}

/** Most changes applied from one read; above that, invalidating everything is cheaper. */
const CHANGES_MAX = 5_000
/** The shortest time between two reads, however often `wake` is called. */
const WAKE_INTERVAL_MS = 20
/**
 * How much is read again after an interruption. A server that crashed may reuse the numbers of transactions
 * that were not yet on its disk: PostgreSQL flushes after at most three times `wal_writer_delay`, which is
 * 0.6 s by default.
 */
const OVERLAP_MS = 2_000

/** Keeps a node's caches coherent with the writes of all processes. */
export type ChangeFollower = {
  /**
   * Starts to follow; settles when the position in the log is known.
   *
   * @param earlier the position of an earlier process whose caches this one has loaded; then the promise
   *   settles when the changes since are applied, or when the log cannot be read
   */
  start(earlier?: EarlierPosition): Promise<void>
  /** A position from which a later process can continue; undefined until one is old enough. */
  positionForLater(): ChangeCursor | undefined
  /** Reads soon, because there may be new changes. */
  wake(): void
  stop(): Promise<void>
  /** Milliseconds since the last successful read of the log: how stale caches may be. */
  lagMs(): number
}

export type EarlierPosition = { readonly cursor: ChangeCursor; readonly lagMs: number }

type Position = { readonly cursor: ChangeCursor; readonly readMs: number }

/**
 * @param options.intervalMs between two reads of the log
 * @param options.staleMsMax how long cached data may be served while the log cannot be read
 */
export function changeFollower(options: {
  log: ChangeLog
  listeners: readonly ChangeListener[]
  intervalMs: number
  staleMsMax: number
  onError: (error: unknown) => void
}): ChangeFollower {
  const { log, listeners } = options
  let position: Position | undefined
  /** Positions that are at least the overlap apart; the first is old enough to go back to. */
  let anchors: readonly [older: Position | undefined, newer: Position | undefined] = [
    undefined,
    undefined,
  ]
  let timer: NodeJS.Timeout | undefined
  let reading: Promise<void> | undefined
  let isWakeRequested = false
  let failing = false
  let stopped = false

  function moveTo(cursor: ChangeCursor): void {
    position = { cursor, readMs: performance.now() }
    const [, newer] = anchors
    if (newer === undefined || position.readMs - newer.readMs >= OVERLAP_MS)
      anchors = [newer, position]
  }

  async function readNews(from: Position): Promise<NewChanges> {
    const news = await log.since(from.cursor, CHANGES_MAX)
    if (!news.isInterrupted) return news
    const [older] = anchors
    if (older !== undefined) return log.since(older.cursor, CHANGES_MAX)
    anchors = [undefined, undefined]
    return { ...news, changes: undefined }
  }

  async function read(from: Position): Promise<void> {
    try {
      const news = await readNews(from)
      for (const listener of listeners) {
        if (news.changes === undefined) listener.forgetAll()
        else listener.apply(news.changes)
      }
      moveTo(news.cursor)
      failing = false
    } catch (error) {
      if (!failing) options.onError(error)
      failing = true
      const isStale = lagMs() > options.staleMsMax
      for (const listener of listeners) {
        if (isStale) listener.forgetAll()
        else listener.forgetAbsences()
      }
    }
  }

  function readSoon(delayMs: number): void {
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (position === undefined) return
      reading = read(position).finally(() => {
        reading = undefined
        if (stopped) return
        readSoon(isWakeRequested ? WAKE_INTERVAL_MS : options.intervalMs)
        isWakeRequested = false
      })
    }, delayMs)
    timer.unref()
  }

  function lagMs(): number {
    return position === undefined ? 0 : performance.now() - position.readMs
  }

  return {
    async start(earlier) {
      if (earlier === undefined) {
        moveTo(await log.end())
      } else {
        position = { cursor: earlier.cursor, readMs: performance.now() - earlier.lagMs }
        anchors = [position, position]
        await read(position)
      }
      readSoon(options.intervalMs)
    },
    positionForLater: () => anchors[0]?.cursor,
    wake() {
      if (stopped || isWakeRequested || position === undefined) return
      if (reading !== undefined) isWakeRequested = true
      else readSoon(Math.max(0, WAKE_INTERVAL_MS - lagMs()))
    },
    lagMs,
    async stop() {
      stopped = true
      clearTimeout(timer)
      await reading
    },
  }
}

/**
 * The row of `instance` that holds the position up to which the change log has been trimmed, in
 * each engine's own form. A reader whose cursor is before it has missed changes.
 */
export const TRIMMED = 'changes_trimmed'

/** The maximum number of log rows deleted at once. */
export const TRIM_ROWS_MAX = 1_000
