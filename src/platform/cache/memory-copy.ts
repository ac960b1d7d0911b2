import type { ChangeCursor } from '../changes/change-log.ts'

/** From which a node can go on that starts while the database is away. */
export type CopyState = {
  /** From where in the change log the copy must be brought up to date. */
  readonly cursor: ChangeCursor
  /** When the log was read last, in microseconds since the epoch. */
  readonly readAtMicros: number
  /** The host that all workspaces share, and its keyspace. */
  readonly serviceHost: string
  readonly serviceKeyspaceId: number
}

/** A certificate is here as it is in the database, its private key sealed. */
export type CopiedKind = 'host' | 'link' | 'certificate'

/**
 * A node's own copy of what its redirects and its HTTPS have at hand, outside of its memory. It is a copy:
 * what goes wrong with it costs no visit, and a change that it did not take is in the log after its
 * cursor. So whoever keeps values in it takes out what the log says was changed, in the same turn.
 */
export type MemoryCopy = {
  /** Undefined for a new copy. */
  readonly state: CopyState | undefined
  /** What it holds of a kind on disk: names and values as they were kept. */
  entries(kind: CopiedKind): Iterable<{ readonly name: string; readonly value: string }>
  /** Keeps a value, or undefined in its place, with the next `save`. */
  set(kind: CopiedKind, name: string, value: string | undefined): void
  /** Forgets everything, with the next `save`. */
  clear(): void
  /**
   * Writes down some of what was set, and once nothing is left of it, the state that belongs to it.
   * True while there is more.
   */
  save(state: CopyState): boolean
  close(): void
}
