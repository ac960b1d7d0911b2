import { useQuery } from '@tanstack/react-query'
import type { EventResource } from '@terse/contract/events'
import { eventsQuery } from '../../api/events.ts'
import { EventDifferences } from '../../shell/EventDifferences.tsx'
import type { Catalogue } from '../../text/en.ts'
import { useText } from '../../text/use-text.ts'
import { Ago } from '../../widgets/Time.tsx'

/** Who changed what of a link, the newest first. */
export function Activity({ linkId }: { linkId: string }) {
  const t = useText()
  const { data: events } = useQuery(eventsQuery({ subject: linkId }))
  return (
    <section className="fold">
      <h2 className="sec-h">{t.link.activity}</h2>
      {events?.length === 0 && <p className="muted">{t.link.noActivity}</p>}
      <ol className="log">
        {events?.map((event) => (
          <Entry key={event.sequence} event={event} />
        ))}
      </ol>
    </section>
  )
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
