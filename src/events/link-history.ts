import type { RevertibleField, RevertLinkBody } from '@terse/contract/link-history'
import type { Actor } from '../identity/index.ts'
import { type Link, type LinkInput, linkVersion } from '../links/index.ts'
import { Failure, type FieldFaults } from '../platform/failure.ts'
import type { Run } from '../platform/http/api/pagination.ts'
import { type ExpectedVersions, requireVersion } from '../platform/version.ts'
import type { EventFields, EventType } from '../storage/event-log.ts'
import type { Store } from '../storage/store.ts'
import type { Event, EventMark, EventStore } from './store/event-store.ts'

/** How many later changes a return to an earlier state takes back at most, and how many one read has of them. */
const LATER_CHANGES_MAX = 1_000
const READ_CHANGES = 100
/** How often a revert begins again because another writer has changed the link meanwhile. */
const ATTEMPTS_MAX = 3

/** A link also expires, and reaches its limit, by itself. */
const CHANGES: readonly EventType[] = ['link.created', 'link.updated']

type UpdateOptions = { readonly acceptsChanges?: boolean }

type HistoryDependencies = {
  readonly store: Store<{ readonly events: Pick<EventStore, 'run' | 'findOfSubject'> }>
  readonly links: {
    get(actor: Actor, id: string): Promise<Link>
    update(
      actor: Actor,
      id: string,
      input: LinkInput,
      expected?: ExpectedVersions,
      options?: UpdateOptions,
    ): Promise<Link>
  }
}

/** What changes have set back: the earlier values, and the fields whose values the log does not have. */
type Restored = { readonly values: Map<string, unknown>; readonly unlogged: Set<string> }

/** The changes of a link as the event log has them, as long as it keeps them, and their reverts. */
export class LinkHistory {
  readonly #deps: HistoryDependencies

  constructor(deps: HistoryDependencies) {
    this.#deps = deps
  }

  /**
   * Consecutive changes of a link, newest first.
   *
   * @throws {Failure} `not_found`
   */
  async list(
    actor: Actor,
    id: string,
    run: { readonly limit: number; readonly beyond: EventMark | undefined },
  ): Promise<Run<Event, EventMark>> {
    const link = await this.#deps.links.get(actor, id)
    return this.#read(link, run)
  }

  /**
   * Sets fields of a link back to what they were before a change, or after one, by an update of its own. Returns the
   * link unchanged where it has these values.
   *
   * @throws {Failure} `not_found`, `validation_failed`, `precondition_failed`, `examples_changed`
   */
  async revert(
    actor: Actor,
    id: string,
    body: RevertLinkBody,
    expected: ExpectedVersions,
    options: UpdateOptions,
  ): Promise<Link> {
    const { links } = this.#deps
    for (let attempt = 1; ; attempt += 1) {
      const link = await links.get(actor, id)
      requireVersion(expected, linkVersion(link))
      const restored = await this.#restored(link, body)
      const input = inputOf(link, chosen(restored, body.fields))
      if (input === undefined) return link
      try {
        // What is set back follows from the link as it was read here.
        return await links.update(actor, id, input, [linkVersion(link)], options)
      } catch (error) {
        const isOvertaken = error instanceof Failure && error.code === 'precondition_failed'
        if (!isOvertaken || expected !== undefined || attempt === ATTEMPTS_MAX) throw error
      }
    }
  }

  #read(
    { id, workspace_id: workspaceId }: Link,
    run: { readonly limit: number; readonly beyond: EventMark | undefined },
  ): Promise<Run<Event, EventMark>> {
    const types = CHANGES
    return this.#deps.store.read.events.run({ ...run, types, workspaceId, subjectId: id })
  }

  async #restored(link: Link, { sequence, to }: RevertLinkBody): Promise<Restored> {
    const { events } = this.#deps.store.read
    const wanted = sequence ?? to ?? 0
    const event = await events.findOfSubject(link.workspace_id, link.id, wanted)
    if (event === undefined || !CHANGES.includes(event.type)) throw Failure.notFound('Change')
    if (sequence === undefined) return this.#sinceThen(link, event)
    if (event.before === null) throw notRestorable('sequence', 'creation')
    return restoredBy([event])
  }

  /** Returns what takes back all changes after an event. */
  async #sinceThen(link: Link, event: Event): Promise<Restored> {
    const later: Event[] = []
    let beyond: EventMark | undefined
    do {
      const { items, rest } = await this.#read(link, { limit: READ_CHANGES, beyond })
      const end = items.findIndex(({ sequence }) => sequence === event.sequence)
      later.push(...(end === -1 ? items : items.slice(0, end)))
      if (end !== -1 || rest === undefined) return restoredBy(later)
      beyond = rest
    } while (later.length <= LATER_CHANGES_MAX)
    throw Failure.invalid({
      to: [{ code: 'not_restorable', reason: 'many', max: LATER_CHANGES_MAX }],
    })
  }
}

/** @param events newest first: the oldest of those that changed a field has its earliest value */
function restoredBy(events: readonly Event[]): Restored {
  const values = new Map<string, unknown>()
  const unlogged = new Set<string>()
  for (const { before, after } of events) {
    for (const [field, value] of Object.entries(before ?? {})) values.set(field, value)
    for (const field of Object.keys(after ?? {})) if (!isLogged(field, before)) unlogged.add(field)
  }
  return { values, unlogged }
}

/** Of a password and of examples the log has only that they were changed. */
function isLogged(field: string, before: EventFields | null): boolean {
  return before !== null && field in before
}

/** @throws {Failure} `validation_failed` for fields whose earlier values are in no log, unless they are left out */
function chosen(
  { values, unlogged }: Restored,
  fields: readonly RevertibleField[] | undefined,
): ReadonlyMap<string, unknown> {
  if (fields !== undefined) {
    const names = new Set<string>(fields)
    return new Map([...values].filter(([field]) => names.has(field)))
  }
  if (unlogged.size > 0) {
    const fault = { code: 'not_restorable', reason: 'unlogged' } as const
    const faults: FieldFaults = Object.fromEntries([...unlogged].map((field) => [field, [fault]]))
    throw Failure.invalid(faults)
  }
  return values
}

function notRestorable(field: string, reason: 'creation'): Failure {
  return Failure.invalid({ [field]: [{ code: 'not_restorable', reason }] })
}

/** Returns the fields that differ from those of the link; undefined where none does. */
function inputOf(link: Link, values: ReadonlyMap<string, unknown>): LinkInput | undefined {
  const current: Readonly<Record<string, unknown>> = { ...link }
  const differing = [...values].filter(
    ([field, value]) =>
      field in current && JSON.stringify(current[field]) !== JSON.stringify(value),
  )
  return differing.length === 0 ? undefined : Object.fromEntries(differing)
}
