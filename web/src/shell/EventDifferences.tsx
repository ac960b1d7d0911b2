import type { EventResource } from '../api/events.ts'
import { useText } from '../text/use-text.ts'
import { differencesOf } from './event-differences.ts'

type EventDifferencesProps = { readonly event: Pick<EventResource, 'type' | 'before' | 'after'> }

/** The values of a change before and after it. */
export function EventDifferences({ event }: EventDifferencesProps) {
  const t = useText()
  const differences = differencesOf(event, t)
  if (differences.length === 0) return null
  return (
    <dl className="diffs">
      {differences.map(({ name, before, after }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="diff">
            <del>
              <span className="sr">{t.audit.before}: </span>
              {before ?? t.audit.empty}
            </del>
            <br />
            <ins>
              <span className="sr">{t.audit.after}: </span>
              {after ?? t.audit.empty}
            </ins>
          </dd>
        </div>
      ))}
    </dl>
  )
}
