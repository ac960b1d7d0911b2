import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { domainsQuery } from '../../api/domains.ts'
import {
  AUDIT_KINDS,
  type AuditFilter,
  type AuditKind,
  auditQuery,
  type EventResource,
} from '../../api/events.ts'
import { tokensQuery } from '../../api/tokens.ts'
import { utmTemplatesQuery } from '../../api/utm-templates.ts'
import { membersQuery } from '../../api/workspaces.ts'
import { EventDifferences } from '../../shell/EventDifferences.tsx'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { useMembership } from '../../shell/use-membership.ts'
import type { Catalogue } from '../../text/en.ts'
import { useText } from '../../text/use-text.ts'
import { Avatar } from '../../widgets/Avatar.tsx'
import { Button } from '../../widgets/Button.tsx'
import { Field, Input, Select } from '../../widgets/Field.tsx'
import { Ago } from '../../widgets/Time.tsx'
import { RowsSkeleton, Section } from './Section.tsx'

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

/** The filters are in the address. */
function AuditFilters({ filter }: { filter: AuditFilter }) {
  const t = useText()
  const navigate = useNavigate()
  const { data: members = [] } = useQuery(membersQuery)
  const { data: tokens = [] } = useQuery(tokensQuery)
  const set = (change: AuditFilter) =>
    navigate({ to: '/settings/audit', search: { ...filter, ...change }, replace: true })
  const given = (text: string) => (text === '' ? undefined : text)
  return (
    <div className="filters">
      <Field label={t.audit.kind}>
        {(control) => (
          <Select
            {...control}
            value={filter.kind ?? ''}
            onChange={({ target }) => set({ kind: given(target.value) as AuditKind | undefined })}
          >
            <option value="">{t.audit.kinds.all}</option>
            {AUDIT_KINDS.map((kind) => (
              <option key={kind} value={kind}>
                {t.audit.kinds[kind]}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label={t.audit.who}>
        {(control) => (
          <Select
            {...control}
            value={filter.actor ?? ''}
            onChange={({ target }) => set({ actor: given(target.value) })}
          >
            <option value="">{t.audit.anyone}</option>
            {members.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
            {tokens.map(({ id, name }) => (
              <option key={id} value={id}>
                {t.audit.token} {name}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label={t.audit.from}>
        {(control) => (
          <Input
            {...control}
            type="date"
            value={filter.from ?? ''}
            max={filter.to}
            onChange={({ target }) => set({ from: given(target.value) })}
          />
        )}
      </Field>
      <Field label={t.audit.to}>
        {(control) => (
          <Input
            {...control}
            type="date"
            value={filter.to ?? ''}
            min={filter.from}
            onChange={({ target }) => set({ to: given(target.value) })}
          />
        )}
      </Field>
    </div>
  )
}

type EventRowProps = {
  readonly event: EventResource
  readonly names: ReadonlyMap<string, string>
}

function EventRow({ event, names }: EventRowProps) {
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

type Fields = Readonly<Record<string, unknown>>

/** A part of a sentence; names are set apart. */
type Part = {
  /** Unique in its sentence. */
  readonly id: string
  readonly text: string
  readonly isName: boolean
  readonly linkId?: string
}

/**
 * What happened, as one sentence.
 *
 * @param names the names of members, domains, tokens, templates and workspaces by their identifiers
 */
function sentenceOf(
  event: EventResource,
  names: ReadonlyMap<string, string>,
  t: Catalogue,
): readonly Part[] {
  const template = t.audit.events[event.type]
  const isLink = event.type.startsWith('link.') && event.type !== 'link.deleted'
  const it: Part = {
    id: 'it',
    text: subjectOf(event, names, t),
    isName: true,
    ...(isLink && event.subject_id !== null && { linkId: event.subject_id }),
  }
  const who: Part = { id: 'who', text: actorOf(event, t), isName: true }
  return template
    .split(/(\{who\}|\{it\})/)
    .filter((text) => text !== '')
    .map((text) => {
      if (text === '{who}') return who
      return text === '{it}' ? it : { id: text, text, isName: false }
    })
}

/** The person, or the token by its name. */
function actorOf({ actor }: EventResource, t: Catalogue): string {
  return actor.kind === 'token' ? `${t.audit.token} ${actor.name}` : actor.name
}

function subjectOf(
  { type, subject_id: id, subject_name: name, before, after }: EventResource,
  names: ReadonlyMap<string, string>,
  t: Catalogue,
): string {
  const all: Fields = { ...before, ...after }
  const text = (field: string) => {
    const value = all[field]
    return typeof value === 'string' ? value : undefined
  }
  const [noun = ''] = type.split('.')
  if (noun === 'link') {
    // What a creation and a deletion hold is the name that it had then.
    const key = text('key')
    return key === undefined || text('domain') === undefined
      ? (name ?? t.audit.aLink)
      : `${text('domain')}/${key}`
  }
  const known = id === null ? undefined : names.get(id)
  if (noun === 'domain' || noun === 'certificate') {
    return known ?? text('domain') ?? text('host') ?? t.audit.aDomain
  }
  if (noun === 'token') return known ?? text('name') ?? t.audit.aToken
  if (noun === 'utm_template' || noun === 'rule_set')
    return known ?? text('name') ?? t.audit.aTemplate
  if (noun === 'workspace') return known ?? text('name') ?? t.audit.aWorkspace
  return known ?? text('name') ?? text('email') ?? t.audit.somebody
}
