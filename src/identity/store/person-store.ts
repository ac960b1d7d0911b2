import type { Kysely, Selectable } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import type { LockName, RowLock } from '../../storage/store.ts'
import type { Person } from '../people/person.ts'

/** A person as operators of the instance see them. */
export type Account = {
  readonly person: Person
  /** The last use of a session, in microseconds since the epoch; null where there is none. */
  readonly lastSeenAt: number | null
}

export type PersonStore = {
  /** Whether no person has been set up; disabled people count. */
  isEmpty(): Promise<boolean>
  findById(id: string, rowLock?: RowLock): Promise<Person | undefined>
  /** @param folded as `foldEmail` */
  findByEmail(folded: string): Promise<Person | undefined>
  /** Finds a person and the sealed password, null where none is set, at the cost of one query. */
  findForSignIn(
    folded: string,
  ): Promise<{ readonly person: Person; readonly sealedPassword: string | null } | undefined>
  /** Returns everyone, by name. */
  list(): Promise<readonly Account[]>
  /** How many operators there are who are not disabled. Lock the operators before. */
  countOperators(): Promise<number>
  /** Returns false when the e-mail address is taken. */
  insert(person: Person): Promise<boolean>
  update(id: string, changes: PersonChanges): Promise<void>
  /** Returns false when another person has the address. */
  changeEmail(id: string, address: Pick<Person, 'email' | 'email_folded'>): Promise<boolean>
  /** Deletes a person with everything that refers to the person. */
  delete(id: string): Promise<void>
  /** Makes other transactions that lock the person wait until this one ends. */
  lock(id: string): Promise<void>
  /** Makes other transactions that may change who is an operator wait until this one ends. */
  lockOperators(): Promise<void>
  /** Makes other transactions that may add the first person wait until this one ends. */
  lockFirst(): Promise<void>
}

export type PersonChanges = Partial<
  Pick<Person, 'name' | 'is_operator' | 'disabled_at' | 'email_proved_at'>
>

const COLUMNS = [
  'id',
  'email',
  'email_folded',
  'name',
  'is_operator',
  'created_at',
  'disabled_at',
  'email_proved_at',
] as const

/** @param lockName undefined when the engine runs one writing transaction at a time */
export function personStore(db: Kysely<Schema>, lockName: LockName | undefined): PersonStore {
  async function lock(name: string): Promise<void> {
    if (lockName !== undefined) await db.executeQuery(lockName(db, name))
  }
  return {
    async isEmpty() {
      const row = await db.selectFrom('people').select('id').limit(1).executeTakeFirst()
      return row === undefined
    },
    async findById(id, rowLock) {
      const row = await db
        .selectFrom('people')
        .select(COLUMNS)
        .where('id', '=', id)
        .$if(lockName !== undefined && rowLock === 'share', (query) => query.forShare())
        .$if(lockName !== undefined && rowLock === 'update', (query) => query.forUpdate())
        .executeTakeFirst()
      return row && personOf(row)
    },
    async findByEmail(folded) {
      const query = db.selectFrom('people').select(COLUMNS).where('email_folded', '=', folded)
      const row = await query.executeTakeFirst()
      return row && personOf(row)
    },
    async findForSignIn(folded) {
      const row = await db
        .selectFrom('people')
        .leftJoin('passwords', 'passwords.person_id', 'people.id')
        .select([...COLUMNS, 'sealed_hash'])
        .where('email_folded', '=', folded)
        .executeTakeFirst()
      if (row === undefined) return undefined
      const { sealed_hash: sealedPassword, ...person } = row
      return { person: personOf(person), sealedPassword }
    },
    async list() {
      const rows = await db
        .selectFrom('people')
        .select(COLUMNS)
        .select((eb) =>
          eb
            .selectFrom('sessions')
            .whereRef('sessions.person_id', '=', 'people.id')
            .select(({ fn }) => fn.max<number | null>('last_seen_at').as('last'))
            .as('last_seen_at'),
        )
        .orderBy('name')
        .orderBy('id')
        .execute()
      return rows.map(({ last_seen_at, ...person }) => ({
        person: personOf(person),
        lastSeenAt: last_seen_at,
      }))
    },
    async countOperators() {
      const row = await db
        .selectFrom('people')
        .select(({ fn }) => fn.countAll<number>().as('operators'))
        .where('is_operator', '=', 1)
        .where('disabled_at', 'is', null)
        .executeTakeFirstOrThrow()
      return row.operators
    },
    ...changesOf(db),
    lock: (id) => lock(`person ${id}`),
    lockOperators: () => lock('operators'),
    lockFirst: () => lock('first person'),
  }
}

function changesOf(
  db: Kysely<Schema>,
): Pick<PersonStore, 'insert' | 'update' | 'changeEmail' | 'delete'> {
  return {
    async insert(person) {
      const inserted = await db
        .insertInto('people')
        .values({ ...person, is_operator: person.is_operator ? 1 : 0 })
        .onConflict((conflict) => conflict.column('email_folded').doNothing())
        .returning('id')
        .executeTakeFirst()
      return inserted !== undefined
    },
    async update(id, { is_operator, ...changes }) {
      const operator = is_operator === undefined ? {} : { is_operator: is_operator ? 1 : 0 }
      const set = { ...changes, ...operator }
      if (Object.keys(set).length === 0) return
      await db.updateTable('people').set(set).where('id', '=', id).execute()
    },
    async changeEmail(id, address) {
      const other = await db
        .selectFrom('people')
        .select('id')
        .where('email_folded', '=', address.email_folded)
        .where('id', '<>', id)
        .executeTakeFirst()
      if (other !== undefined) return false
      await db.updateTable('people').set(address).where('id', '=', id).execute()
      return true
    },
    async delete(id) {
      await db.deleteFrom('people').where('id', '=', id).execute()
    },
  }
}

export function personOf(row: Selectable<Schema['people']>): Person {
  return { ...row, is_operator: row.is_operator === 1 }
}
