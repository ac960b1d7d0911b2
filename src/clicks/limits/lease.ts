/** What a process asks of a link's limit. */
export type LeaseRequest = {
  readonly linkSeq: number
  /** The journal of the process, which names it. */
  readonly journalId: string
  /**
   * Clicks that the process was ever given for the link, less those that it has returned; undefined while it does not know.
   * It replaces what the database has, so that an answer that was lost is put right by the next request.
   */
  readonly granted: number | undefined
  /** How many of them it has not taken. */
  readonly held: number
  /** Visits that wait for clicks; 0 to return clicks, or only to read the state. */
  readonly wanted: number
  /** By the process's clock, in microseconds. */
  readonly atMicros: number
}

export type LeaseAnswer = {
  /** The link's `max_clicks`; null where the link has no limit, or there is no such link. */
  readonly maxClicks: number | null
  /** Clicks that the process was ever given for the link, less those that it has returned, with `more`. */
  readonly granted: number
  /** How many more it may answer than before. */
  readonly more: number
  /** How many clicks no process holds. */
  readonly left: number
  /** How many clicks other processes hold, at most, that were seen within 90 s. */
  readonly heldElsewhere: number
}

/** A node takes a share of what is left, so that each gets its part, and the last clicks are handed out one by one. */
const SHARES_PER_NODE = 4

/** What the database knows about a link's limit. */
export type LimitFacts = {
  /** Null for a link without a limit. */
  readonly maxClicks: number | null
  /** People's clicks on the link that are counted. */
  readonly counted: number
  /** Clicks that were granted to processes and are not counted yet. */
  readonly outstanding: number
  /** Processes that are running. */
  readonly nodes: number
}

/** Returns how many clicks no process holds; 0 for a link without a limit. */
export function leftOf({ maxClicks, counted, outstanding }: LimitFacts): number {
  return Math.max(0, (maxClicks ?? 0) - counted - outstanding)
}

/** Returns how many clicks a process gets for the visits that wait there. */
export function grantOf(facts: LimitFacts, wanted: number): number {
  if (wanted === 0) return 0
  const left = leftOf(facts)
  const share = Math.floor(left / (SHARES_PER_NODE * Math.max(1, facts.nodes)))
  return Math.min(left, Math.max(share, wanted))
}
