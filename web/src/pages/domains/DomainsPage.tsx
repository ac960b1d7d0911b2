import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { type DomainResource, domainPageQuery } from '../../api/domains.ts'
import { AddIcon } from '../../icons/index.ts'
import { FindButton } from '../../shell/FindButton.tsx'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { Page } from '../../shell/Page.tsx'
import { Pager } from '../../shell/Pager.tsx'
import { useMembership } from '../../shell/use-membership.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { AfterAMoment, Skeleton } from '../../widgets/Loading.tsx'
import { AddDomainDialog } from './AddDomainDialog.tsx'
import { DomainItem } from './DomainItem.tsx'

/** Pending domains that are unfolded without being asked for: their records are what is needed next. */
const UNFOLDED_MAX = 3
const SKELETON_ROWS = 4

const route = getRouteApi('/shell/domains')

/** The domains of the workspace, with what each still needs. */
export default function DomainsPage() {
  const t = useText()
  const { may } = useMembership()
  const { page = 1 } = route.useSearch()
  const { data, error } = useQuery(domainPageQuery(page))
  const [isAdding, setAdding] = useState(false)
  const add = may('admin') ? () => setAdding(true) : undefined
  const actions = (
    <>
      <FindButton />
      {add !== undefined && (
        <Button look="ink" icon={AddIcon} onClick={add}>
          {t.domains.add}
        </Button>
      )}
    </>
  )
  return (
    <Page title={t.domains.title} actions={actions} isFlush>
      {data === undefined && error === null && (
        <AfterAMoment>
          <DomainsSkeleton />
        </AfterAMoment>
      )}
      {data === undefined && error !== null && <LoadFailure error={error} />}
      {data?.meta.total === 0 && <NoDomains onAdd={add} />}
      {data !== undefined && data.meta.total > 0 && (
        <>
          <DomainList domains={data.data} />
          <Pager meta={data.meta} page={page} />
        </>
      )}
      {isAdding && <AddDomainDialog onClose={() => setAdding(false)} />}
    </Page>
  )
}

function DomainList({ domains }: { domains: readonly DomainResource[] }) {
  const [chosen, setChosen] = useState<Readonly<Record<string, boolean>>>({})
  const pending = domains.filter(({ status }) => status === 'pending').slice(0, UNFOLDED_MAX)
  return (
    <div className="list grow border-t-0">
      {domains.map((domain) => (
        <DomainItem
          key={domain.id}
          domain={domain}
          isOpen={chosen[domain.id] ?? pending.includes(domain)}
          onToggle={(isOpen) => setChosen((before) => ({ ...before, [domain.id]: isOpen }))}
        />
      ))}
    </div>
  )
}

function NoDomains({ onAdd }: { onAdd: (() => void) | undefined }) {
  const t = useText()
  return (
    <div className="empty">
      <div>
        <div className="grid gap-1">
          <h2>{t.domains.emptyTitle}</h2>
          <p className="muted">{t.domains.emptyHint}</p>
        </div>
        {onAdd !== undefined && (
          <div>
            <Button icon={AddIcon} onClick={onAdd}>
              {t.domains.add}
            </Button>
          </div>
        )}
      </div>
    </div>
  )
}

function DomainsSkeleton() {
  const t = useText()
  return (
    <div className="list" aria-busy>
      <span className="sr">{t.common.loading}</span>
      {Array.from({ length: SKELETON_ROWS }, (_, nth) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows have no other name
        <div className="dom" key={nth}>
          <div className="dom-h">
            <span className="d1" />
            <span className="d2">
              <Skeleton width={120 + ((nth * 37) % 80)} />
            </span>
            <span className="d3">
              <Skeleton width={60} />
            </span>
          </div>
        </div>
      ))}
    </div>
  )
}
