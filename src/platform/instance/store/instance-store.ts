import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Schema } from '../../database/schema.ts'
import type { WriteBuffer } from '../../database/write-buffer.ts'

/** Values that hold for the whole instance, by name. */
export type InstanceStore = {
  find(name: string): Promise<string | undefined>
  /** Stores `value` unless the name has one already; returns the stored value. */
  keep(name: string, value: string): Promise<string>
  /**
   * Inserts and deletes a row, with as many round trips as a transaction of the API, to check that writes
   * work. Does not wait for other processes that do the same.
   */
  tryWrite(): Promise<void>
}

export function instanceStore(db: Kysely<Schema>, writes: WriteBuffer): InstanceStore {
  async function find(name: string): Promise<string | undefined> {
    const row = await db
      .selectFrom('instance')
      .select('value')
      .where('name', '=', name)
      .executeTakeFirst()
    return row?.value
  }
  return {
    find,
    async keep(name, value) {
      await db
        .insertInto('instance')
        .values({ name, value })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
      return (await find(name)) ?? value
    },
    async tryWrite() {
      const name = `write-probe ${randomUUID()}`
      await find(name)
      await db.insertInto('instance').values({ name, value: '' }).execute()
      await writes.add(db.deleteFrom('instance').where('name', '=', name).compile())
    },
  }
}
