import { existsSync, readdirSync, statSync } from 'node:fs'
import { damagedJournalsFolder } from '../../clicks/journal/journal-folder.ts'
import { totalBacklogBytes } from '../../clicks/journal/journal-reader.ts'
import { diskFindings } from '../../operations/doctor/disk-findings.ts'
import type { Finding } from '../../operations/doctor/host-findings.ts'
import { isLost } from '../../operations/nodes.ts'
import { Failure } from '../../platform/failure.ts'
import { terseCommand } from '../../platform/process/terse-command.ts'
import { VERSION } from '../../platform/process/version.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { Config } from '../config/config.ts'
import { type Inspection, inspectDatabase } from '../database/inspect.ts'
import { NewerSchema, SCHEMA_VERSION } from '../database/migrations/migrate.ts'
import { UnreleasedSchema } from '../database/migrations/unreleased-schema.ts'
import { backupFindings, type ExaminedBackups } from './backup-findings.ts'
import { fileFindings, lastFileFindings } from './file-findings.ts'

const MIB = 1024 * 1024
/** More than the drainer leaves behind in a second of the heaviest load. */
const BACKLOG_BYTES_HIGH = 8 * MIB
const CLOCK_SKEW_MS_MAX = 5_000

/** What is checked. Plain data, so that another process can do it. */
export type ExaminedInstance = Pick<
  Config,
  'dataDir' | 'databaseUrl' | 'baseUrl' | 'diskLowRatio'
> &
  ExaminedBackups & {
    readonly servesHttps: boolean
    readonly trustsProxies: boolean
    /** The names in TERSE_OIDC_ROLES. */
    readonly mappedNames: readonly string[]
  }

export function examinedOf(config: Config): ExaminedInstance {
  const { dataDir, databaseUrl, baseUrl, diskLowRatio, tls, trustedProxies, s3, backup } = config
  const mappedNames = [...new Set(config.oidc?.roles.map(({ workspace }) => workspace))]
  const servesHttps = tls !== undefined
  const trustsProxies = !trustedProxies.isEmpty
  const examined = { dataDir, databaseUrl, baseUrl, diskLowRatio, s3, backup }
  return { ...examined, servesHttps, trustsProxies, mappedNames }
}

/**
 * Looks at everything that an instance rests on, and changes nothing.
 *
 * @param options.readsFiles whether to read the SQLite files, which can take minutes, or to report their last
 *   check; true when left out
 */
export async function diagnoseInstance(
  config: ExaminedInstance,
  clock: Clock,
  { readsFiles = true }: { readonly readsFiles?: boolean } = {},
): Promise<readonly Finding[]> {
  const program: Finding = {
    subject: 'program',
    state: 'ok',
    text: `Terse ${VERSION} on Node.js ${process.versions.node}, at ${config.baseUrl}`,
  }
  const entry = statSync(config.dataDir, { throwIfNoEntry: false })
  const folder = entry?.isDirectory() ?? false
  if (entry !== undefined && !folder) return [program, noFolder(config)]
  if (!folder && config.databaseUrl === undefined) return [program, nothingYet(config)]
  const fileCheck = readsFiles ? fileFindings : lastFileFindings
  const files = folder ? fileCheck(config) : []
  const disk = folder ? await diskFindings(config) : []
  let inspection: Inspection | undefined
  try {
    inspection = await inspectDatabase(config)
  } catch (error) {
    return [program, unreachable(error), ...files, ...disk]
  }
  if (inspection === undefined) {
    const damage = files.filter(({ state }) => state === 'problem')
    return [program, nothingYet(config), ...damage, ...disk]
  }
  return [
    program,
    ...proxyFindings(config, inspection),
    ...groupFindings(config, inspection),
    databaseFinding(inspection),
    schemaFinding(inspection),
    ...files,
    ...journalFindings(config.dataDir, inspection),
    nodesFinding(inspection, clock),
    clockFinding(inspection, clock),
    ...disk,
    ...(folder ? await backupFindings(config, clock) : []),
  ]
}

/** A proxy was seen, or must be there: people use HTTPS, which the service does not speak itself. */
function proxyFindings(
  { baseUrl, servesHttps, trustsProxies }: ExaminedInstance,
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

/** What each name in TERSE_OIDC_ROLES means. */
function groupFindings(
  { mappedNames }: ExaminedInstance,
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

function noFolder(config: ExaminedInstance): Finding {
  return {
    subject: 'data',
    state: 'problem',
    text: `${config.dataDir} is a file`,
    advice: 'Set TERSE_DATA_DIR to a folder.',
  }
}

function nothingYet(config: ExaminedInstance): Finding {
  return {
    subject: 'database',
    state: 'warning',
    text: `there is none in ${config.dataDir} yet`,
    advice: `Name the data folder of the service with --data-dir or TERSE_DATA_DIR, or begin a new one: ${terseCommand('serve')}`,
  }
}

function unreachable(error: unknown): Finding {
  const cause = error instanceof Failure ? error.cause : error
  return {
    subject: 'database',
    state: 'problem',
    text: cause instanceof Error ? cause.message || cause.name : String(cause),
    advice: adviceFor(cause),
  }
}

function adviceFor(cause: unknown): string {
  if (cause instanceof NewerSchema) return 'Nothing is wrong with the data; update the program.'
  if (cause instanceof UnreleasedSchema) return 'Begin with an empty data folder or database.'
  return 'Check TERSE_DATABASE_URL or TERSE_DATA_DIR, and that the database runs.'
}

function databaseFinding(inspection: Inspection): Finding {
  const { engine, workspaces, links } = inspection
  return {
    subject: 'database',
    state: 'ok',
    text: `${engine}, ${workspaces} ${workspaces === 1 ? 'workspace' : 'workspaces'}, ${links} ${links === 1 ? 'link' : 'links'}`,
  }
}

function schemaFinding({ schemaVersion }: Inspection): Finding {
  const subject = 'schema'
  if (schemaVersion === SCHEMA_VERSION) {
    return { subject, state: 'ok', text: `version ${schemaVersion}, as this program needs it` }
  }
  if (schemaVersion > SCHEMA_VERSION) {
    const text = `version ${schemaVersion}, of a newer release; this program can serve it`
    return { subject, state: 'ok', text }
  }
  return {
    subject,
    state: 'warning',
    text: `version ${schemaVersion}; this program needs ${SCHEMA_VERSION}`,
    advice: 'The next start of the service brings it up to date.',
  }
}

function journalFindings(dataDir: string, { positions }: Inspection): Finding[] {
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

function nodesFinding({ nodes }: Inspection, clock: Clock): Finding {
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

function clockFinding({ serverMillis, lastChangeMicros }: Inspection, clock: Clock): Finding {
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
