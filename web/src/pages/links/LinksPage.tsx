import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useDeferredValue, useEffect, useLayoutEffect, useMemo, useState } from 'react'
import { isFiltered, LINKS_PER_PAGE } from '../../api/link-filter.ts'
import { linksQuery } from '../../api/links.ts'
import { CountedUntil } from '../../shell/CountedUntil.tsx'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { Page } from '../../shell/Page.tsx'
import { Pager } from '../../shell/Pager.tsx'
import { useMembership } from '../../shell/use-membership.ts'
import { useText } from '../../text/use-text.ts'
import { AfterAMoment } from '../../widgets/Loading.tsx'
import { BulkBar } from './BulkBar.tsx'
import { EmptyLinks } from './EmptyLinks.tsx'
import { FilterBar, LinkSearch } from './FilterBar.tsx'
import { useHiddenLinks } from './hidden-links.ts'
import { LinkMenu } from './LinkMenu.tsx'
import { LinksSkeleton, LinksTable } from './LinksTable.tsx'
import { NoMatch } from './NoMatch.tsx'
import { selectUnder } from './selection.ts'

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
          <LinkMenu mayWrite={may('member')} />
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
