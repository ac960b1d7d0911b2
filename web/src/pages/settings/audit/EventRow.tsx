import { Link } from '@tanstack/react-router'
import type { EventResource } from '../../../api/events.ts'
import { EventDifferences } from '../../../shell/EventDifferences.tsx'
import { useText } from '../../../text/use-text.ts'
import { Avatar } from '../../../widgets/Avatar.tsx'
import { Ago } from '../../../widgets/Time.tsx'
import { type Part, sentenceOf } from './event-words.ts'

type EventRowProps = {
  readonly event: EventResource
  readonly names: ReadonlyMap<string, string>
}

export function EventRow({ event, names }: EventRowProps) {
  const t = useText()
  return (
    <li>
      <Ago instant={new Date(event.at)} />
      <Avatar name={event.actor.name} />
      <div>
        {sentenceOf(event, names, t).map((part) => (
          <Words key={part.id} part={part} />
        ))}
        <EventDifferences event={event} />
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
