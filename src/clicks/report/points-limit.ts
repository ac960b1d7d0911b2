import { Failure } from '../../platform/failure.ts'

/** The most points in one response, over all groups. */
const POINTS_MAX = 10_000

/** @throws {Failure} `validation_failed` */
export function refuseTooManyPoints(
  points: number,
  limit: number | undefined,
  field = 'interval',
): void {
  const count = points * (limit ?? 1)
  if (count <= POINTS_MAX) return
  const each = limit === undefined ? '' : ` for ${limit} values`
  throw Failure.invalid({
    [field]: [`would make ${count} points${each}; there can be ${POINTS_MAX} in one answer`],
  })
}
