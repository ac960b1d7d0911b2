import type { Role } from '@terse/contract/roles'
import type { Kysely } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import type { Actor } from '../actor.ts'

/** A link with a secret code that works once: for set-up, an invitation, a new password or another address. */
export type OneTimeLink = {
  readonly id: string
  readonly kind: 'setup' | 'invitation' | 'reset' | 'email'
  /** For `reset`, the person whose password it sets; for `email`, the person whose address it changes. */
  readonly person_id: string | null
  /** For `invitation`, the address and the role; for `email`, the new address. */
  readonly email: string | null
  readonly email_folded: string | null
  readonly role: Role | null
  /**
   * For `invitation`, the workspace to join. For `reset`, the workspace whose admin made the link;
   * null for operators.
   */
  readonly workspace_id: string | null
  /** The name of who made it. */
  readonly created_by: string | null
  readonly created_by_kind: Actor['kind'] | null
  /** The token or person; null for `system`. */
  readonly created_by_id: string | null
  /** Microseconds since the epoch, as are all times here. */
  readonly created_at: number
  readonly expires_at: number
  readonly used_at: number | null
}

/** A link that was found by one of its codes. */
export type FoundLink = OneTimeLink & {
  /** Whether by the code that went to its address by mail alone. */
  readonly is_mailed: boolean
}

type OneTimeLinkKind = OneTimeLink['kind']

export type OneTimeLinkStore = {
  /** @param hashes of the codes, as `hashCode` */
  insert(
    link: OneTimeLink,
    hashes: { readonly shown: string; readonly mailed: string },
  ): Promise<void>
  /** Finds a link that is neither used nor expired, by either of its codes. */
  findOpen(kind: OneTimeLinkKind, hash: string, nowMicros: number): Promise<FoundLink | undefined>
  /** Marks an open link as used and returns it; undefined where it is not open. */
  use(kind: OneTimeLinkKind, hash: string, nowMicros: number): Promise<OneTimeLink | undefined>
  /** Returns the open invitations of a workspace, oldest first. */
  listInvitations(workspaceId: string, nowMicros: number): Promise<readonly OneTimeLink[]>
  /** Deletes an open invitation and returns it. */
  deleteInvitation(workspaceId: string, id: string): Promise<OneTimeLink | undefined>
  /** Deletes the open invitations of an address, so that the newest alone is valid. */
  deleteInvitationsOf(workspaceId: string, emailFolded: string): Promise<void>
  /** Returns the open links that a person or token has made, and those that set the person's password. */
  listOpenOf(makerOrPersonId: string, nowMicros: number): Promise<readonly OneTimeLink[]>
  deleteAll(ids: readonly string[]): Promise<void>
  /** Deletes all links that were made in a workspace. */
  deleteOfWorkspace(workspaceId: string): Promise<void>
  /** Deletes all links that a person or token has made. */
  deleteMadeBy(makerId: string): Promise<void>
  /** Deletes all links that were made for an address. */
  deleteOfAddress(emailFolded: string): Promise<void>
  /** Deletes a person's open links for a new password. */
  deleteResetsOf(personId: string): Promise<void>
  /** Deletes a person's open links for another address. */
  deleteEmailChangesOf(personId: string): Promise<void>
  /** Whether a link of this kind is open. */
  hasOpen(kind: OneTimeLinkKind, nowMicros: number): Promise<boolean>
  /** Deletes a bounded number of links that expired before; returns true when there may be more. */
  trim(beforeMicros: number): Promise<boolean>
}

const COLUMNS = [
  'id',
  'kind',
  'person_id',
  'email',
  'email_folded',
  'workspace_id',
  'role',
  'created_by',
  'created_by_kind',
  'created_by_id',
  'created_at',
  'expires_at',
  'used_at',
] as const

const TRIM_MAX = 1_000

export function oneTimeLinkStore(db: Kysely<Schema>): OneTimeLinkStore {
  return {
    ...invitationsIn(db),
    ...endedLinks(db),
    async insert(link, { shown, mailed }) {
      await db
        .insertInto('one_time_links')
        .values({ ...link, hash: shown, mailed_hash: mailed })
        .execute()
    },
    async findOpen(kind, hash, nowMicros) {
      const row = await db
        .selectFrom('one_time_links')
        .select([...COLUMNS, 'mailed_hash'])
        .where(({ or, eb }) => or([eb('hash', '=', hash), eb('mailed_hash', '=', hash)]))
        .where('kind', '=', kind)
        .where('used_at', 'is', null)
        .where('expires_at', '>', nowMicros)
        .executeTakeFirst()
      if (row === undefined) return undefined
      const { mailed_hash, ...link } = row
      return { ...link, is_mailed: mailed_hash === hash }
    },
    use: (kind, hash, nowMicros) =>
      db
        .updateTable('one_time_links')
        .set({ used_at: nowMicros })
        .where(({ or, eb }) => or([eb('hash', '=', hash), eb('mailed_hash', '=', hash)]))
        .where('kind', '=', kind)
        .where('used_at', 'is', null)
        .where('expires_at', '>', nowMicros)
        .returning(COLUMNS)
        .executeTakeFirst(),
    async hasOpen(kind, nowMicros) {
      const row = await db
        .selectFrom('one_time_links')
        .select('id')
        .where('kind', '=', kind)
        .where('used_at', 'is', null)
        .where('expires_at', '>', nowMicros)
        .limit(1)
        .executeTakeFirst()
      return row !== undefined
    },
    async trim(beforeMicros) {
      const expired = db
        .selectFrom('one_time_links')
        .select('id')
        .where('expires_at', '<', beforeMicros)
        .limit(TRIM_MAX)
      const result = await db
        .deleteFrom('one_time_links')
        .where('id', 'in', expired)
        .executeTakeFirst()
      return result.numDeletedRows === BigInt(TRIM_MAX)
    },
  }
}

function invitationsIn(
  db: Kysely<Schema>,
): Pick<OneTimeLinkStore, 'listInvitations' | 'deleteInvitation' | 'deleteInvitationsOf'> {
  return {
    listInvitations: (workspaceId, nowMicros) =>
      db
        .selectFrom('one_time_links')
        .select(COLUMNS)
        .where('workspace_id', '=', workspaceId)
        .where('kind', '=', 'invitation')
        .where('used_at', 'is', null)
        .where('expires_at', '>', nowMicros)
        .orderBy('created_at')
        .orderBy('id')
        .execute(),
    deleteInvitation: (workspaceId, id) =>
      openInvitations(db, workspaceId).where('id', '=', id).returning(COLUMNS).executeTakeFirst(),
    async deleteInvitationsOf(workspaceId, emailFolded) {
      await openInvitations(db, workspaceId).where('email_folded', '=', emailFolded).execute()
    },
  }
}

function endedLinks(
  db: Kysely<Schema>,
): Pick<
  OneTimeLinkStore,
  | 'listOpenOf'
  | 'deleteAll'
  | 'deleteOfWorkspace'
  | 'deleteMadeBy'
  | 'deleteOfAddress'
  | 'deleteResetsOf'
  | 'deleteEmailChangesOf'
> {
  async function deleteOpen(kind: OneTimeLinkKind, personId: string): Promise<void> {
    await db
      .deleteFrom('one_time_links')
      .where('person_id', '=', personId)
      .where('kind', '=', kind)
      .where('used_at', 'is', null)
      .execute()
  }

  return {
    listOpenOf: (makerOrPersonId, nowMicros) =>
      db
        .selectFrom('one_time_links')
        .select(COLUMNS)
        .where(({ or, eb }) =>
          or([eb('created_by_id', '=', makerOrPersonId), eb('person_id', '=', makerOrPersonId)]),
        )
        .where('used_at', 'is', null)
        .where('expires_at', '>', nowMicros)
        .execute(),
    async deleteAll(ids) {
      if (ids.length === 0) return
      await db.deleteFrom('one_time_links').where('id', 'in', ids).execute()
    },
    async deleteOfWorkspace(workspaceId) {
      await db.deleteFrom('one_time_links').where('workspace_id', '=', workspaceId).execute()
    },
    async deleteMadeBy(makerId) {
      await db.deleteFrom('one_time_links').where('created_by_id', '=', makerId).execute()
    },
    async deleteOfAddress(emailFolded) {
      await db.deleteFrom('one_time_links').where('email_folded', '=', emailFolded).execute()
    },
    deleteResetsOf: (personId) => deleteOpen('reset', personId),
    deleteEmailChangesOf: (personId) => deleteOpen('email', personId),
  }
}

function openInvitations(db: Kysely<Schema>, workspaceId: string) {
  return db
    .deleteFrom('one_time_links')
    .where('workspace_id', '=', workspaceId)
    .where('kind', '=', 'invitation')
    .where('used_at', 'is', null)
}
