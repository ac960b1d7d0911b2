import { AfterAMoment, Skeleton } from '../../widgets/Loading.tsx'

const WIDTHS = [180, 220, 160]

/** In place of a list that is being loaded. */
export function RowsSkeleton({ rows = WIDTHS.length }: { rows?: number }) {
  return (
    <AfterAMoment>
      <ul className="rows" aria-hidden>
        {Array.from({ length: rows }, (_, nth) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: all are the same
          <li key={nth}>
            <Skeleton width={WIDTHS[nth % WIDTHS.length] ?? 0} />
          </li>
        ))}
      </ul>
    </AfterAMoment>
  )
}
