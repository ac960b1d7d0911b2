import type { Kysely } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import type { MovedDays } from '../store/clickhouse/moved-days.ts'
import type { ErasedClicks } from '../store/raw-click-source.ts'

const SUBJECTS_PER_STEP = 1_000

/**
 * Erases what was moved of links and workspaces that were deleted since: the service erases it only where its clicks are.
 *
 * @param db has the links
 */
export async function eraseMissing(
  db: Kysely<Schema>,
  moved: Pick<MovedDays, 'linksAfter' | 'workspaces'>,
  erase: (erased: ErasedClicks) => Promise<void>,
): Promise<void> {
  for (let after = 0; ; ) {
    const links = await moved.linksAfter(after, SUBJECTS_PER_STEP)
    const last = links.at(-1)
    if (last === undefined) break
    after = last
    const linkSeqs = await missingLinks(db, links)
    if (linkSeqs.length > 0) await erase({ kind: 'links', linkSeqs })
  }
  const rows = await db.selectFrom('workspaces').select('id').execute()
  const existing = new Set(rows.map(({ id }) => id))
  for (const workspaceId of await moved.workspaces()) {
    if (!existing.has(workspaceId)) await erase({ kind: 'workspace', workspaceId })
  }
}

/** Deleted links that wait for being erased are not missing yet: the service erases them. */
async function missingLinks(db: Kysely<Schema>, links: readonly number[]): Promise<number[]> {
  const existing = await db.selectFrom('links').select('seq').where('seq', 'in', links).execute()
  const deleted = await db
    .selectFrom('deleted_links')
    .select('link_seq as seq')
    .where('link_seq', 'in', links)
    .execute()
  const known = new Set([...existing, ...deleted].map(({ seq }) => seq))
  return links.filter((seq) => !known.has(seq))
}
