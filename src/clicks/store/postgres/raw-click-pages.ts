import type { Scans } from '../../../platform/database/scans.ts'
import { startOfDay } from '../../tally/click-day.ts'
import type { RawClickPages } from '../click-reports.ts'
import { RAW_CLICK_COLUMNS } from '../raw-click-columns.ts'

const PAGE_ROWS = 1_000

/** Reads pages through the partition's index on links or on workspaces. */
export function postgresRawClickPages({ db }: Scans): RawClickPages {
  return async function* ({ scope, day, fromMicros, toMicros, scan }) {
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
  }
}
