import type { Logger } from 'pino'
import type { ClickIntake } from '../../clicks/ingest/click-intake.ts'
import { removeCounted } from '../../clicks/spool/spool-reader.ts'
import type { Domains } from '../../domains/domains.ts'
import { systemActor } from '../../identity/actor.ts'
import { AGE_MICROS_MAX, IDLE_MICROS_MAX } from '../../identity/sign-in/session.ts'
import { removeImports, trimImports } from '../../imports/end-import.ts'
import { removeLinks } from '../../links/links.ts'
import { noteMilestones } from '../../links/milestones.ts'
import { trimImages } from '../../links/previews/images.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { type Job, startPollingJob } from '../../platform/work/polling-job.ts'
import { tokenChange } from '../../storage/changes.ts'
import { IDEMPOTENCY_RETENTION_MICROS } from '../../storage/idempotency.ts'
import type { Config } from '../config/config.ts'
import type { FullStore } from '../database/stores.ts'

/** How long a process may be unable to read the change log before it must drop all its caches. */
const CHANGE_RETENTION_MS = 24 * 60 * 60 * 1_000
const TRIM_INTERVAL_MS = 10 * 60 * 1_000
/** Another node's clock may be late: to it, a challenge has not expired yet. */
const CLOCK_DIFFERENCE_MICROS = 60 * 60 * 1_000_000
const DAY_MICROS = 24 * 60 * 60 * 1_000_000
/** A program registers, and a person lets it work minutes later. */
const UNUSED_CLIENT_MICROS = DAY_MICROS

/**
 * Deletes expired rows every 10 minutes: changes, counted clicks of imports, idempotency keys, ACME budgets, sessions,
 * one-time links, assistants, used challenges, events, reports of imports, and images that no link uses.
 */
export function startTrimming(
  { eventRetentionDays }: Pick<Config, 'eventRetentionDays'>,
  { store, clock }: { readonly store: FullStore; readonly clock: Clock },
  onError: (error: unknown) => void,
): Job {
  const trimming = setInterval(() => {
    trim(store, clock, eventRetentionDays).catch(onError)
  }, TRIM_INTERVAL_MS)
  trimming.unref()
  return { stop: async () => clearInterval(trimming) }
}

/** Deletes in steps, so that other writers can go between. Several nodes may do it at once. */
async function trim(store: FullStore, clock: Clock, eventRetentionDays: number): Promise<void> {
  const now = clock.nowMicros()
  const changesEnd = now - CHANGE_RETENTION_MS * 1_000
  while (await store.write((stores) => stores.changes.trim(changesEnd)));
  await removeCounted(store)
  const idempotencyEnd = now - IDEMPOTENCY_RETENTION_MICROS
  while (await store.write((stores) => stores.idempotency.trim(idempotencyEnd)));
  await store.write((stores) => stores.acmeBudgets.trim(now))
  const ends = { createdBefore: now - AGE_MICROS_MAX, seenBefore: now - IDLE_MICROS_MAX }
  while (await store.write((stores) => stores.sessions.trim(ends)));
  while (await store.write((stores) => stores.oneTimeLinks.trim(now)));
  while (await store.write((stores) => stores.assistants.trim(now, now - UNUSED_CLIENT_MICROS)));
  while (await store.write((stores) => stores.usedChallenges.trim(now - CLOCK_DIFFERENCE_MICROS)));
  await trimImports(store, now)
  await trimImages(store, now)
  if (eventRetentionDays === 0) return
  const eventsEnd = now - eventRetentionDays * DAY_MICROS
  while (await store.write((stores) => stores.events.trim(eventsEnd)));
}

const MILESTONE_INTERVAL_MS = 5_000

/** Notes links that have expired, and limits that are reached. */
export function startMilestones(
  deps: { readonly store: FullStore; readonly clock: Clock },
  log: Logger,
): Job {
  let isCancelled = false
  return startPollingJob({
    work: () => noteMilestones(deps, () => isCancelled),
    intervalMs: MILESTONE_INTERVAL_MS,
    message: 'looking for expired links failed',
    log,
    cancel() {
      isCancelled = true
    },
  })
}

const REMOVAL_INTERVAL_MS = 15_000
const DOMAINS_PER_PAGE = 100
/**
 * A request that was under way when its workspace or person was deleted may still add links or events. No request
 * lasts as long as this, so a removal that begins later is complete.
 */
const LAST_REQUEST_MICROS = 60 * 1_000_000

const remover = systemActor('workspace removal')

type Removal = {
  readonly store: FullStore
  readonly clock: Clock
  readonly domains: Domains
}

/** Deletes domains and links of deleted workspaces. Several nodes may do it at once. */
export function startWorkspaceRemoval(deps: Removal, log: Logger): Job {
  let isCancelled = false
  return startPollingJob({
    work: () => removeWorkspaces(deps, () => isCancelled),
    intervalMs: REMOVAL_INTERVAL_MS,
    message: 'workspace removal failed',
    log,
    cancel() {
      isCancelled = true
    },
  })
}

export async function removeWorkspaces(deps: Removal, isCancelled: () => boolean): Promise<void> {
  const { store, clock } = deps
  for (const { id, deletedAt } of await store.read.workspaces.listUnremoved()) {
    const startedAt = clock.nowMicros()
    await removeImports(store, id, isCancelled)
    await removeDomains(deps, id, isCancelled)
    await removeLinks(deps, id, isCancelled)
    if (isCancelled()) return
    if (startedAt - deletedAt < LAST_REQUEST_MICROS) continue
    await store.write(async (stores) => {
      const now = clock.nowMicros()
      for (const token of await stores.tokens.revokeAll(id, now)) {
        await stores.changes.append(tokenChange(token), now)
      }
      await stores.workspaces.markRemoved(id, now)
    })
  }
}

/** Before the links: their hosts then stop answering at once, however many links there are. */
async function removeDomains(
  { domains }: Removal,
  workspaceId: string,
  isCancelled: () => boolean,
): Promise<void> {
  const actor = remover(workspaceId)
  while (!isCancelled()) {
    const { items } = await domains.list(actor, {}, 0, DOMAINS_PER_PAGE)
    if (items.length === 0) return
    for (const { id } of items) await domains.delete(actor, id)
  }
}

const ERASURE_INTERVAL_MS = 60_000
/** Clicks from before a link was deleted may still be counted for it until then. */
const LAST_CLICK_MICROS = 10 * 60 * 1_000_000
/** Until then, operators can find out who deleted a workspace. Less than the 30 days that docs/privacy.md promises. */
const WORKSPACE_MICROS = 7 * DAY_MICROS
const LINKS_PER_STEP = 100

type Erasure = {
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
    intervalMs: ERASURE_INTERVAL_MS,
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
    while (
      !isCancelled() &&
      (await store.write((stores) => stores.conversions.eraseLinks(linkSeqs)))
    );
    if (isCancelled()) return
    await store.write(async (stores) => {
      await stores.clickLeases.forgetLinks(linkSeqs)
      await stores.erasures.forgetLinks(linkSeqs)
    })
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
