import { Link } from '@tanstack/react-router'
import type { EventResource } from '../../../api/events.ts'
import { useText } from '../../../text/use-text.ts'
import { Avatar } from '../../../widgets/Avatar.tsx'
import { Ago } from '../../../widgets/Time.tsx'
import { differencesOf, type Part, sentenceOf } from './event-words.ts'

type EventRowProps = {
  readonly event: EventResource
  readonly names: ReadonlyMap<string, string>
}

export function EventRow({ event, names }: EventRowProps) {
  const t = useText()
  const differences = differencesOf(event, t)
  return (
    <li>
      <Ago instant={new Date(event.at)} />
      <Avatar name={event.actor.name} />
      <div>
        {sentenceOf(event, names, t).map((part) => (
          <Words key={part.id} part={part} />
        ))}
        {differences.length > 0 && (
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
        )}
      </div>
    </li>
  )
}

function Words({ part: { text, isName, linkId } }: { part: Part }) {
  if (!isName) return text
  if (linkId === undefined) return <b>{text}</b>
  return (
    <b>
      <Link to="/links/$linkId" params={{ linkId }} className="hover:underline">
        {text}
      </Link>
    </b>
  )
}
