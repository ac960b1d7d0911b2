import { plural } from '../plural.ts'

const n = (count: number) => count.toLocaleString('en')

/** Words of the live view of analytics. */
export const live = {
  title: 'Last 30 minutes',
  minute: 'Minute',
  showTable: 'Show minutes as a table',
  showChart: 'Show minutes as a chart',
  reconnecting: 'Connecting again …',
  refused: 'Not available',
  chart: (amount: number, most: number) =>
    `${n(amount)} ${plural('en', amount, { one: 'click', other: 'clicks' })} in the last 30 minutes, at most ${n(most)} in a minute`,
  newest: 'Newest clicks',
  empty: 'No clicks in the last 30 minutes',
  emptyHint: 'A new one appears here within seconds.',
}
