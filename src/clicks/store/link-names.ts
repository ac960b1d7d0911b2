import { type Kysely, sql } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import type { Click } from '../click.ts'
import type { RawClick } from '../report/day-of-clicks.ts'

/** A stored raw click. */
export type RawClickRow = Click & { readonly keyspace_id: number | null }

/** Adds the current ids, keys and hosts of the links to clicks. */
export async function addLinkNames(
  db: Kysely<Schema>,
  page: readonly RawClickRow[],
): Promise<readonly RawClick[]> {
  const seqs = [...new Set(page.map(({ link_seq }) => link_seq))]
  const keyspaces = [...new Set(page.flatMap(({ keyspace_id }) => keyspace_id ?? []))]
  const links = new Map(
    (
      await db.selectFrom('links').select(['seq', 'id', 'key']).where('seq', 'in', seqs).execute()
    ).map((link) => [link.seq, link]),
  )
  const hosts = new Map(
    (
      await db
        .selectFrom('keyspaces')
        .select(['id', 'host'])
        .where('id', 'in', keyspaces.length === 0 ? [sql<number>`null`] : keyspaces)
        .execute()
    ).map(({ id, host }) => [id, host]),
  )
  return page.map(({ keyspace_id, ...click }) => {
    const link = links.get(click.link_seq)
    return {
      ...click,
      link_id: link?.id ?? null,
      key: link?.key ?? null,
      host: (keyspace_id !== null && hosts.get(keyspace_id)) || null,
    }
  })
}
