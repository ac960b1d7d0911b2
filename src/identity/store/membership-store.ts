import type { Role } from '@terse/contract/roles'
import type { Kysely } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import type { LockName } from '../../storage/store.ts'
import type { Person } from '../people/person.ts'
import { personOf } from './person-store.ts'

/** A person's membership in a workspace. */
export type Membership = {
  readonly workspace_id: string
  readonly person_id: string
  readonly role: Role
  /** Microseconds since the epoch. */
  readonly created_at: number
  readonly source: MembershipSource
}

/**
 * Who granted a membership: a person, or the groups of single sign-on, which also withdraw it. Null for one from
 * before this was noted: at the person's next sign-on, the groups decide.
 */
type MembershipSource = 'hand' | 'groups' | null

/** A membership as the person sees it. */
export type NamedMembership = Membership & {
  readonly workspace_name: string
  readonly workspace_title: string
}

/** A membership as the workspace sees it. */
export type ShownMember = {
  readonly person: Person
  readonly role: Role
  readonly source: MembershipSource
  /** Microseconds since the epoch, as are all times here. */
  readonly joinedAt: number
  readonly hasSecondFactor: boolean
  /** The last use of a session; null where there is none. */
  readonly lastSeenAt: number | null
}

export type MembershipStore = {
  find(workspaceId: string, personId: string, rowLock?: 'share'): Promise<Membership | undefined>
  /** Whether a member has the address. One query, whether an account exists or not. */
  hasAddress(workspaceId: string, emailFolded: string): Promise<boolean>
  /**
   * Returns a person's memberships in workspaces that are not deleted, by the workspaces' names.
   */
  listOfPerson(personId: string, rowLock?: 'share'): Promise<readonly NamedMembership[]>
  /** All of a workspace, by the people's names. */
  listOfWorkspace(workspaceId: string): Promise<readonly ShownMember[]>
  /** Returns false when the person is a member already. */
  insert(membership: Membership): Promise<boolean>
  setRole(
    workspaceId: string,
    personId: string,
    role: Role,
    source: Membership['source'],
  ): Promise<void>
  /** Notes that the groups of single sign-on still grant the membership. */
  confirm(workspaceId: string, personId: string, atMicros: number): Promise<void>
  /** The workspaces in which groups granted the person a membership that they did not confirm since. */
  listUnconfirmed(personId: string, sinceMicros: number): Promise<readonly string[]>
  delete(workspaceId: string, personId: string): Promise<void>
  deleteAll(workspaceId: string): Promise<void>
  /** How many owners the workspace has who are not disabled. Lock the workspace's members before. */
  countOwners(workspaceId: string): Promise<number>
  /** Identifiers of the workspaces, deleted ones excepted, that have no owner. */
  workspacesWithoutOwner(): Promise<readonly string[]>
  /** Makes other transactions that lock the workspace's members wait until this one ends. */
  lock(workspaceId: string): Promise<void>
}

const COLUMNS = [
  'memberships.workspace_id',
  'memberships.person_id',
  'memberships.role',
  'memberships.created_at',
  'memberships.source',
] as const

/** @param lockName undefined when the engine runs one writing transaction at a time */
export function membershipStore(
  db: Kysely<Schema>,
  lockName: LockName | undefined,
): MembershipStore {
  return {
    find: (workspaceId, personId, rowLock) =>
      db
        .selectFrom('memberships')
        .select(COLUMNS)
        .where('workspace_id', '=', workspaceId)
        .where('person_id', '=', personId)
        .$if(lockName !== undefined && rowLock === 'share', (query) => query.forShare())
        .executeTakeFirst(),

    async hasAddress(workspaceId, emailFolded) {
      const row = await db
        .selectFrom('memberships')
        .innerJoin('people', 'people.id', 'memberships.person_id')
        .select('people.id')
        .where('workspace_id', '=', workspaceId)
        .where('email_folded', '=', emailFolded)
        .executeTakeFirst()
      return row !== undefined
    },

    listOfPerson: (personId, rowLock) =>
      db
        .selectFrom('memberships')
        .innerJoin('workspaces', 'workspaces.id', 'memberships.workspace_id')
        .select([...COLUMNS, 'workspaces.name as workspace_name'])
        .select(({ fn }) => fn.coalesce('title', 'workspaces.name').as('workspace_title'))
        .where('person_id', '=', personId)
        .where('workspaces.deleted_at', 'is', null)
        .orderBy('workspaces.name')
        .$if(lockName !== undefined && rowLock === 'share', (query) =>
          query.forShare('memberships'),
        )
        .execute(),

    async listOfWorkspace(workspaceId) {
      const rows = await membersOf(db, workspaceId).execute()
      return rows.map(
        ({ role, source, joined_at, last_seen_at, has_totp, passkeys, ...person }) => ({
          person: personOf(person),
          role,
          source,
          joinedAt: joined_at,
          hasSecondFactor: has_totp > 0 || passkeys > 0,
          lastSeenAt: last_seen_at,
        }),
      )
    },

    async insert(membership) {
      const inserted = await db
        .insertInto('memberships')
        .values(membership)
        .onConflict((conflict) => conflict.columns(['workspace_id', 'person_id']).doNothing())
        .returning('person_id')
        .executeTakeFirst()
      return inserted !== undefined
    },

    async setRole(workspaceId, personId, role, source) {
      await db
        .updateTable('memberships')
        .set({ role, source })
        .where('workspace_id', '=', workspaceId)
        .where('person_id', '=', personId)
        .execute()
    },

    ...confirmationsOf(db),

    async delete(workspaceId, personId) {
      await db
        .deleteFrom('memberships')
        .where('workspace_id', '=', workspaceId)
        .where('person_id', '=', personId)
        .execute()
    },

    async deleteAll(workspaceId) {
      await db.deleteFrom('memberships').where('workspace_id', '=', workspaceId).execute()
    },

    ...ownersOf(db),

    async lock(workspaceId) {
      if (lockName !== undefined) await db.executeQuery(lockName(db, `members ${workspaceId}`))
    },
  }
}

function confirmationsOf(db: Kysely<Schema>): Pick<MembershipStore, 'confirm' | 'listUnconfirmed'> {
  return {
    async confirm(workspaceId, personId, atMicros) {
      await db
        .updateTable('memberships')
        .set({ confirmed_at: atMicros })
        .where('workspace_id', '=', workspaceId)
        .where('person_id', '=', personId)
        .execute()
    },

    async listUnconfirmed(personId, sinceMicros) {
      const rows = await db
        .selectFrom('memberships')
        .select('workspace_id')
        .where('person_id', '=', personId)
        .where('source', '=', 'groups')
        .where(({ or, eb }) =>
          or([eb('confirmed_at', 'is', null), eb('confirmed_at', '<', sinceMicros)]),
        )
        .orderBy('workspace_id')
        .execute()
      return rows.map(({ workspace_id }) => workspace_id)
    },
  }
}

function ownersOf(
  db: Kysely<Schema>,
): Pick<MembershipStore, 'countOwners' | 'workspacesWithoutOwner'> {
  return {
    async countOwners(workspaceId) {
      const row = await db
        .selectFrom('memberships')
        .innerJoin('people', 'people.id', 'memberships.person_id')
        .select((eb) => eb.fn.countAll<number>().as('owners'))
        .where('workspace_id', '=', workspaceId)
        .where('role', '=', 'owner')
        .where('disabled_at', 'is', null)
        .executeTakeFirstOrThrow()
      return row.owners
    },

    async workspacesWithoutOwner() {
      const rows = await db
        .selectFrom('workspaces')
        .select('id')
        .where('deleted_at', 'is', null)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('memberships')
                .select('person_id')
                .whereRef('memberships.workspace_id', '=', 'workspaces.id')
                .where('role', '=', 'owner'),
            ),
          ),
        )
        .orderBy('created_at')
        .execute()
      return rows.map(({ id }) => id)
    },
  }
}

function membersOf(db: Kysely<Schema>, workspaceId: string) {
  return db
    .selectFrom('memberships')
    .innerJoin('people', 'people.id', 'memberships.person_id')
    .select(['people.id', 'email', 'email_folded', 'name', 'is_operator', 'disabled_at'])
    .select([
      'email_proved_at',
      'people.created_at',
      'role',
      'source',
      'memberships.created_at as joined_at',
    ])
    .select((eb) => [
      eb
        .selectFrom('sessions')
        .whereRef('sessions.person_id', '=', 'people.id')
        .select(({ fn }) => fn.max<number | null>('last_seen_at').as('last'))
        .as('last_seen_at'),
      eb
        .selectFrom('totp')
        .whereRef('totp.person_id', '=', 'people.id')
        .where('confirmed_at', 'is not', null)
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .$asScalar()
        .$notNull()
        .as('has_totp'),
      eb
        .selectFrom('passkeys')
        .whereRef('passkeys.person_id', '=', 'people.id')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .$asScalar()
        .$notNull()
        .as('passkeys'),
    ])
    .where('workspace_id', '=', workspaceId)
    .orderBy('people.name')
    .orderBy('people.id')
}
