import { sql } from 'kysely'
import type { Scans } from '../../../platform/database/scans.ts'
import { startOfDay } from '../../tally/click-day.ts'
import { RAW_CLICK_COLUMNS } from '../raw-click-columns.ts'
import type { LinkCounts, RawClickSource } from '../raw-click-source.ts'

const PAGE_ROWS = 1_000

/** Reads pages through the partition's index on links or on workspaces. */
export function postgresRawClickSource({ db }: Scans): RawClickSource {
  return {
    async *pages({ scope, day, fromMicros, toMicros, scan }) {
      for (let after = 0; ; ) {
        let query = db
          .selectFrom('clicks')
          .select(['id', ...RAW_CLICK_COLUMNS])
          .where('at', '>=', Math.max(fromMicros, startOfDay(day)))
          .where('at', '<', Math.min(toMicros, startOfDay(day + 1)))
          .where('workspace_id', '=', scope.workspaceId)
          .where('id', '>', after)
          .orderBy('id')
          .limit(PAGE_ROWS)
        if (scope.kind === 'link') query = query.where('link_seq', '=', scope.linkSeq)
        if (scope.kind === 'domain') query = query.where('keyspace_id', '=', scope.keyspaceId)
        const rows = await scan.turn(() => query.execute())
        const last = rows.at(-1)
        if (last === undefined) return
        after = last.id
        yield rows.map(({ id, ...row }) => row)
        if (rows.length < PAGE_ROWS) return
      }
    },

    async *linkCounts({ scope, day, fromMicros, toMicros, scan }) {
      const ofDomain = scope.kind === 'domain' ? sql`and keyspace_id = ${scope.keyspaceId}` : sql``
      const ofLink = scope.kind === 'link' ? sql`and link_seq = ${scope.linkSeq}` : sql``
      const query = sql<LinkCounts>`
      select link_seq as "linkSeq", cast(sum(case when flags = 0 then count else 0 end) as bigint) as persons,
        cast(sum(case when flags = 0 then 0 else count end) as bigint) as others
      from clicks
      where at >= ${Math.max(fromMicros, startOfDay(day))} and at < ${Math.min(toMicros, startOfDay(day + 1))}
        and workspace_id = ${scope.workspaceId} ${ofDomain} ${ofLink}
      group by link_seq`
      yield (await scan.turn(() => query.execute(db))).rows
    },
  }
}
