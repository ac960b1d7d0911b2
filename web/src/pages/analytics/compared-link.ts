import type { ClickSeries } from '../../api/clicks.ts'
import type { SeriesData } from './series-data.ts'

/** A link that is compared. */
export type ComparedLink = {
  readonly id: string
  readonly name: string
  /** The colour of its line. */
  readonly look: string
  readonly total: ClickSeries['total'] | undefined
  readonly data: SeriesData | undefined
}
