import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { domainsQuery } from '../../../api/domains.ts'
import { type AuditFilter, auditQuery } from '../../../api/events.ts'
import { membersQuery } from '../../../api/members.ts'
import { tokensQuery } from '../../../api/tokens.ts'
import { utmTemplatesQuery } from '../../../api/utm-templates.ts'
import { LoadFailure } from '../../../shell/LoadFailure.tsx'
import { useMembership } from '../../../shell/use-membership.ts'
import { useText } from '../../../text/use-text.ts'
import { Button } from '../../../widgets/Button.tsx'
import { RowsSkeleton } from '../RowsSkeleton.tsx'
import { Section } from '../Section.tsx'
import { AuditFilters } from './AuditFilters.tsx'
import { EventRow } from './EventRow.tsx'

const route = getRouteApi('/shell/settings/audit')

/** Who changed what in the workspace. */
export default function AuditPage() {
  const t = useText()
  const filter = route.useSearch()
  const names = useNames()
  const list = useInfiniteQuery(auditQuery(filter))
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = list
  const events = data?.pages.flatMap((page) => page.data)
  return (
    <Section title={t.audit.title} hint={t.audit.hint} isFirst>
      <AuditFilters filter={filter} />
      {events === undefined && error === null && <RowsSkeleton />}
      {events === undefined && error !== null && <LoadFailure error={error} />}
      {events?.length === 0 && (
        <p className="muted">{isEmpty(filter) ? t.audit.noneYet : t.audit.none}</p>
      )}
      <ol className="log">
        {events?.map((event) => (
          <EventRow key={event.sequence} event={event} names={names} />
        ))}
      </ol>
      {hasNextPage && (
        <Button isBusy={isFetchingNextPage} onClick={() => fetchNextPage()}>
          {t.audit.more}
        </Button>
      )}
    </Section>
  )
}

function isEmpty(filter: AuditFilter): boolean {
  return Object.values(filter).every((value) => value === undefined)
}

/** The names of what events are about, as far as it still exists. */
function useNames(): ReadonlyMap<string, string> {
  const { data: members = [] } = useQuery(membersQuery)
  const { data: tokens = [] } = useQuery(tokensQuery)
  const { data: domains = [] } = useQuery(domainsQuery)
  const { data: templates = [] } = useQuery(utmTemplatesQuery)
  const { session } = useMembership()
  return new Map([
    ...members.map(({ id, name }) => [id, name] as const),
    ...tokens.map(({ id, name }) => [id, name] as const),
    ...domains.map(({ id, domain }) => [id, domain] as const),
    ...templates.map(({ id, name }) => [id, name] as const),
    ...session.memberships.map((one) => [one.workspace_id, one.workspace_title] as const),
  ])
}
