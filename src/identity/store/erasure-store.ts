import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import { workspaceNumber } from '../../storage/event-log.ts'
import { TRANSACTION_EPOCH } from '../../storage/postgres/change-log.ts'
import type { Schema } from '../../storage/schema.ts'
import type { WriteBuffer } from '../../storage/write-buffer.ts'

/** A person who was deleted, and how far the events were looked through. */
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
  notePerson(person: Omit<DeletedPerson, 'events_until' | 'events_pass'>): Promise<void>
  listPeople(): Promise<readonly DeletedPerson[]>
  /** Returns the addresses that a person had before, as their events have them. */
  formerAddresses(personId: string): Promise<readonly string[]>
  /**
   * Looks through the next events and takes the person out: events about the person are deleted, and those that the
   * person caused lose their author. The person is forgotten once nothing is left.
   *
   * @param times.writesUntil the moment after which no transaction begins that may name the person
   * @returns `waits` while a transaction that may name the person can be open
   */
  erasePerson(
    person: DeletedPerson,
    times: { readonly now: number; readonly writesUntil: number },
  ): Promise<'continues' | 'waits' | 'erased'>
}

/**
 * The events are looked through in passes, because a transaction may commit after a pass with an event whose number
 * the pass was beyond. The first reads all events, each further one those that were not visible when the one before
 * began.
 */
type Pass = {
  readonly mark: string
  readonly beganAt: number
  /** When the pass before it began; null in the first. */
  readonly previous: { readonly mark: string; readonly beganAt: number } | null
  readonly isComplete: boolean
}

/** Tables of which a deleted workspace has a bounded number of rows. */
const SETTINGS = [
  'utm_templates',
  'rule_sets',
  'tokens',
  'assistants',
  'assistant_settings',
  'compat_settings',
  'workspace_quotas',
  'label_settings',
  'conversion_settings',
  'conversion_counts',
  'one_time_links',
  'memberships',
  'link_buckets',
  'link_tags',
  'certificate_orders',
  'domain_checks',
] as const

const ROWS_PER_STEP = 1_000
/** Each may have 1 MiB. */
const IMAGES_PER_STEP = 50
const ERASED_NAME = 'deleted person'

export function erasureStore(
  db: Kysely<Schema>,
  writes: WriteBuffer,
  openEventMarks: OpenEventMarks,
): ErasureStore {
  const people = personErasures(db, openEventMarks(db))
  return { ...linkErasures(db, writes), ...workspaceErasures(db), ...people }
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
      const hasMoreImages = await eraseImages(db, workspaceId)
      if (await eraseWebhooks(db, workspaceId)) return true
      const hasMoreConversions = await eraseConversions(db, workspaceId)
      return hasMoreImages || hasMoreConversions || numDeletedRows === BigInt(ROWS_PER_STEP)
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

/** Deletes some conversions of a workspace. True when there may be more. */
async function eraseConversions(db: Kysely<Schema>, workspaceId: string): Promise<boolean> {
  const some = db
    .selectFrom('conversions')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .limit(ROWS_PER_STEP)
  const { numDeletedRows } = await db
    .deleteFrom('conversions')
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', some)
    .executeTakeFirst()
  return numDeletedRows === BigInt(ROWS_PER_STEP)
}

/** Tables of which an endpoint has a few rows. */
const OF_WEBHOOKS = ['webhook_queues', 'webhook_tallies', 'webhook_replays'] as const

/** Deletes some of what webhooks of a workspace have sent, then these. True when there may be more. */
async function eraseWebhooks(db: Kysely<Schema>, workspaceId: string): Promise<boolean> {
  const own = db.selectFrom('webhooks').select('id').where('workspace_id', '=', workspaceId)
  for (const table of ['webhook_attempts', 'webhook_messages'] as const) {
    // Their columns of these names are the same to a query.
    const name = table as 'webhook_messages'
    const some = db
      .selectFrom(name)
      .select('number')
      .where('webhook_id', 'in', own)
      .limit(ROWS_PER_STEP)
    const { numDeletedRows } = await db
      .deleteFrom(name)
      .where('number', 'in', some)
      .executeTakeFirst()
    if (numDeletedRows === BigInt(ROWS_PER_STEP)) return true
  }
  for (const table of OF_WEBHOOKS) {
    const name = table as 'webhook_queues'
    await db.deleteFrom(name).where('webhook_id', 'in', own).execute()
  }
  await db.deleteFrom('webhooks').where('workspace_id', '=', workspaceId).execute()
  return false
}

/** Deletes some images of a workspace. True when there may be more. */
async function eraseImages(db: Kysely<Schema>, workspaceId: string): Promise<boolean> {
  const some = await db
    .selectFrom('images')
    .select('hash')
    .where('workspace_id', '=', workspaceId)
    .limit(IMAGES_PER_STEP)
    .execute()
  if (some.length === 0) return false
  const hashes = some.map(({ hash }) => hash)
  for (const table of ['image_data', 'images'] as const) {
    await db
      .deleteFrom(table)
      .where('workspace_id', '=', workspaceId)
      .where('hash', 'in', hashes)
      .execute()
  }
  return some.length === IMAGES_PER_STEP
}

function personErasures(
  db: Kysely<Schema>,
  marks: EventMarks,
): Pick<ErasureStore, 'notePerson' | 'listPeople' | 'formerAddresses' | 'erasePerson'> {
  return {
    async notePerson(person) {
      await takeOutOfImports(db, person.id)
      await db
        .insertInto('deleted_people')
        .values({ ...person, events_until: 0, events_pass: null })
        .execute()
    },
    listPeople: () => db.selectFrom('deleted_people').selectAll().orderBy('deleted_at').execute(),
    async formerAddresses(personId) {
      const rows = await db
        .selectFrom('events')
        .select('before_fields')
        .where('subject_id', '=', personId)
        .where('type', '=', 'person.updated')
        .execute()
      const fields = rows.map((row) => JSON.parse(row.before_fields ?? '{}') as EmailField)
      return fields.flatMap(({ email }) => email ?? [])
    },
    async erasePerson(person, { now, writesUntil }) {
      const { id } = person
      const pass: Pass | null = person.events_pass === null ? null : JSON.parse(person.events_pass)
      const begin = async (previous: Pass['previous']) => {
        const next = { mark: await marks.take(), beganAt: now, previous, isComplete: false }
        await saveProgress(db, id, { pass: next, until: 0 })
        return 'continues' as const
      }
      const state = pass === null ? 'lost' : await marks.stateOf(pass.mark)
      if (pass === null || state === 'lost') return begin(null)
      if (!pass.isComplete) {
        const until = await eraseNextEvents(db, marks, person, pass)
        if (until !== undefined) {
          await saveProgress(db, id, { pass, until })
          return 'continues'
        }
        await forgetAuthor(db, id)
        await takeOutOfImports(db, id)
        await saveProgress(db, id, { pass: { ...pass, isComplete: true }, until: 0 })
      }
      if ((pass.previous?.beganAt ?? 0) >= writesUntil) {
        await db.deleteFrom('deleted_people').where('id', '=', id).execute()
        return 'erased'
      }
      return state === 'open' || now < writesUntil ? 'waits' : begin(pass)
    },
  }
}

/** Returns the number up to which events were looked through; undefined when the pass is complete. */
async function eraseNextEvents(
  db: Kysely<Schema>,
  marks: EventMarks,
  person: DeletedPerson,
  { previous }: Pass,
): Promise<number | undefined> {
  const rows = await db
    .selectFrom('events')
    .select(['id', 'subject_id', 'before_fields', 'after_fields'])
    .where('id', '>', person.events_until)
    .$if(previous !== null, (query) => query.where(marks.isAfter(previous?.mark ?? '')))
    .orderBy('id')
    .limit(ROWS_PER_STEP)
    .execute()
  const about = rows.filter((row) => isAbout(row, person)).map(({ id }) => id)
  if (about.length > 0) await db.deleteFrom('events').where('id', 'in', about).execute()
  return rows.length === ROWS_PER_STEP ? rows.at(-1)?.id : undefined
}

async function saveProgress(
  db: Kysely<Schema>,
  id: string,
  { pass, until }: { pass: Pass; until: number },
): Promise<void> {
  const { mark, beganAt, isComplete } = pass
  const previous = pass.previous && { mark: pass.previous.mark, beganAt: pass.previous.beganAt }
  const events_pass = JSON.stringify({ mark, beganAt, previous, isComplete } satisfies Pass)
  await db
    .updateTable('deleted_people')
    .set({ events_until: until, events_pass })
    .where('id', '=', id)
    .execute()
}

/** Reads the whole table. */
async function forgetAuthor(db: Kysely<Schema>, id: string): Promise<void> {
  await db
    .updateTable('event_authors')
    .set({ actor_id: null, name: ERASED_NAME })
    .where('actor_id', '=', id)
    .execute()
}

async function takeOutOfImports(db: Kysely<Schema>, id: string): Promise<void> {
  await db
    .updateTable('imports')
    .set({ actor_id: null, actor_name: ERASED_NAME })
    .where('actor_id', '=', id)
    .execute()
}

type EmailField = { readonly email?: string }

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

/** Moments in the order in which events become visible, which is not that of their numbers on PostgreSQL. */
type EventMarks = {
  /** Marks this moment. */
  take(): Promise<string>
  /**
   * `open` while a transaction that was running at the mark may still commit events. `lost` when the mark has no
   * meaning any more, for example after a restore.
   */
  stateOf(mark: string): Promise<'open' | 'settled' | 'lost'>
  /** The condition for events that were not visible at the mark. */
  isAfter(mark: string): RawBuilder<SqlBool>
}

export type OpenEventMarks = (db: Kysely<Schema>) => EventMarks

/** SQLite commits one transaction at a time, in the order of the events' numbers. */
export function sqliteEventMarks(db: Kysely<Schema>): EventMarks {
  return {
    async take() {
      const row = await db
        .selectFrom('events')
        .select((eb) => eb.fn.max('id').as('id'))
        .executeTakeFirst()
      return String(row?.id ?? 0)
    },
    stateOf: async () => 'settled',
    isAfter: (mark) => sql<SqlBool>`id > ${Number(mark)}`,
  }
}

/** A mark is `<epoch> <snapshot>`. */
export function postgresEventMarks(db: Kysely<Schema>): EventMarks {
  return {
    async take() {
      const { rows } = await sql<{ mark: string }>`
        select concat_ws(' ', ${TRANSACTION_EPOCH}, pg_current_snapshot()) as mark`.execute(db)
      return rows[0]?.mark ?? ''
    },
    async stateOf(mark) {
      const { epoch, snapshot } = partsOf(mark)
      const { rows } = await sql<{ isSame: boolean; isSettled: boolean }>`
        select ${TRANSACTION_EPOCH} = ${epoch} as "isSame",
          pg_snapshot_xmin(pg_current_snapshot()) >= pg_snapshot_xmax(${snapshot}::pg_snapshot)
            as "isSettled"`.execute(db)
      if (!rows[0]?.isSame) return 'lost'
      return rows[0].isSettled ? 'settled' : 'open'
    },
    isAfter(mark) {
      const { snapshot } = partsOf(mark)
      return sql<SqlBool>`transaction_id >= pg_snapshot_xmin(${snapshot}::pg_snapshot)
        and not pg_visible_in_snapshot(transaction_id, ${snapshot}::pg_snapshot)`
    },
  }
}

function partsOf(mark: string): { epoch: string; snapshot: string } {
  const end = mark.lastIndexOf(' ')
  return { epoch: mark.slice(0, end), snapshot: mark.slice(end + 1) }
}
