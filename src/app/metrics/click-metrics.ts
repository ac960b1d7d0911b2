import type { ClickIntake } from '../../clicks/ingest/click-intake.ts'
import type { DrainProgress } from '../../clicks/ingest/drain-progress.ts'
import { sumOfBacklogs } from '../../clicks/journal/journal-reader.ts'
import type { ClickCap } from '../../clicks/record/click-maker.ts'
import { type MetricSource, plain } from '../../platform/metrics/metric.ts'

export function clickMetrics(
  intake: ClickIntake,
  cap: ClickCap | undefined,
  nowMicros: () => number,
): MetricSource {
  return () => {
    const held = intake.held()
    const { bytes, oldestMicros } = sumOfBacklogs(held)
    const ageSeconds = oldestMicros === undefined ? 0 : (nowMicros() - oldestMicros) / 1e6
    return [
      total(
        'terse_clicks_recorded_total',
        'Clicks written to the journal.',
        intake.counts.recorded,
      ),
      total(
        'terse_clicks_capped_total',
        'Clicks of one address on one link beyond TERSE_CLICK_CAP_PER_MINUTE, counted as bots.',
        cap?.capped ?? 0,
      ),
      total(
        'terse_clicks_lost_total',
        'Clicks that could not be written, or were in damaged or missing parts of journals (an estimate). Kept across restarts.',
        intake.counts.lost,
      ),
      total(
        'terse_clicks_doubtful_total',
        'Clicks that may not have reached a failing disk.',
        intake.counts.doubtful,
      ),
      plain(
        'gauge',
        'terse_journal_writable',
        'Whether clicks can be written to the journal.',
        intake.fault === undefined ? 1 : 0,
      ),
      ...drainMetrics(intake.progress),
      plain(
        'gauge',
        'terse_journal_backlog_bytes',
        'Bytes of clicks not ingested yet, in this node’s journal and those that it has taken over.',
        bytes,
      ),
      plain(
        'gauge',
        'terse_journal_backlog_age_seconds',
        'Age of the oldest click not ingested yet.',
        Math.max(0, ageSeconds),
      ),
      plain(
        'gauge',
        'terse_journal_orphans',
        'Journals of killed processes that are being ingested.',
        held.length - 1,
      ),
    ]
  }
}

function drainMetrics(progress: DrainProgress) {
  return [
    total(
      'terse_clicks_drained_total',
      'Clicks ingested from journals into the database.',
      progress.get('clicks'),
    ),
    total(
      'terse_clicks_without_row_total',
      'Ingested clicks that exports lack, because their workspace exceeded TERSE_RAW_CLICKS_PER_MINUTE.',
      progress.get('withoutRow'),
    ),
    total(
      'terse_clicks_without_link_total',
      'Ingested clicks that are counted for no link: their link was deleted, or lost with an older database.',
      progress.get('withoutLink'),
    ),
    total(
      'terse_imported_clicks_total',
      'Clicks of imports that were counted.',
      progress.get('imported'),
    ),
    plain(
      'gauge',
      'terse_click_spools',
      'Imports whose clicks wait to be counted, as this process sees it.',
      progress.get('spools'),
    ),
    total(
      'terse_drain_batches_total',
      'Transactions that ingested clicks.',
      progress.get('batches'),
    ),
    total(
      'terse_drain_failures_total',
      'Transactions that failed to ingest clicks.',
      progress.get('failures'),
    ),
    total(
      'terse_drain_seconds_total',
      'Time that the database took to ingest clicks.',
      progress.get('micros') / 1e6,
    ),
  ]
}

function total(name: string, help: string, value: number) {
  return plain('counter', name, help, value)
}
