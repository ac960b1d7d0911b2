import type { Kysely } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import type { LockName, RowLock } from '../../storage/store.ts'
import type { ImageName } from './image-name.ts'

/** An uploaded image. */
export type StoredImage = ImageName & { readonly data: Uint8Array }

export type ImageStore = {
  /**
   * Whether the workspace has the image.
   *
   * @param rowLock keeps it until the end of the transaction: with `share` from a deletion, with `update` from links that
   *   begin to use it
   */
  has(workspaceId: string, hash: string, rowLock?: RowLock): Promise<boolean>
  /** Returns the bytes of an image of any workspace: its name cannot be guessed. */
  find(hash: string): Promise<Uint8Array | undefined>
  /** Stores an image, or notes the use of the same one. */
  insert(workspaceId: string, image: StoredImage, atMicros: number): Promise<void>
  /** Notes that a link of the workspace has used the image until now, if the workspace has it. */
  noteUse(workspaceId: string, hash: string, atMicros: number): Promise<void>
  /**
   * Deletes up to `limit` images that were not used since, by no link either.
   *
   * @param atMicros now
   * @returns whether there may be more
   */
  trim(usedBeforeMicros: number, atMicros: number, limit: number): Promise<boolean>
}

/** @param lockName undefined when the engine runs one writing transaction at a time */
export function imageStore(db: Kysely<Schema>, lockName: LockName | undefined): ImageStore {
  const find = ({ workspaceId, hash }: Owned, rowLock?: RowLock) =>
    db
      .selectFrom('images')
      .select('used_at')
      .where('workspace_id', '=', workspaceId)
      .where('hash', '=', hash)
      .$if(lockName !== undefined && rowLock === 'share', (query) => query.forShare())
      .$if(lockName !== undefined && rowLock === 'update', (query) => query.forUpdate())
      .executeTakeFirst()

  return {
    has: async (workspaceId, hash, rowLock) =>
      (await find({ workspaceId, hash }, rowLock)) !== undefined,

    async find(hash) {
      const row = await db
        .selectFrom('image_data')
        .select('data')
        .where('hash', '=', hash)
        .limit(1)
        .executeTakeFirst()
      return row?.data
    },

    async insert(workspaceId, { hash, width, height, type, data }, atMicros) {
      const owned = { workspace_id: workspaceId, hash }
      const facts = { width, height, type, bytes: data.length }
      await db
        .insertInto('images')
        .values({ ...owned, ...facts, used_at: atMicros })
        .onConflict((conflict) =>
          conflict.columns(['workspace_id', 'hash']).doUpdateSet({ used_at: atMicros }),
        )
        .execute()
      await db
        .insertInto('image_data')
        .values({ ...owned, data })
        .onConflict((conflict) => conflict.columns(['hash', 'workspace_id']).doNothing())
        .execute()
    },

    noteUse: (workspaceId, hash, atMicros) => noteUse(db, { workspaceId, hash }, atMicros),

    async trim(usedBeforeMicros, atMicros, limit) {
      const due = await db
        .selectFrom('images')
        .select(['workspace_id as workspaceId', 'hash'])
        .where('used_at', '<', usedBeforeMicros)
        .orderBy('used_at')
        .limit(limit)
        .execute()
      for (const owned of due) {
        // Locked before the look at links: one that begins to use it holds it, or finds it gone.
        const image = await find(owned, 'update')
        // Deleted, or uploaded again, in between.
        if (image === undefined || image.used_at >= usedBeforeMicros) continue
        if (await isUsed(db, owned)) await noteUse(db, owned, atMicros)
        else await deleteImage(db, owned)
      }
      return due.length === limit
    },
  }
}

type Owned = { readonly workspaceId: string; readonly hash: string }

async function isUsed(db: Kysely<Schema>, { workspaceId, hash }: Owned): Promise<boolean> {
  const link = await db
    .selectFrom('links')
    .select('seq')
    .where('workspace_id', '=', workspaceId)
    .where('image_hash', '=', hash)
    .limit(1)
    .executeTakeFirst()
  return link !== undefined
}

async function noteUse(
  db: Kysely<Schema>,
  { workspaceId, hash }: Owned,
  atMicros: number,
): Promise<void> {
  await db
    .updateTable('images')
    .set({ used_at: atMicros })
    .where('workspace_id', '=', workspaceId)
    .where('hash', '=', hash)
    .where('used_at', '<', atMicros)
    .execute()
}

async function deleteImage(db: Kysely<Schema>, { workspaceId, hash }: Owned): Promise<void> {
  for (const table of ['image_data', 'images'] as const) {
    await db
      .deleteFrom(table)
      .where('workspace_id', '=', workspaceId)
      .where('hash', '=', hash)
      .execute()
  }
}
