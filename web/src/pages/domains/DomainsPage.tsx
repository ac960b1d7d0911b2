import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, Navigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { domainPageQuery, domainQuery, type ShownDomain } from '../../api/domains.ts'
import { AddIcon, ChevronLeftIcon } from '../../icons/index.ts'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { FindButton, Page } from '../../shell/Page.tsx'
import { Pager } from '../../shell/Pager.tsx'
import { useMembership } from '../../shell/use-membership.ts'
import { useText } from '../../text/use-text.ts'
import { Button, ButtonContent, buttonClass } from '../../widgets/Button.tsx'
import { AfterAMoment, Skeleton } from '../../widgets/Loading.tsx'
import { AddDomainDialog } from './AddDomainDialog.tsx'
import { DomainItem } from './DomainItem.tsx'

const SKELETON_ROWS = 4

const route = getRouteApi('/shell/domains')

/** The domains of the workspace, with what each still needs. */
export default function DomainsPage() {
  const t = useText()
  const { may } = useMembership()
  const navigate = route.useNavigate()
  const { page = 1, id, add: isAdding } = route.useSearch()
  const setAdding = (add: 'yes' | undefined) =>
    void navigate({ search: (before) => ({ ...before, add }), replace: true })
  const add = may('admin') ? () => setAdding('yes') : undefined
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
      {id === undefined ? <DomainsOfPage page={page} onAdd={add} /> : <OneDomain id={id} />}
      {isAdding === 'yes' && may('admin') && (
        <AddDomainDialog onClose={() => setAdding(undefined)} />
      )}
    </Page>
  )
}

type DomainsOfPageProps = {
  readonly page: number
  readonly onAdd: (() => void) | undefined
}

function DomainsOfPage({ page, onAdd }: DomainsOfPageProps) {
  const { data, error } = useQuery(domainPageQuery(page))
  if (data === undefined) return <Missing error={error} />
  if (data.meta.total === 0) return <NoDomains onAdd={onAdd} />
  return (
    <>
      <DomainList domains={data.data} />
      <Pager meta={data.meta} page={page} />
    </>
  )
}

/** Unfolded, and with a way to the others. */
function OneDomain({ id }: { id: string }) {
  const t = useText()
  const { data: domain, error } = useQuery(domainQuery(id))
  const [isOpen, setOpen] = useState(true)
  // It was removed, perhaps on this page.
  if (error instanceof ApiError && error.status === 404) return <Navigate to="/domains" replace />
  return (
    <>
      <div className="tools">
        <Link to="/domains" className={buttonClass({ look: 'bare', size: 'small' })}>
          <ButtonContent icon={ChevronLeftIcon}>{t.domains.all}</ButtonContent>
        </Link>
      </div>
      {domain === undefined ? (
        <Missing error={error} />
      ) : (
        <div className="list grow border-t-0">
          <DomainItem domain={domain} isOpen={isOpen} onToggle={setOpen} />
        </div>
      )}
    </>
  )
}

/** In place of what is not loaded yet, or could not be. */
function Missing({ error }: { error: Error | null }) {
  if (error !== null) return <LoadFailure error={error} />
  return (
    <AfterAMoment>
      <DomainsSkeleton />
    </AfterAMoment>
  )
}

/** The newest pending domain is unfolded, which asks DNS: its records are what is needed next. */
function DomainList({ domains }: { domains: readonly ShownDomain[] }) {
  const [chosen, setChosen] = useState<Readonly<Record<string, boolean>>>({})
  const pending = domains.find(({ status }) => status === 'pending')
  return (
    <div className="list grow border-t-0">
      {domains.map((domain) => (
        <DomainItem
          key={domain.id}
          domain={domain}
          isOpen={chosen[domain.id] ?? domain === pending}
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
            <span className="domain-toggle" />
            <span className="domain-name">
              <Skeleton width={120 + ((nth * 37) % 80)} />
            </span>
            <span className="domain-status">
              <Skeleton width={60} />
            </span>
          </div>
        </div>
      ))}
    </div>
  )
}
