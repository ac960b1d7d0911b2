/** A process that serves, known by its click journal; or a journal that outlived its process. */
export type Node = {
  /** The journal's. */
  readonly id: string
  /** The machine's name, for people. */
  readonly name: string
  /** The process's number on it, from 1. */
  readonly process: number
  /** Of the program. */
  readonly version: string
  /** Microseconds since the epoch. */
  readonly started_at: number
  /** When it was last heard of, in microseconds since the epoch, by its own clock. */
  readonly beat_at: number
  /** What its journal held then that the database had not taken. */
  readonly backlog_bytes: number
  /** The instant of the first click in there. */
  readonly oldest_click_at: number | null
}

/** How often a node says that it is there. */
export const BEAT_INTERVAL_MS = 20_000

/** One that has missed so much is gone: it was killed, or its machine was, or it cannot reach the database. */
export const LOST_AFTER_MICROS = 90 * 1_000_000

export function isLost(node: Node, nowMicros: number): boolean {
  return node.beat_at < lostBefore(nowMicros)
}

/** Nodes that were last heard of before this are lost. */
export function lostBefore(nowMicros: number): number {
  return nowMicros - LOST_AFTER_MICROS
}
