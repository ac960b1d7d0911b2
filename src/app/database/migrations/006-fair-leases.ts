import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/**
 * Adds the workspace to each check and each order, so that leases can be granted round robin across
 * workspaces. The workspace is empty for the service's own host, and for rows inserted by a node of
 * an earlier release.
 */
export const fairLeases: Migration = {
  name: 'fair-leases',
  servedFrom: 1,
  async up(db) {
    const statements = [
      sql`alter table domain_checks add column workspace_id text not null default ''`,
      sql`update domain_checks set workspace_id =
        (select cast(domains.workspace_id as text) from domains
          where domains.id = domain_checks.domain_id)`,
      sql`drop index domain_checks_due`,
      sql`create index domain_checks_due on domain_checks (next_at, workspace_id)
        where next_at is not null`,
      sql`create index domain_checks_of_workspace on domain_checks (workspace_id, next_at)
        where next_at is not null`,
      sql`alter table certificate_orders add column workspace_id text not null default ''`,
      sql`alter table certificate_orders add column queue text not null default 'new'`,
      sql`update certificate_orders set
        workspace_id = coalesce((select cast(domains.workspace_id as text) from domains
          where domains.host = certificate_orders.host and domains.status = 'active'), ''),
        queue = case
          when directory is not null or exists
            (select 1 from certificates where certificates.host = certificate_orders.host)
            then 'ready'
          when not exists (select 1 from domains
            where domains.host = certificate_orders.host and domains.status = 'active')
            then 'ready'
          when attempts > 0 then 'failing'
          else 'new'
        end`,
      sql`drop index certificate_orders_due`,
      sql`create index certificate_orders_due on certificate_orders (queue, next_at, workspace_id)`,
      sql`create index certificate_orders_of_workspace
        on certificate_orders (queue, workspace_id, next_at, host)`,
    ]
    for (const statement of statements) await statement.execute(db)
  },
}
