import { type ReactNode, useId } from 'react'
import { AfterAMoment, Skeleton } from '../../widgets/Loading.tsx'

type SectionProps = {
  readonly title: string
  readonly hint?: ReactNode
  /** The first of a page has a larger title. */
  readonly isFirst?: boolean
  readonly actions?: ReactNode
  readonly children?: ReactNode
}

export function Section({ title, hint, isFirst = false, actions, children }: SectionProps) {
  const id = useId()
  return (
    <section className="sec" aria-labelledby={id}>
      <header>
        <div>
          <h2 id={id} className={isFirst ? 'sec-h first' : 'sec-h'}>
            {title}
          </h2>
          {hint !== undefined && <p>{hint}</p>}
        </div>
        {actions !== undefined && <div className="end">{actions}</div>}
      </header>
      {children}
    </section>
  )
}

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
