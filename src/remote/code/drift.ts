import { eventPage } from '@terse/contract/events'
import { linkHistoryPage } from '@terse/contract/link-history'
import type { z } from 'zod'
import type { ApiClient } from '../api-client.ts'
import { RemoteFault } from '../login-file.ts'
import { type Change, type Drift, isEdited, type Plan } from './plan.ts'
import { type FoundLink, mapSome } from './workspace-state.ts'

/** How many histories are read: each is a request, and a token may send some hundreds a minute. */
const HISTORIES_MAX = 100
const PER_PAGE = 100
/** How many pages of deletions are read, the newest first. */
const DELETION_PAGES_MAX = 5

type Query = Readonly<Record<string, string | number>>
type Author = { readonly at: string; readonly by: string }
type Entry = {
  readonly at: string
  readonly actor: { readonly name: string }
  readonly before: Readonly<Record<string, unknown>> | null
  readonly after: Readonly<Record<string, unknown>> | null
}

const NO_RIGHT =
  'Who changed what is not shown: the token lacks the scope workspace:admin, which reads the event log.'

/**
 * Adds to a plan who changed what by other means, as the event log has it. A token without the right to read it gets a
 * note, and the same plan.
 */
export async function withDrift(client: ApiClient, plan: Plan): Promise<Plan> {
  const edited = plan.changes.filter(
    ({ action, kind, found }) =>
      action === 'update' &&
      found !== undefined &&
      // Its own fields are written apart from its settings, which have the mark.
      (isEdited(found) || (kind === 'domain' && found.managed_at !== null)),
  )
  const looked = new Set(edited.slice(0, HISTORIES_MAX))
  const hasNewLinks = plan.changes.some(isNewLink)
  const notes: string[] = []
  if (edited.length > looked.size) {
    notes.push(
      `Who changed what is shown of ${looked.size} things, of ${edited.length} edited ones.`,
    )
  }
  let isForbidden = false
  const unlessForbidden = async <T>(read: Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await read
    } catch (error) {
      if (!(error instanceof RemoteFault) || error.code !== 'missing_scope') throw error
      isForbidden = true
      return otherwise
    }
  }
  const none: ReadonlyMap<string, Author> = new Map()
  const deletions = hasNewLinks
    ? await unlessForbidden(readDeletions(client, plan.set), none)
    : none
  const changes = await mapSome(plan.changes, async (change): Promise<Change> => {
    if (looked.has(change)) {
      return { ...change, drift: await unlessForbidden(driftOf(client, change), []) }
    }
    const deleted = isNewLink(change) ? deletions.get(change.name) : undefined
    return deleted === undefined ? change : { ...change, drift: [{ field: '', ...deleted }] }
  })
  if (isForbidden) notes.push(NO_RIGHT)
  return { ...plan, changes, notes: [...plan.notes, ...notes] }
}

/**
 * Names links that were moved by hand as the file does, by where they were when the set was last applied: a move back
 * keeps their clicks, and a new link in their place would not.
 *
 * @param names those that the file has
 */
export async function withFormerNames(
  client: ApiClient,
  links: readonly FoundLink[],
  names: ReadonlySet<string>,
): Promise<FoundLink[]> {
  const taken = new Set(links.map(({ name }) => name))
  const moved = links.filter((link) => !names.has(link.name) && isEdited(link))
  const looked = new Set(moved.slice(0, HISTORIES_MAX))
  return mapSome(links, async (link) => {
    if (!looked.has(link)) return link
    const entries = await readHistory(client, link.id)
    const before: Readonly<Record<string, unknown>> = Object.assign(
      { domain: link.domain, key: link.key },
      // The newest first, so that the oldest wins.
      ...entries.filter(({ at }) => at > (link.managed_at ?? '')).map((entry) => entry.before),
    )
    const name = `${before.domain}/${before.key}`
    return names.has(name) && !taken.has(name) ? { ...link, name } : link
  })
}

async function readHistory(client: ApiClient, id: string): Promise<readonly Entry[]> {
  const query = { per_page: PER_PAGE }
  return (await client.get(`/links/${id}/history`, linkHistoryPage, query)).data
}

const isNewLink = ({ action, kind }: Change) => action === 'create' && kind === 'link'

async function driftOf(client: ApiClient, { kind, id, fields, found }: Change): Promise<Drift[]> {
  const since = found?.managed_at ?? ''
  const query = { per_page: PER_PAGE, subject: id ?? '', from: since }
  const entries: readonly Entry[] =
    kind === 'link'
      ? await readHistory(client, id ?? '')
      : (await client.get('/events', eventPage, query)).data
  const later = entries.filter(({ at }) => at > since)
  return fields.flatMap(({ field }) => {
    const last = later.find(({ after }) => after !== null && field in after)
    return last === undefined ? [] : [{ field, ...authorOf(last) }]
  })
}

/** Returns who deleted links of the set, by their addresses: the last deletion of each. */
async function readDeletions(client: ApiClient, set: string): Promise<ReadonlyMap<string, Author>> {
  const deletions = new Map<string, Author>()
  let cursor: string | null = ''
  for (let page = 0; page < DELETION_PAGES_MAX && cursor !== null; page += 1) {
    const query: Query = { type: 'link.deleted', per_page: PER_PAGE, cursor }
    const { data, meta }: z.output<typeof eventPage> = await client.get('/events', eventPage, query)
    for (const event of data) {
      const { subject_name: name, before } = event
      if (name === null || before?.managed_by !== set || deletions.has(name)) continue
      deletions.set(name, authorOf(event))
    }
    cursor = meta.next_cursor
  }
  return deletions
}

function authorOf({ at, actor }: Entry): Author {
  return { at, by: actor.name }
}
