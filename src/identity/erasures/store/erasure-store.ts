import type { Kysely } from 'kysely'
import type { Schema } from '../../../platform/database/schema.ts'
import { workspaceNumber } from '../../../platform/database/workspace-number.ts'
import type { WriteBuffer } from '../../../platform/database/write-buffer.ts'

/** A person who was deleted, and up to which number the events were looked through. */
type DeletedPerson = Schema['deleted_people']

/** A workspace that was deleted, and when. */
type DeletedWorkspace = { readonly id: string; readonly deletedAt: number }

/** What is left of deleted links, workspaces and people, and has to be erased. */
export type ErasureStore = {
  /** Notes that a link was deleted, so that its counts are erased. */
  noteLink(link: { readonly seq: number; readonly workspace_id: string }, at: number): Promise<void>
  /** The numbers of links that were deleted before, lowest first. */
  listLinks(beforeMicros: number, limit: number): Promise<readonly number[]>
  /** Notes that the counts of links are erased. */
  forgetLinks(seqs: readonly number[]): Promise<void>
  hasLinks(workspaceId: string): Promise<boolean>
  /** Workspaces that were deleted before, and of which no link and no domain is left. */
  listWorkspaces(beforeMicros: number): Promise<readonly DeletedWorkspace[]>
  /** Deletes what a workspace has besides links, domains and clicks, except events. True when there may be more. */
  eraseSettings(workspaceId: string): Promise<boolean>
  /** Deletes some events of a workspace. True when there may be more. */
  eraseEvents(workspaceId: string): Promise<boolean>
  /** Deletes the row of a workspace of which nothing else is left. */
  eraseWorkspace(workspaceId: string): Promise<void>
  /** Notes that a person was deleted, and takes the person out of imports. */
  notePerson(person: Omit<DeletedPerson, 'events_until'>): Promise<void>
  listPeople(): Promise<readonly DeletedPerson[]>
  /**
   * Looks through the next events and takes the person out: events about the person are deleted, and those that the
   * person caused lose their author. True when there may be more.
   */
  erasePersonFromEvents(person: DeletedPerson): Promise<boolean>
  /** Notes that nothing is left of a person. */
  forgetPerson(id: string): Promise<void>
}

/** Tables of which a deleted workspace has a bounded number of rows. */
const SETTINGS = [
  'utm_templates',
  'tokens',
  'workspace_quotas',
  'one_time_links',
  'memberships',
  'link_buckets',
  'link_tags',
  'certificate_orders',
  'domain_checks',
] as const

const ROWS_PER_STEP = 1_000
const ERASED_NAME = 'deleted person'

export function erasureStore(db: Kysely<Schema>, writes: WriteBuffer): ErasureStore {
  return { ...linkErasures(db, writes), ...workspaceErasures(db), ...personErasures(db) }
}

function linkErasures(
  db: Kysely<Schema>,
  writes: WriteBuffer,
): Pick<ErasureStore, 'noteLink' | 'listLinks' | 'forgetLinks' | 'hasLinks'> {
  return {
    noteLink: ({ seq, workspace_id }, deleted_at) =>
      writes.add(
        db
          .insertInto('deleted_links')
          .values({ link_seq: seq, workspace_id, deleted_at })
          .onConflict((conflict) => conflict.doNothing())
          .compile(),
      ),
    async listLinks(beforeMicros, limit) {
      const rows = await db
        .selectFrom('deleted_links')
        .select('link_seq')
        .where('deleted_at', '<', beforeMicros)
        .orderBy('deleted_at')
        .orderBy('link_seq')
        .limit(limit)
        .execute()
      return rows.map(({ link_seq }) => link_seq)
    },
    async forgetLinks(seqs) {
      await db.deleteFrom('deleted_links').where('link_seq', 'in', seqs).execute()
    },
    async hasLinks(workspaceId) {
      const row = await db
        .selectFrom('deleted_links')
        .select('link_seq')
        .where('workspace_id', '=', workspaceId)
        .limit(1)
        .executeTakeFirst()
      return row !== undefined
    },
  }
}

function workspaceErasures(
  db: Kysely<Schema>,
): Pick<ErasureStore, 'listWorkspaces' | 'eraseSettings' | 'eraseEvents' | 'eraseWorkspace'> {
  return {
    listWorkspaces: (beforeMicros) =>
      db
        .selectFrom('workspaces')
        .select(['id', 'deleted_at as deletedAt'])
        .$narrowType<{ deletedAt: number }>()
        .where('deleted_at', '<', beforeMicros)
        .where('removed_at', 'is not', null)
        .orderBy('deleted_at')
        .execute(),
    async eraseSettings(workspaceId) {
      for (const table of SETTINGS) {
        // Their columns of this name are the same to a query.
        const name = table as 'tokens'
        await db.deleteFrom(name).where('workspace_id', '=', workspaceId).execute()
      }
      const some = db
        .selectFrom('idempotency')
        .select('idempotency_key')
        .where('workspace_id', '=', workspaceId)
        .limit(ROWS_PER_STEP)
      const { numDeletedRows } = await db
        .deleteFrom('idempotency')
        .where('workspace_id', '=', workspaceId)
        .where('idempotency_key', 'in', some)
        .executeTakeFirst()
      return numDeletedRows === BigInt(ROWS_PER_STEP)
    },
    async eraseEvents(workspaceId) {
      const some = db
        .selectFrom('events')
        .crossJoin('event_authors')
        .whereRef('event_authors.number', '=', 'events.author')
        .select('events.id')
        .where('events.workspace', '=', workspaceNumber(workspaceId))
        .where('event_authors.workspace_id', '=', workspaceId)
        .limit(ROWS_PER_STEP)
      const { numDeletedRows } = await db
        .deleteFrom('events')
        .where('id', 'in', some)
        .executeTakeFirst()
      return numDeletedRows === BigInt(ROWS_PER_STEP)
    },
    async eraseWorkspace(workspaceId) {
      await db.deleteFrom('event_authors').where('workspace_id', '=', workspaceId).execute()
      await db.deleteFrom('keyspaces').where('workspace_id', '=', workspaceId).execute()
      await db.deleteFrom('workspaces').where('id', '=', workspaceId).execute()
    },
  }
}

function personErasures(
  db: Kysely<Schema>,
): Pick<ErasureStore, 'notePerson' | 'listPeople' | 'erasePersonFromEvents' | 'forgetPerson'> {
  return {
    async notePerson(person) {
      await db
        .updateTable('imports')
        .set({ actor_id: null, actor_name: ERASED_NAME })
        .where('actor_id', '=', person.id)
        .execute()
      await db
        .insertInto('deleted_people')
        .values({ ...person, events_until: 0 })
        .execute()
    },
    listPeople: () => db.selectFrom('deleted_people').selectAll().orderBy('deleted_at').execute(),
    async erasePersonFromEvents(person) {
      const rows = await db
        .selectFrom('events')
        .select(['id', 'subject_id', 'before_fields', 'after_fields'])
        .where('id', '>', person.events_until)
        .orderBy('id')
        .limit(ROWS_PER_STEP)
        .execute()
      const about = rows.filter((row) => isAbout(row, person)).map(({ id }) => id)
      if (about.length > 0) await db.deleteFrom('events').where('id', 'in', about).execute()
      const hasMore = rows.length === ROWS_PER_STEP
      // Only in the last step, because it reads the whole table.
      if (!hasMore) {
        await db
          .updateTable('event_authors')
          .set({ actor_id: null, name: ERASED_NAME })
          .where('actor_id', '=', person.id)
          .execute()
      }
      const last = rows.at(-1)
      if (last === undefined) return false
      await db
        .updateTable('deleted_people')
        .set({ events_until: last.id })
        .where('id', '=', person.id)
        .execute()
      return hasMore
    },
    async forgetPerson(id) {
      await db.deleteFrom('deleted_people').where('id', '=', id).execute()
    },
  }
}

type EventFields = Pick<Schema['events'], 'subject_id' | 'before_fields' | 'after_fields'>

/** Whether an event names the person, by identifier or e-mail address. */
function isAbout(
  { subject_id, before_fields, after_fields }: EventFields,
  { id, email_folded }: DeletedPerson,
): boolean {
  if (subject_id === id) return true
  const fields = `${before_fields ?? ''} ${after_fields ?? ''}`.normalize('NFKC').toLowerCase()
  const written = JSON.stringify(email_folded).slice(1, -1)
  return fields.includes(`"${written}"`) || fields.includes(id)
}
