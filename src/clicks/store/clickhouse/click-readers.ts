import { FairQueue } from '../../../platform/work/fair-queue.ts'
import type { ClickHouse } from '../../../storage/clickhouse/clickhouse.ts'
import { isTooSlow } from '../../../storage/clickhouse/errors.ts'
import { scanQueueOptions, scansIn } from '../../../storage/scans.ts'
import { type ClickReaders, clickReports } from '../click-reports.ts'
import { clickHouseDays } from './click-days.ts'
import { clickHouseFeed } from './click-feed.ts'
import { clickHouseRawClicks } from './raw-clicks.ts'

/** Queries for single clicks at a time, of all workspaces. */
const SCANS_MAX = 4

export function clickHouseReaders(db: ClickHouse): ClickReaders {
  const queue = new FairQueue(scanQueueOptions(SCANS_MAX))
  const scans = scansIn({ queue, isTimeout: isTooSlow })
  const days = clickHouseDays(db)
  const raw = clickHouseRawClicks(db)
  return {
    reports: ({ db: names }) => clickReports(names, scans, { days, raw }),
    feed: ({ db: names }) => clickHouseFeed(db, names),
  }
}
