import { ByteWriter } from '../../platform/bytes/byte-writer.ts'
import { type Click, countVisits } from '../click.ts'
import { dayOf, OPENING_AT } from '../tally/click-day.ts'
import { writeClick, writeTally } from '../tally/day-codec.ts'
import { DayTally } from '../tally/day-tally.ts'
import {
  compareKeys,
  type DayDelta,
  type LinkCount,
  SCOPES,
  workspaceSubject,
} from './click-day-rows.ts'

/** Above this count, the clicks of a subject take less space as a tally. */
const SINGLE_CLICKS_MAX = 16

/** The last click of a link that has only clicks without dates. */
const NEVER = -1

/** The workspace and keyspace of a link. Equal pairs are the same object, so that it can be a map key. */
export type Owner = { readonly workspace_id: string; readonly keyspace_id: number }

/** What a batch of clicks adds to the counters of links and to days, each in key order. */
export type BatchDeltas = {
  readonly counts: readonly LinkCount[]
  readonly deltas: readonly DayDelta[]
  /** Visits that are counted for no link, because their link does not exist. */
  readonly withoutLink: number
}

/**
 * Computes the deltas of a batch.
 *
 * @param ownerOf returns undefined for a link that does not exist: it was deleted, or the database is older than
 *   the click. Its clicks are not counted, because their owner is unknown.
 * @param lastClicks the last clicks of links with opening balances, as far as they are known
 */
export function computeBatchDeltas(
  clicks: readonly Click[],
  ownerOf: (linkSeq: number) => Owner | undefined,
  lastClicks?: ReadonlyMap<number, number>,
): BatchDeltas {
  const counts = new Map<number, LinkCount>()
  const deltas: DayDelta[] = []
  for (const [day, ofDay] of groupByDay(clicks)) {
    const { byLink, byOwner } = group(ofDay, ownerOf)
    for (const [linkSeq, ofLink] of byLink) {
      const opening = lastClicks?.get(linkSeq) ?? NEVER
      const count = countOf(linkSeq, ofLink, opening, counts.get(linkSeq))
      if (count.clicks > 0) counts.set(linkSeq, count)
    }
    addLinkDeltas(deltas, day, byLink)
    addOwnerDeltas(deltas, day, byOwner)
  }
  return {
    counts: [...counts.values()].sort((a, b) => a.link_seq - b.link_seq),
    deltas: deltas.sort(compareKeys),
    withoutLink: countVisits(clicks.filter(({ link_seq }) => ownerOf(link_seq) === undefined)),
  }
}

/** Counts people's clicks only. */
function countOf(
  link_seq: number,
  ofLink: readonly Click[],
  opening: number,
  before?: LinkCount,
): LinkCount {
  let clicks = before?.clicks ?? 0
  let last_click = before?.last_click ?? Number.NEGATIVE_INFINITY
  for (const { flags, count, at } of ofLink) {
    if (flags !== 0) continue
    clicks += count
    last_click = Math.max(last_click, at === OPENING_AT ? opening : at)
  }
  return { link_seq, clicks, last_click }
}

/** Groups clicks by UTC day; nearly always there is one. */
export function groupByDay(clicks: readonly Click[]): Map<number, Click[]> {
  const days = new Map<number, Click[]>()
  for (const click of clicks) append(days, dayOf(click.at), click)
  return days
}

/** Groups a day's clicks by link, and adds them up by owner. */
function group(clicks: readonly Click[], ownerOf: (linkSeq: number) => Owner | undefined) {
  const byLink = new Map<number, Click[]>()
  const byOwner = new Map<Owner, DayTally>()
  for (const click of clicks) {
    const owner = ownerOf(click.link_seq)
    if (owner === undefined) continue
    append(byLink, click.link_seq, click)
    let tally = byOwner.get(owner)
    if (tally === undefined) {
      tally = new DayTally()
      byOwner.set(owner, tally)
    }
    tally.add(click)
  }
  return { byLink, byOwner }
}

function addLinkDeltas(
  deltas: DayDelta[],
  day: number,
  byLink: ReadonlyMap<number, readonly Click[]>,
): void {
  const writer = new ByteWriter()
  for (const [subject, ofLink] of byLink) {
    writeClicks(writer, ofLink)
    deltas.push({ day, scope: SCOPES.link, subject, workspace_id: '', data: writer.take() })
  }
}

function addOwnerDeltas(
  deltas: DayDelta[],
  day: number,
  byOwner: ReadonlyMap<Owner, DayTally>,
): void {
  const writer = new ByteWriter()
  const workspaces = Map.groupBy(byOwner, ([{ workspace_id }]) => workspace_id)
  for (const [workspace_id, domains] of workspaces) {
    const ofWorkspace = new DayTally()
    for (const [{ keyspace_id: subject }, tally] of domains) {
      ofWorkspace.merge(tally)
      tally.limitValues()
      writeTally(writer, tally)
      deltas.push({ day, scope: SCOPES.domain, subject, workspace_id, data: writer.take() })
    }
    ofWorkspace.limitValues()
    writeTally(writer, ofWorkspace)
    const subject = workspaceSubject(workspace_id)
    const key = { day, scope: SCOPES.workspace, subject, workspace_id }
    deltas.push({ ...key, data: writer.take() })
  }
}

function writeClicks(writer: ByteWriter, clicks: readonly Click[]): void {
  if (clicks.length <= SINGLE_CLICKS_MAX && clicks.every(({ count }) => count === 1)) {
    for (const click of clicks) writeClick(writer, click)
    return
  }
  const tally = new DayTally()
  for (const click of clicks) tally.add(click)
  tally.limitValues()
  writeTally(writer, tally)
}

function append<K, V>(groups: Map<K, V[]>, key: K, value: V): void {
  const group = groups.get(key)
  if (group === undefined) groups.set(key, [value])
  else group.push(value)
}
