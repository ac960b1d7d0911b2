import { existsSync, readdirSync } from 'node:fs'
import {
  damagedJournalsFolder,
  type JournalPosition,
  totalBacklogBytes,
} from '../../clicks/store/index.ts'
import { terseCommand } from '../../platform/process/terse-command.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { isLost, type Node } from '../nodes.ts'
import type { Finding } from './host-findings.ts'

const MIB = 1024 * 1024
/** More than the drainer leaves behind in a second of the heaviest load. */
const BACKLOG_BYTES_HIGH = 8 * MIB
const CLOCK_SKEW_MS_MAX = 5_000

/** The state of a database, read without changing anything. */
export type Inspection = {
  readonly engine: string
  /** 0 for an empty database; all other values are then empty. */
  readonly schemaVersion: number
  readonly workspaces: number
  readonly links: number
  /** How far each click journal has been ingested. */
  readonly positions: ReadonlyMap<string, JournalPosition>
  /** The time of the last change; undefined when the change log is empty. */
  readonly lastChangeMicros: number | undefined
  /** The serving processes, including lost ones. */
  readonly nodes: readonly Node[]
  /** The names in TERSE_OIDC_ROLES that were used, each with its workspace; null for a deleted one. */
  readonly groupBindings: ReadonlyMap<string, { readonly id: string; readonly name: string } | null>
  /**
   * The database server's time in milliseconds since the epoch; undefined for SQLite, which uses
   * this machine's clock.
   */
  readonly serverMillis: number | undefined
}

/** A proxy was seen, or must be there: people use HTTPS, which the service does not speak itself. */
export function proxyFindings(
  {
    baseUrl,
    servesHttps,
    trustsProxies,
  }: {
    readonly baseUrl: string
    readonly servesHttps: boolean
    readonly trustsProxies: boolean
  },
  { nodes }: Inspection,
): Finding[] {
  const seen = new Set(nodes.flatMap(({ untrusted_proxy: address }) => address ?? []))
  const isImplied = baseUrl.startsWith('https:') && !servesHttps && !trustsProxies
  if (seen.size === 0 && !isImplied) return []
  const proxy =
    seen.size === 0 ? 'the proxy that does HTTPS' : `the proxy at ${[...seen].join(', ')}`
  return [
    {
      subject: 'proxy',
      state: 'warning',
      text: `${proxy} is not trusted, so all visitors have its address`,
      advice:
        'Set TERSE_TRUST_PROXY to its address; until then countries and visitors are wrong, and clicks may count as bots.',
    },
  ]
}

/** @param mappedNames the names in TERSE_OIDC_ROLES */
export function groupFindings(
  mappedNames: readonly string[],
  { groupBindings }: Inspection,
): Finding[] {
  const subject = 'groups'
  return mappedNames.map((name) => {
    const workspace = groupBindings.get(name)
    if (workspace === null) {
      return {
        subject,
        state: 'warning',
        text: `TERSE_OIDC_ROLES names ${name}, a workspace that was deleted, so groups have no role there`,
        advice: `Take it out of the setting, or let it mean the workspace that has the name now: ${terseCommand(`workspace bind-groups ${name}`)}`,
      }
    }
    const text =
      workspace === undefined
        ? `${name} in TERSE_OIDC_ROLES is bound at the next sign-on to the workspace that has the name`
        : `${name} in TERSE_OIDC_ROLES is the workspace ${workspace.id}, called ${workspace.name}`
    return { subject, state: 'ok', text }
  })
}

export function databaseFinding(inspection: Inspection): Finding {
  const { engine, workspaces, links } = inspection
  return {
    subject: 'database',
    state: 'ok',
    text: `${engine}, ${workspaces} ${workspaces === 1 ? 'workspace' : 'workspaces'}, ${links} ${links === 1 ? 'link' : 'links'}`,
  }
}

/** @param needed the schema of this program */
export function schemaFinding({ schemaVersion }: Inspection, needed: number): Finding {
  const subject = 'schema'
  if (schemaVersion === needed) {
    return { subject, state: 'ok', text: `version ${schemaVersion}, as this program needs it` }
  }
  if (schemaVersion > needed) {
    const text = `version ${schemaVersion}, of a newer release; this program can serve it`
    return { subject, state: 'ok', text }
  }
  return {
    subject,
    state: 'warning',
    text: `version ${schemaVersion}; this program needs ${needed}`,
    advice: 'The next start of the service brings it up to date.',
  }
}

export function journalFindings(dataDir: string, { positions }: Inspection): Finding[] {
  const subject = 'clicks'
  const bytes = totalBacklogBytes(dataDir, positions)
  const isHigh = bytes > BACKLOG_BYTES_HIGH
  const backlog: Finding = {
    subject,
    state: isHigh ? 'warning' : 'ok',
    text: `${bytes} bytes in the journal wait to be counted`,
    ...(isHigh && { advice: 'Check that the service runs and that its log does not say why.' }),
  }
  const damaged = damagedJournalsFolder(dataDir)
  if (!existsSync(damaged) || readdirSync(damaged).length === 0) return [backlog]
  const damage: Finding = {
    subject,
    state: 'problem',
    text: `damaged journals were set aside in ${damaged}`,
    advice: 'Check the disk. What could be read of them has been counted; remove them when done.',
  }
  return [backlog, damage]
}

export function nodesFinding({ nodes }: Inspection, clock: Clock): Finding {
  const subject = 'nodes'
  const lost = nodes.filter((node) => isLost(node, clock.nowMicros()))
  const up = nodes.length - lost.length
  if (lost.length === 0) return { subject, state: 'ok', text: `${up} running` }
  const bytes = lost.reduce((sum, { backlog_bytes }) => sum + backlog_bytes, 0)
  return {
    subject,
    state: 'problem',
    text: `${up} running, ${lost.length} lost with ${bytes} bytes of clicks when last heard of`,
    advice: `See: ${terseCommand('node list')}. Start them again, or count what they left: ${terseCommand('journal replay <their data folder>')}. If their disk is lost: ${terseCommand('node forget <id>')}`,
  }
}

export function clockFinding(
  { serverMillis, lastChangeMicros }: Inspection,
  clock: Clock,
): Finding {
  const subject = 'clock'
  const nowMs = clock.nowMicros() / 1_000
  const advice = 'Synchronise the clocks (NTP); expiry and click times depend on them.'
  const skewMs = serverMillis === undefined ? 0 : nowMs - serverMillis
  if (Math.abs(skewMs) > CLOCK_SKEW_MS_MAX) {
    const text = `differs from the database server's by ${Math.round(skewMs / 1_000)} s`
    return { subject, state: 'warning', text, advice }
  }
  const aheadMs = (lastChangeMicros ?? 0) / 1_000 - nowMs
  if (aheadMs > CLOCK_SKEW_MS_MAX) {
    const text = `the newest change lies ${Math.round(aheadMs / 1_000)} s in the future`
    return { subject, state: 'warning', text, advice }
  }
  return { subject, state: 'ok', text: new Date(nowMs).toISOString() }
}

export function noFolder(dataDir: string): Finding {
  return {
    subject: 'data',
    state: 'problem',
    text: `${dataDir} is a file`,
    advice: 'Set TERSE_DATA_DIR to a folder.',
  }
}

export function nothingYet(dataDir: string): Finding {
  return {
    subject: 'database',
    state: 'warning',
    text: `there is none in ${dataDir} yet`,
    advice: `Name the data folder of the service with --data-dir or TERSE_DATA_DIR, or begin a new one: ${terseCommand('serve')}`,
  }
}
