import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useDeferredValue, useEffect, useLayoutEffect, useMemo, useState } from 'react'
import { isFiltered, LINKS_PER_PAGE, type LinkFilter } from '../../api/link-filter.ts'
import { linksQuery } from '../../api/links.ts'
import { AddIcon } from '../../icons/index.ts'
import { createAndCopy } from '../../shell/create-and-copy.ts'
import { DomainSelect } from '../../shell/DomainSelect.tsx'
import { CountedUntil, LoadFailure } from '../../shell/LoadFailure.tsx'
import { Page } from '../../shell/Page.tsx'
import { Pager } from '../../shell/Pager.tsx'
import { QuickForm } from '../../shell/QuickForm.tsx'
import { useServiceHost, useStartDomain } from '../../shell/use-domains.ts'
import { useMembership } from '../../shell/use-membership.ts'
import { randomId } from '../../state/random-id.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { ButtonContent, buttonClass } from '../../widgets/Button.tsx'
import { CopyButton } from '../../widgets/CopyButton.tsx'
import { AfterAMoment } from '../../widgets/Loading.tsx'
import { BulkBar } from './BulkBar.tsx'
import { useHiddenLinks } from './deleted-links.ts'
import { daysText, FilterBar, LinkSearch } from './FilterBar.tsx'
import { LinkMenu } from './LinkMenu.tsx'
import { LinksSkeleton, LinksTable } from './LinksTable.tsx'
import { focusWhenShown, selectUnder } from './row-state.ts'

const route = getRouteApi('/shell/links')

/** The links of the workspace: found, filtered, sorted, selected. The address has all of it but the selection. */
export default function LinksPage() {
  const t = useText()
  const client = useQueryClient()
  const { may } = useMembership()
  const { page = 1, ...filter } = route.useSearch()
  const answer = useQuery(linksQuery(filter, page, LINKS_PER_PAGE))
  const { error } = answer
  const shown = useMemo(
    () => ({ data: answer.data, isPlaceholderData: answer.isPlaceholderData }),
    [answer.data, answer.isPlaceholderData],
  )
  // The browser can interrupt drawing fifty rows.
  const { data, isPlaceholderData } = useDeferredValue(shown)
  const hidden = useHiddenLinks()
  const links = data?.data.filter(({ id }) => !hidden.has(id)) ?? []
  const lastPage = data?.meta.last_page ?? 1
  const isEmptied = data !== undefined && data.data.length > 0 && links.length === 0
  const total = isEmptied && lastPage === 1 ? 0 : data?.meta.total
  const hasNext = page < lastPage && !isPlaceholderData

  const { sort: _, ...matching } = filter
  const filterName = JSON.stringify(matching)
  useLayoutEffect(() => selectUnder(filterName), [filterName])

  const found = useFound(filterName, answer.isPlaceholderData ? undefined : answer.data?.meta.total)
  useEffect(() => {
    if (hasNext) void client.prefetchQuery(linksQuery(filter, page + 1, LINKS_PER_PAGE))
  })

  if (total === 0 && !isFiltered(filter)) {
    return (
      <Page title={t.links.title} isFlush>
        <EmptyLinks />
      </Page>
    )
  }
  return (
    <Page title={t.links.title} isFlush search={<LinkSearch filter={filter} />}>
      <FilterBar filter={filter} />
      <p className="sr" role="status">
        {found}
      </p>
      {data === undefined && error === null && (
        <AfterAMoment>
          <LinksSkeleton />
        </AfterAMoment>
      )}
      {data === undefined && error !== null && <LoadFailure error={error} />}
      {total === 0 && <NoMatch filter={filter} />}
      {data !== undefined && total !== 0 && (
        <>
          <CountedUntil instant={data.meta.counted_until} />
          <LinksTable
            links={links}
            sort={filter.sort ?? '-created_at'}
            isStale={isPlaceholderData}
            mayWrite={may('member')}
          />
          <LinkMenu
            mayWrite={may('member')}
            archiving={{ leavesList: filter.archived !== 'any' }}
          />
          <Pager meta={data.meta} page={page} isEmptied={isEmptied} />
        </>
      )}
      {may('member') && <BulkBar filter={filter} total={total ?? 0} />}
    </Page>
  )
}

/** What is announced when another filter has found something: not what the page has begun with, and no later change. */
function useFound(filterName: string, total: number | undefined): string | undefined {
  const t = useText()
  const [shown, setShown] = useState({ filterName, total, isFirst: true })
  const isNew = filterName !== shown.filterName
  if (total !== undefined && (isNew || shown.total === undefined)) {
    setShown({ filterName, total, isFirst: shown.isFirst && !isNew })
  }
  if (isNew || shown.isFirst || shown.total === undefined) return undefined
  return shown.total === 0 ? t.links.noMatch : t.links.found(shown.total)
}

/** Says what was searched, and offers to clear the filters or to create that key. */
function NoMatch({ filter }: { filter: LinkFilter }) {
  const t = useText()
  const formats = useFormats()
  const { search, domain = [], tag = [], state, archived, managed_by, url } = filter
  const { created_from: from, created_to: to } = filter
  const created = daysText({ from, to }, formats, t)
  const stateName = state && t.links.states[state]
  const archivedName = archived && t.links.archivedChoices[archived]
  const named = [stateName, archivedName, managed_by, url]
  const parts = [search, ...domain, created, ...tag, ...named].filter(
    (part): part is string => part !== undefined,
  )
  const key = filter.search !== undefined && /^[\p{L}\p{N}._~-]+$/u.test(filter.search)
  return (
    <div className="empty">
      <div>
        <div className="grid gap-1">
          <h2>{t.links.noMatch}</h2>
          <p className="muted">
            {t.links.noMatchHint(formats.list(parts.map((one) => `“${one}”`)))}
          </p>
        </div>
        <div className="flex gap-2 flex-wrap">
          <Link to="/links" className={buttonClass({})}>
            {t.links.clearFilters}
          </Link>
          {key && (
            <Link
              to="/links/new"
              search={{ key: filter.search }}
              className={buttonClass({ look: 'bare', className: 'max-w-full' })}
            >
              <ButtonContent icon={AddIcon}>
                <span className="cut">{t.links.createKey(filter.search ?? '')}</span>
              </ButtonContent>
            </Link>
          )}
        </div>
      </div>
    </div>
  )
}

/** Where every link is archived, the list is empty all the same. */
function ArchivedNote() {
  const t = useText()
  const { data } = useQuery(linksQuery({ archived: 'true' }, 1, 1))
  const total = data?.meta.total ?? 0
  if (total === 0) return null
  return (
    <p className="muted">
      {t.links.allArchived(total)}{' '}
      <Link to="/links" search={{ archived: 'true' }} className="link">
        {t.linkForm.showThem}
      </Link>
    </p>
  )
}

/** The form itself, then the same in a terminal. */
function EmptyLinks() {
  const t = useText()
  const start = useStartDomain()
  const ownHost = useServiceHost()
  const [chosenDomain, setDomain] = useState<string>()
  const domain = chosenDomain ?? start.host ?? ownHost
  const [key, setKey] = useState('')
  const [requestId] = useState(randomId)
  const command = `curl ${location.origin}/api/v1/links \\
  -H "Authorization: Bearer $TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"domain":"${domain}","url":"https://example.com/"}'`
  return (
    <div className="empty">
      <div>
        <div className="grid gap-1">
          <h2>{t.empty.title}</h2>
          <p className="muted">{t.empty.hint}</p>
        </div>
        <QuickForm
          label={t.empty.destination}
          verb={t.linkForm.create}
          create={(url) => createAndCopy({ url, domain, ...(key !== '' && { key }) }, requestId, t)}
          onCreated={({ id }) => {
            start.remember(domain)
            focusWhenShown(id)
          }}
        >
          <div className="in-join grow">
            <DomainSelect value={domain} onChange={setDomain} aria-label={t.linkForm.domain} />
            <div className="in">
              <span className="muted">/</span>
              <input
                aria-label={t.empty.key}
                placeholder={t.empty.random}
                value={key}
                onChange={(event) => setKey(event.target.value)}
              />
            </div>
          </div>
        </QuickForm>
        <ArchivedNote />
        <p className="muted">
          {t.imports.invite}{' '}
          <Link to="/settings/imports/new" className="link">
            {t.imports.start}
          </Link>
        </p>
        <div className="grid gap-2">
          <p className="muted">{t.empty.terminal}</p>
          <div className="cmd">
            <pre className="term">{command}</pre>
            <CopyButton text={command} label={t.empty.copyCommand} />
          </div>
        </div>
      </div>
    </div>
  )
}
