import type { FairQueueOptions } from '../../platform/work/fair-queue.ts'

/** The limits for charts: a dashboard requests several at once, and scans take turns at the database. */
export const CHART_QUEUE: FairQueueOptions = {
  work: 'charts',
  concurrency: 64,
  concurrencyPerOwner: 2,
  waitingPerOwnerMax: 32,
  waitingMax: 4_096,
  deadlineMs: 5_000,
}

/** The limits for exports: one runs for as long as its client reads. */
export const EXPORT_QUEUE: FairQueueOptions = {
  work: 'exports',
  concurrency: 256,
  concurrencyPerOwner: 4,
  waitingPerOwnerMax: 4,
  waitingMax: 1_024,
  deadlineMs: 5_000,
}
