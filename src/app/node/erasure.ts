import type { Logger } from 'pino'
import type { ClickIntake } from '../../clicks/ingest/click-intake.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { FullStore } from '../database/stores.ts'
import { type Job, startPollingJob } from './polling-job.ts'

const POLL_INTERVAL_MS = 60_000
const MINUTE_MICROS = 60 * 1_000_000
const DAY_MICROS = 24 * 60 * MINUTE_MICROS
/** Clicks from before a link was deleted may still be counted for it until then. */
const LAST_CLICK_MICROS = 10 * MINUTE_MICROS
/** A request that was under way when a person was deleted may still write an event until then. */
const LAST_REQUEST_MICROS = MINUTE_MICROS
/** Until then, operators can find out who deleted a workspace. Less than the 30 days that docs/privacy.md promises. */
const WORKSPACE_MICROS = 7 * DAY_MICROS
const LINKS_PER_STEP = 100

export type Erasure = {
  readonly store: FullStore
  readonly clock: Clock
  readonly intake: Pick<ClickIntake, 'erase'>
}

/**
 * Erases what is left of deleted links, workspaces and people: counts, charts, raw clicks, settings and events. Each
 * step is a small transaction and may run again, so it goes on where it was killed, and several nodes may do it at once.
 */
export function startErasure(deps: Erasure, log: Logger): Job {
  let isCancelled = false
  return startPollingJob({
    work: () => eraseDeleted(deps, () => isCancelled),
    intervalMs: POLL_INTERVAL_MS,
    message: 'erasing deleted data failed',
    log,
    cancel() {
      isCancelled = true
    },
  })
}

export async function eraseDeleted(deps: Erasure, isCancelled: () => boolean): Promise<void> {
  await eraseLinks(deps, isCancelled)
  await eraseWorkspaces(deps, isCancelled)
  await erasePeople(deps, isCancelled)
}

async function eraseLinks(
  { store, clock, intake }: Erasure,
  isCancelled: () => boolean,
): Promise<void> {
  while (!isCancelled()) {
    const before = clock.nowMicros() - LAST_CLICK_MICROS
    const linkSeqs = await store.read.erasures.listLinks(before, LINKS_PER_STEP)
    if (linkSeqs.length === 0) return
    await intake.erase({ kind: 'links', linkSeqs })
    await store.write((stores) => stores.erasures.forgetLinks(linkSeqs))
  }
}

async function eraseWorkspaces(
  { store, clock, intake }: Erasure,
  isCancelled: () => boolean,
): Promise<void> {
  const before = clock.nowMicros() - WORKSPACE_MICROS
  for (const { id } of await store.read.erasures.listWorkspaces(before)) {
    if (isCancelled()) return
    if (await store.read.erasures.hasLinks(id)) continue
    await intake.erase({ kind: 'workspace', workspaceId: id })
    while (!isCancelled() && (await store.write((stores) => stores.erasures.eraseSettings(id))));
    while (!isCancelled() && (await store.write((stores) => stores.erasures.eraseEvents(id))));
    if (isCancelled()) return
    await store.write((stores) => stores.erasures.eraseWorkspace(id))
  }
}

async function erasePeople({ store, clock }: Erasure, isCancelled: () => boolean): Promise<void> {
  for (const { id, deleted_at } of await store.read.erasures.listPeople()) {
    const writesUntil = deleted_at + LAST_REQUEST_MICROS
    for (let continues = true; continues && !isCancelled(); ) {
      const outcome = await store.write(async (stores) => {
        // Read again for each step: another node may have gone on with it.
        const person = (await stores.erasures.listPeople()).find((each) => each.id === id)
        const times = { now: clock.nowMicros(), writesUntil }
        return person === undefined ? 'erased' : stores.erasures.erasePerson(person, times)
      })
      continues = outcome === 'continues'
    }
  }
}
