import type { ReplayedJournal } from '../../operations/commands/journal.ts'
import type { RepairReport } from '../../operations/commands/repair.ts'
import type { Finding } from '../../operations/doctor/finding.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { openConfig } from './open-config.ts'
import { withInstance } from './with-instance.ts'

// Each function imports its own code: every process loads all commands and runs one of them.

/** Checks a host, or the whole instance when no host is given. */
export async function diagnose(host: string | undefined): Promise<readonly Finding[]> {
  const { config } = openConfig()
  if (host === undefined) {
    const { diagnoseInstance } = await import('../doctor/diagnose-instance.ts')
    return diagnoseInstance(config, systemClock())
  }
  const { diagnoseHost } = await import('../doctor/diagnose-host.ts')
  return diagnoseHost(config, host, systemClock())
}

/** Checks the files of the data folder; repairs them when `execute` is true. */
export async function repair(execute: boolean): Promise<RepairReport> {
  const { repairDataFolder } = await import('../instance/repair.ts')
  return repairDataFolder(openConfig().config, execute)
}

/** Ingests the clicks in the journals of a folder, as `replayJournals`. */
export async function replay(
  folder: string,
  includesUnknown: boolean,
): Promise<readonly ReplayedJournal[]> {
  const { replayJournals } = await import('../instance/replay.ts')
  return withInstance((instance, { config, log }) =>
    replayJournals(config, instance, folder, {
      includesUnknown,
      onError: (error) => log.warn({ err: error }, 'journal replay error'),
    }),
  )
}
