import { type ReactNode, useId } from 'react'

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
