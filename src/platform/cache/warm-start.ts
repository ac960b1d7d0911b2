import type { ChangeCursor } from '../changes/changes.ts'

/** The place in the change log and the service's host to which kept values belong. */
export type WarmStartState = {
  /** Changes after it are not in the kept values. */
  readonly cursor: ChangeCursor
  /** When the log was read last, in microseconds since the epoch. */
  readonly readAtMicros: number
  /** The host that all workspaces share, and its keyspace. */
  readonly serviceHost: string
  readonly serviceKeyspaceId: number
}

/** A certificate is kept as it is in the database, its private key sealed. */
export type KeptKind = 'host' | 'link' | 'certificate'

/**
 * Cached values of one kind on disk. The caller drops a value in the same turn of the event loop in
 * which the change log reports its change, so that a kept value is never older than the kept cursor.
 */
export type KeptValues = {
  /** What an earlier process kept. */
  entries(): Iterable<{ readonly name: string; readonly value: string }>
  /** @param encode called only where values are kept */
  keep(name: string, encode: () => string): void
  drop(name: string): void
}

/**
 * Keeps the caches of redirects and HTTPS beyond the process, so that a node can start while the
 * database is down. Losing what is kept costs no visit while the database answers.
 */
export type WarmStart = {
  /** Undefined where nothing is kept yet. */
  readonly state: WarmStartState | undefined
  values(kind: KeptKind): KeptValues
  /** Drops the values of all kinds. */
  clear(): void
}

/** Keeps nothing. */
export const COLD_START: WarmStart = {
  state: undefined,
  values: () => ({ entries: () => [], keep() {}, drop() {} }),
  clear() {},
}
