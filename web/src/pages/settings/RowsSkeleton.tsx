import { AfterAMoment, Skeleton } from '../../widgets/Loading.tsx'

const ROWS = [180, 220, 160]

/** In place of a list that is being loaded. */
export function RowsSkeleton() {
  return (
    <AfterAMoment>
      <ul className="rows" aria-hidden>
        {ROWS.map((width) => (
          <li key={width}>
            <Skeleton width={width} />
          </li>
        ))}
      </ul>
    </AfterAMoment>
  )
}
