import path from 'node:path'
import type { BackupOptions } from '../../backup/commands/backup.ts'
import type { RestoreOptions } from '../../backup/commands/restore.ts'
import type { MovePlaces } from '../../clicks/commands/clicks.ts'
import type { MoveOptions, MoveResult } from '../../clicks/move/move-clicks.ts'
import type { DomainTools } from '../../domains/commands/domain.ts'
import { DomainHttps } from '../../domains/domain-https.ts'
import type { Events } from '../../events/events.ts'
import type { WorkspaceExports } from '../../exports/workspace-exports.ts'
import type { PeopleServices } from '../../identity/commands/people.ts'
import type { Workspaces } from '../../identity/index.ts'
import type { SetupLinks } from '../../identity/sign-in/setup.ts'
import type { ImportTools } from '../../imports/commands/run-import.ts'
import type { VerifyServices } from '../../imports/commands/verify.ts'
import type { ReplayedJournal } from '../../operations/commands/journal.ts'
import type { RepairReport } from '../../operations/commands/repair.ts'
import type { Finding } from '../../operations/doctor/host-findings.ts'
import { systemClock } from '../../platform/time/clock.ts'
import type { Instance } from '../composition/instance.ts'
import { type CommandConfig, openConfig } from './open-config.ts'

// Each function imports its own code: every process loads all commands and runs one of them.

/** Opens the configured instance for one command. Never creates one. */
export async function withInstance<T>(
  work: (instance: Instance, command: CommandConfig) => Promise<T>,
): Promise<T> {
  const command = openConfig()
  const { openInstance } = await import('../composition/instance.ts')
  const instance = await openInstance(command.config, command.log, { mustExist: true })
  try {
    return await work(instance, command)
  } finally {
    await instance.close()
  }
}

/** Opens the configured instance for the set-up of its first person. */
export function withSetup<T>(
  work: (services: { setupLinks: SetupLinks; baseUrl: string }) => Promise<T>,
): Promise<T> {
  return withInstance(({ setupLinks }, { config }) => work({ setupLinks, baseUrl: config.baseUrl }))
}

/** Opens the configured instance and its services for people for one command. */
export function withPeople<T>(work: (services: PeopleServices) => Promise<T>): Promise<T> {
  return withInstance(async (instance, { config }) => {
    const { openPeople } = await import('../composition/services.ts')
    return work({
      ...openPeople(instance),
      workspaces: instance.workspaces,
      baseUrl: config.baseUrl,
    })
  })
}

/** Opens the configured instance and its event log for one command. */
export function withEvents<T>(
  work: (services: { events: Events; workspaces: Workspaces }) => Promise<T>,
): Promise<T> {
  return withInstance(async ({ store, workspaces }) => {
    const { EVENT_QUEUE, Events } = await import('../../events/events.ts')
    const { WorkQueues } = await import('../../platform/work/fair-queue.ts')
    const events = new Events({ store, lists: new WorkQueues().open(EVENT_QUEUE) })
    return work({ events, workspaces })
  })
}

/** Opens the configured instance and its domain services for one command. */
export function withDomains<T>(work: (tools: DomainTools) => Promise<T>): Promise<T> {
  return withInstance(async (instance, { config, log }) => {
    const { certificateFinder, openDomains } = await import('../composition/domains.ts')
    const { domains, checks } = openDomains(config, instance, log, { isOperator: true })
    const https = new DomainHttps(instance)
    const findCertificate = certificateFinder(config, instance)
    return work({ workspaces: instance.workspaces, domains, checks, https, findCertificate })
  })
}

/** Opens the configured instance and what imports need for one command. */
export function withImports<T>(work: (tools: ImportTools) => Promise<T>): Promise<T> {
  return withInstance(async (instance, { config, log }) => {
    const { openDomains, openServiceHost } = await import('../composition/domains.ts')
    const { openImporter } = await import('../composition/imports.ts')
    const { openPasswordHasher } = await import('../../platform/passwords/password-hasher.ts')
    const { CommandImports } = await import('../../imports/command-imports.ts')
    const { reportCsv, reportHosts } = await import('../../imports/report.ts')
    const { openSource } = await import('../../imports/sources/open-source.ts')
    const { guardedAgents, closeAgents } = await import(
      '../../platform/network/outgoing-request.ts'
    )
    const { systemRandom } = await import('../../platform/crypto/random.ts')
    const { WorkQueues } = await import('../../platform/work/fair-queue.ts')
    const { store, clock, workspaces } = instance
    const queues = new WorkQueues()
    const hashing = openPasswordHasher(queues)
    // An operator may import from an address of their own network.
    const agents = guardedAgents(() => true)
    const serviceHost = await openServiceHost(config, instance)
    const { domains } = openDomains(config, instance, log, { isOperator: true, queues })
    const context = { config, instance, log, serviceHost, hasher: hashing.hasher }
    try {
      return await work({
        workspaces,
        imports: new CommandImports({ store, clock, random: systemRandom }),
        openSource: (settings) => openSource(settings, { agents }),
        openImporter: (on) => openImporter(context, domains, { ...on, countsClicks: true }),
        reportOf: ({ id }) => reportCsv(store, id),
        async unprovedDomainsOf({ id, workspace_id: workspaceId }) {
          const unproved: string[] = []
          for (const host of await reportHosts(store, id)) {
            const domain = await store.read.domains.findByHost(workspaceId, host)
            if (host !== serviceHost.host && domain?.status !== 'active') unproved.push(host)
          }
          return unproved
        },
      })
    } finally {
      closeAgents(agents)
      await hashing.close()
    }
  })
}

/** Opens the configured instance and what compares its imported links, for one command. */
export function withVerification<T>(work: (services: VerifyServices) => Promise<T>): Promise<T> {
  return withInstance(async (instance, { config }) => {
    const { LinkVerification } = await import('../../imports/verify/link-verification.ts')
    const { openServiceHost } = await import('../composition/domains.ts')
    const serviceHost = await openServiceHost(config, instance)
    const verification = new LinkVerification({ ...instance, serviceHost })
    return work({ workspaces: instance.workspaces, verification })
  })
}

/** Opens the configured instance and the exports of its workspaces for one command. */
export function withExports<T>(
  work: (services: { workspaces: Workspaces; workspaceExports: WorkspaceExports }) => Promise<T>,
): Promise<T> {
  return withInstance(async (instance, { config }) => {
    const { openExports } = await import('../composition/services.ts')
    const { WorkQueues } = await import('../../platform/work/fair-queue.ts')
    const workspaceExports = openExports(config, instance, new WorkQueues())
    return work({ workspaces: instance.workspaces, workspaceExports })
  })
}

/** Checks a host, or the whole instance when no host is given. */
export async function diagnose(host: string | undefined): Promise<readonly Finding[]> {
  const { config } = openConfig()
  if (host === undefined) {
    const { diagnoseInstance, examinedOf } = await import('../composition/doctor.ts')
    return diagnoseInstance(examinedOf(config), systemClock())
  }
  const { diagnoseHost } = await import('../composition/doctor.ts')
  return diagnoseHost(config, host, systemClock())
}

/** Checks the files of the data folder; repairs them when `execute` is true. */
export async function repair(execute: boolean): Promise<RepairReport> {
  const { repairDataFolder } = await import('../database/sqlite/repair-files.ts')
  return repairDataFolder(openConfig().config, execute)
}

/** Makes a backup as configured, except for the given options. */
export async function backup(target: string | undefined, options: BackupOptions) {
  const { config } = openConfig()
  const to = target ?? config.backup.target
  if (to === undefined) throw new Error('Name a folder or a bucket, or set TERSE_BACKUP_TO.')
  const { runTask } = await import('../workers/run-task.ts')
  const { backupRequest } = await import('../../backup/make-backup.ts')
  const { recipient, identity, signingKey, keep: retention } = options
  const report = await runTask('backup', {
    ...backupRequest(config, to),
    retention,
    verifies: options.verify,
    takesOver: options.takeOver,
    ...(recipient && { recipients: recipient }),
    ...(identity !== undefined && { identityFile: path.resolve(identity) }),
    ...(signingKey !== undefined && { signingKeyFile: path.resolve(signingKey) }),
  })
  return { ...report, target: to }
}

/** Lists the backups of a target. */
export async function list(source: string, signedByFile: string | undefined) {
  const { listBackups } = await import('../../backup/restore-backup.ts')
  return listBackups(source, { s3: openConfig().config.s3, signedByFile })
}

/** Restores a backup into the configured data folder. */
export async function restore(source: string, options: RestoreOptions) {
  const { config } = openConfig()
  const { dataDir, databaseUrl, secretKey, s3 } = config
  const { restoreBackup } = await import('../../backup/restore-backup.ts')
  const { openRestored, skipRestoredNumbers } = await import('../composition/backups.ts')
  const { describeSettings } = await import('../config/load-config.ts')
  const report = await restoreBackup({
    source,
    name: options.at,
    dataDir,
    databaseUrl,
    secretKey,
    s3,
    identityFile: options.identity ?? config.backup.identityFile,
    signedByFile: options.signedBy,
    acceptsSettings: options.acceptsSettings,
    describeSettings,
    openRestored,
    skipNumbers: (folder, count) => skipRestoredNumbers(config, folder, count),
  })
  return report && { ...report, dataDir }
}

/** Copies clicks of the configured database to the ClickHouse of an address, or back from there. */
export async function moveClicks(
  { to, from }: MovePlaces,
  on: Pick<MoveOptions, 'signal' | 'onWait' | 'onProgress'>,
): Promise<MoveResult> {
  const { moveToClickHouse, moveToDatabase } = await import('./move-clicks.ts')
  // Where the service counts in the database, no address is set, and the password is that of the option.
  const current = openConfig({ TERSE_CLICKS_PASSWORD: '', TERSE_CLICKS_PASSWORD_FILE: '' })
  const url = to === 'database' ? from : to
  const config = openConfig(url === undefined ? {} : { TERSE_CLICKS_URL: url })
  const move = to === 'database' ? moveToDatabase : moveToClickHouse
  return move(config, current.config.clicks, on)
}

/** Ingests the clicks in the journals of a folder, as `replayJournals`. */
export async function replay(
  folder: string,
  includesUnknown: boolean,
): Promise<readonly ReplayedJournal[]> {
  const { replayJournals } = await import('./replay-journals.ts')
  return withInstance((instance, { config, log }) =>
    replayJournals(config, instance, folder, {
      includesUnknown,
      onError: (error) => log.warn({ err: error }, 'journal replay error'),
    }),
  )
}
