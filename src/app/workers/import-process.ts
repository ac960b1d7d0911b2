import { writeFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { type Import, ImportTakenOver, REVIVAL } from '../../imports/import.ts'
import { requeueStopped } from '../../imports/import-jobs.ts'
import type { Importer } from '../../imports/importer.ts'
import { originOf, type SourceSettings } from '../../imports/source-kinds.ts'
import { openSource, type SourceAccess } from '../../imports/sources/open-source.ts'
import { isPrivateAddress } from '../../platform/network/ip-address.ts'
import { closeAgents, guardedAgents } from '../../platform/network/outgoing-request.ts'
import { openPasswordHasher } from '../../platform/passwords/password-hasher.ts'
import { WorkQueues } from '../../platform/work/fair-queue.ts'
import { createLogger } from '../cli/open-config.ts'
import { openDomains, openServiceHost } from '../composition/domains.ts'
import { openImporter } from '../composition/imports.ts'
import { openInstance } from '../composition/instance.ts'
import type { Config } from '../config/config.ts'

/** What a process of low priority is to import. `config` has lost what structured clones do not keep. */
export type ImportTask = {
  readonly config: Config
  readonly leased: Import
  readonly settings: SourceSettings | undefined
}

const stopping = new AbortController()
const stop = () => stopping.abort(new Error('the import process was asked to stop'))

setPriority(constants.priority.PRIORITY_LOW)
offerToKernel()
process.on('SIGTERM', stop)
// A terminal sends SIGINT to all processes of the service.
process.on('SIGINT', stop)
// The node has ended: another one, or its next start, goes on.
process.once('disconnect', stop)
process.once('message', async (task: ImportTask) => {
  await runTask(task)
  process.exit()
})

async function runTask({ config, leased, settings }: ImportTask): Promise<void> {
  const log = createLogger(config).child({ import: leased.id })
  const instance = await openInstance(config, log, { mustExist: true })
  const queues = new WorkQueues()
  const hashing = openPasswordHasher(queues)
  // A tenant's request must not reach what only this machine can reach.
  const agents = guardedAgents((address) => !isPrivateAddress(address))
  const serviceHost = await openServiceHost(config, instance)
  const { domains } = openDomains(config, instance, log, { queues })
  const context = { config, instance, log, serviceHost, hasher: hashing.hasher }
  const importer = openImporter(context, domains, {
    countsClicks: false,
    onProgress: () => {},
    onRetry: (err) => log.warn({ err }, 'import retried'),
  })
  try {
    const { signal } = stopping
    if (leased.status === 'cancelled') {
      await importer.finishCancelled(leased, signal)
    } else {
      const { status, counts, fault } = await runLeased(importer, {
        leased,
        settings,
        agents,
        signal,
      })
      log.info({ status, counts, fault }, 'import ended')
    }
  } catch (error) {
    if (error instanceof ImportTakenOver) return
    if (stopping.signal.aborted) {
      const { store, clock } = instance
      await requeueStopped(store, leased, clock.nowMicros()).catch(() => {})
      return
    }
    log.error({ err: error }, 'import failed')
    await importer.release(leased).catch(() => {})
  } finally {
    closeAgents(agents)
    await hashing.close()
    await instance.close()
  }
}

function runLeased(
  importer: Importer,
  on: Pick<ImportTask, 'leased' | 'settings'> & {
    readonly agents: SourceAccess['agents']
    readonly signal: AbortSignal
  },
): Promise<Import> {
  const { leased, settings, agents, signal } = on
  if (leased.source === REVIVAL) return importer.revive(leased, { signal })
  if (settings === undefined) throw new Error('the settings of the import are missing')
  const open = () => openSource(settings, { agents })
  return importer.run(leased, open, { originOf: (name) => originOf(name, settings), signal })
}

/** Where memory runs out, the kernel ends this process first, whatever a tenant's file has made it do. */
function offerToKernel(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {
    // Only Linux has it.
  }
}
