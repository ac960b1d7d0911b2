import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** What programs show of links, and the uploaded images among it. */
export const linkPreviews: Migration = {
  name: 'link-previews',
  // Programs that do not know of them redirect those that show links like all others.
  servedFrom: 1,
  servedFromOnFiles: 18,
  async up(db, types) {
    const uuid = sql.raw(types.uuid)
    await sql`alter table links add column title text`.execute(db)
    await sql`alter table links add column description text`.execute(db)
    await sql`alter table links add column image text`.execute(db)
    await sql`alter table links add column image_hash text`.execute(db)
    // An image that is used is kept. Links without one, which are most, have no entry.
    await sql`create index links_by_image on links (workspace_id, image_hash)
      where image_hash is not null`.execute(db)
    await sql`create table images (
      workspace_id ${uuid} not null references workspaces (id),
      hash text not null,
      type text not null,
      width integer not null,
      height integer not null,
      bytes integer not null,
      used_at bigint not null,
      primary key (workspace_id, hash)
    )`.execute(db)
    await sql`create index images_by_use on images (used_at)`.execute(db)
    // Apart from the rows above, which change: their bytes would be written again.
    await sql`create table image_data (
      hash text not null,
      workspace_id ${uuid} not null references workspaces (id),
      data ${sql.raw(types.bytes)} not null,
      primary key (hash, workspace_id)
    )`.execute(db)
  },
}
