import type { Click } from '../domain/clicks/click.ts'
import { dayOf } from '../domain/clicks/click-day.ts'
import { writeClick, writeTally } from '../domain/clicks/day-codec.ts'
import { DayTally } from '../domain/clicks/day-tally.ts'
import { ByteWriter } from '../lib/byte-writer.ts'
import { compareKeys, type DayDelta, type LinkCount, SCOPES } from './click-day-rows.ts'

/** More clicks than this of one subject take less room added up. */
const SINGLE_CLICKS_MAX = 16

/** To whom a link's clicks are added. One object for each pair of the two. */
export type Owner = { readonly workspace_id: string; readonly keyspace_id: number }

/** What a batch of clicks adds to the links' counters and to the days; both in their keys' order. */
export type BatchGrowth = {
  readonly counts: readonly LinkCount[]
  readonly deltas: readonly DayDelta[]
}

/**
 * @param ownerOf undefined for a link that has been deleted: its clicks are added to nothing, for
 *   nobody knows any more whose they were
 */
export function growthOf(
  clicks: readonly Click[],
  ownerOf: (linkSeq: number) => Owner | undefined,
): BatchGrowth {
  const counts = new Map<number, { clicks: number; last_click: number }>()
  const deltas: DayDelta[] = []
  for (const [day, ofDay] of groupByDay(clicks)) deltas.push(...deltasOf(day, ofDay, ownerOf))
  for (const { link_seq, flags, at } of clicks) {
    if (flags !== 0 || ownerOf(link_seq) === undefined) continue
    const count = counts.get(link_seq)
    if (count === undefined) counts.set(link_seq, { clicks: 1, last_click: at })
    else {
      count.clicks += 1
      if (at > count.last_click) count.last_click = at
    }
  }
  return {
    counts: [...counts]
      .sort(([a], [b]) => a - b)
      .map(([link_seq, count]) => ({ link_seq, ...count })),
    deltas: deltas.sort(compareKeys),
  }
}

/** Clicks by their UTC day; nearly always there is one. */
export function groupByDay(clicks: readonly Click[]): Map<number, Click[]> {
  const days = new Map<number, Click[]>()
  for (const click of clicks) append(days, dayOf(click.at), click)
  return days
}

function deltasOf(
  day: number,
  clicks: readonly Click[],
  ownerOf: (linkSeq: number) => Owner | undefined,
): DayDelta[] {
  const writer = new ByteWriter()
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

  const deltas: DayDelta[] = []
  for (const [subject, ofLink] of byLink) {
    const workspace_id = ownerOf(subject)?.workspace_id ?? ''
    writeClicks(writer, ofLink)
    deltas.push({ day, scope: SCOPES.link, subject, workspace_id, data: writer.take() })
  }
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
    const key = { day, scope: SCOPES.workspace, subject: 0, workspace_id }
    deltas.push({ ...key, data: writer.take() })
  }
  return deltas
}

function writeClicks(writer: ByteWriter, clicks: readonly Click[]): void {
  if (clicks.length <= SINGLE_CLICKS_MAX) {
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
