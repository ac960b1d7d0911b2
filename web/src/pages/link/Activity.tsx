import { useQuery } from '@tanstack/react-query'
import type { EventResource } from '@terse/contract/events'
import { eventsQuery } from '../../api/events.ts'
import { Icon } from '../../icons/Icon.tsx'
import { ChevronRightIcon } from '../../icons/index.ts'
import { EventDifferences } from '../../shell/EventDifferences.tsx'
import { useMembership } from '../../shell/use-membership.ts'
import type { Catalogue } from '../../text/en.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { Ago, useNow } from '../../widgets/Time.tsx'

/** Who changed what of a link, the newest first; folded to one line. Members and viewers may not read it. */
export function Activity({ linkId }: { linkId: string }) {
  const t = useText()
  const { may } = useMembership()
  const { data: events } = useQuery({ ...eventsQuery({ subject: linkId }), enabled: may('admin') })
  if (events === undefined) return null
  return (
    <details className="activity">
      <summary>
        <Icon of={ChevronRightIcon} />
        <h2 className="sec-h">{t.link.activity}</h2>
        <span className="sum">
          <Summary events={events} />
        </span>
      </summary>
      <ol className="log">
        {events.map((event) => (
          <Entry key={event.sequence} event={event} />
        ))}
      </ol>
    </details>
  )
}

function Summary({ events }: { events: readonly EventResource[] }) {
  const t = useText()
  const formats = useFormats()
  const now = useNow()
  const [last] = events
  if (last === undefined) return t.link.noActivity
  const when = formats.ago(new Date(last.at), now)
  return t.link.lastChange(t.link.changeCount(events.length), last.actor.name, when)
}

function Entry({ event }: { event: EventResource }) {
  const t = useText()
  const { name } = event.actor
  return (
    <li>
      <Ago instant={new Date(event.at)} />
      <span className="ava p" aria-hidden>
        {name.slice(0, 1).toUpperCase()}
      </span>
      <div>
        <b>{name}</b> {changeText(event, t)}
        <EventDifferences event={event} />
      </div>
    </li>
  )
}

function changeText({ type }: EventResource, t: Catalogue): string {
  if (type === 'link.created') return t.link.changes.created
  if (type === 'link.deleted') return t.link.changes.deleted
  return t.link.changes.updated
}
