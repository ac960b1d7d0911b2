import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Actor } from '../identity/index.ts'
import { type Random, uuidV7 } from '../platform/crypto/random.ts'
import type { Clock } from '../platform/time/clock.ts'
import type { Store } from '../storage/store.ts'
import { removeImport } from './end-import.ts'
import { type Import, ImportTakenOver, LEASE_MICROS, type NewImport, newImport } from './import.ts'
import type { ImportStores } from './store/import-store.ts'

const LOOK_INTERVAL_MS = 1_000

type Dependencies = {
  readonly store: Store<ImportStores>
  readonly clock: Clock
  readonly random: Random
}

/** The imports of the command line: each is run by the process that began it, or by the same command again. */
export class CommandImports {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * Returns a leased import: the one that the same command has not completed, or a new one. Returns one that has
   * succeeded if its process was killed before it showed that.
   *
   * @param identity what makes a command the same: its source and options, without secrets
   * @param onWait called when another process may still be running it
   */
  async begin(
    actor: Actor,
    asked: NewImport,
    identity: unknown,
    onWait: () => void,
  ): Promise<Import> {
    const { store, clock, random } = this.#deps
    const fingerprint = createHash('sha256').update(JSON.stringify(identity)).digest('hex')
    const found = await store.read.imports.findUnshown(actor.workspaceId, fingerprint)
    if (found?.status === 'succeeded') return found
    if (found !== undefined) return this.#resume(found, onWait)
    const now = clock.nowMicros()
    const added: Import = {
      ...newImport(actor, asked, { id: uuidV7(clock, random), now }),
      runner: 'command',
      status: 'reading',
      fingerprint,
      fence: 1,
      lease_until: now + LEASE_MICROS,
    }
    await store.write((stores) => stores.imports.insert(added))
    return added
  }

  /**
   * Notes that the command has shown how the import ended: if it has succeeded, the same command begins a new one. A
   * dry run that was shown is removed with its report.
   */
  async conclude({ id, fence, status, is_dry_run: isDryRun }: Import): Promise<void> {
    const { store } = this.#deps
    if (status !== 'succeeded') return
    if (isDryRun === 1) await removeImport(store, id)
    else await store.write(({ imports }) => imports.update(id, fence, { fingerprint: null }))
  }

  /** A process that was killed keeps its lease for some seconds. */
  async #resume(found: Import, onWait: () => void): Promise<Import> {
    const { store, clock } = this.#deps
    let current = found
    for (let isFirst = true; ; isFirst = false) {
      const now = clock.nowMicros()
      if (current.lease_until === null || current.lease_until <= now) break
      if (isFirst) onWait()
      await sleep(LOOK_INTERVAL_MS)
      const latest = await store.read.imports.find(current.workspace_id, current.id)
      if (latest === undefined) throw new ImportTakenOver()
      current = latest
    }
    const leased = {
      status: 'reading' as const,
      fault: null,
      ended_at: null,
      fence: current.fence + 1,
      lease_until: clock.nowMicros() + LEASE_MICROS,
    }
    const isLeased = await store.write((stores) =>
      stores.imports.update(current.id, current.fence, leased),
    )
    if (!isLeased) throw new ImportTakenOver()
    return { ...current, ...leased }
  }
}
