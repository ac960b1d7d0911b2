import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense } from 'react'
import { type LinkResource, linkQuery } from '../../api/links.ts'
import { visitAddress } from '../../api/visit-address.ts'
import { DuplicateIcon, EditIcon, TrashIcon } from '../../icons/index.ts'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { Page } from '../../shell/Page.tsx'
import { useShortcut } from '../../shell/shortcuts.ts'
import { useMembership } from '../../shell/use-membership.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { Button, ButtonContent, buttonClass } from '../../widgets/Button.tsx'
import { CopyButton } from '../../widgets/CopyButton.tsx'
import { Ago } from '../../widgets/Time.tsx'
import { Analytics } from '../analytics/Analytics.tsx'
import { useDeleteLink } from '../links/use-delete-link.ts'
import { Activity } from './Activity.tsx'

const QrPanel = lazy(() => import('../../widgets/QrPanel.tsx'))

const route = getRouteApi('/shell/links/$linkId')

export default function LinkPage() {
  const t = useText()
  const { linkId } = route.useParams()
  const search = route.useSearch()
  const { data: link, error } = useQuery(linkQuery(linkId))
  const title = link === undefined ? t.link.title : `${link.domain}/${link.key}`
  return (
    <Page
      title={title}
      shortLink={link && { host: link.domain, key: link.key }}
      parent={<Link to="/links">{t.links.title}</Link>}
      actions={link === undefined ? null : <Acts link={link} />}
      isFlush
    >
      {link === undefined && error !== null && <LoadFailure error={error} />}
      {link !== undefined && (
        <div className="edit">
          <div className="form">
            <Facts link={link} />
            <Activity linkId={link.id} />
          </div>
          <aside className="look" aria-label={t.qr.title}>
            <Suspense fallback={<div className="qr-space" aria-busy />}>
              <QrPanel link={encodeURI(visitAddress(link))} />
            </Suspense>
          </aside>
        </div>
      )}
      {link !== undefined && (
        <section className="link-analytics" aria-label={t.analytics.title}>
          <h2 className="sec-h">{t.analytics.title}</h2>
          <Analytics scope={{ links: [link.id], tags: [] }} search={search} />
        </section>
      )}
    </Page>
  )
}

function Acts({ link }: { link: LinkResource }) {
  const t = useText()
  const navigate = useNavigate()
  const { may } = useMembership()
  const remove = useDeleteLink()
  const params = { linkId: link.id }
  const edit = () => void navigate({ to: '/links/$linkId/edit', params })
  const duplicate = () => void navigate({ to: '/links/new', search: { from: link.id } })
  useShortcut('e', (text) => text.common.edit, may('member') ? edit : undefined)
  useShortcut('d', (text) => text.links.duplicate, may('member') ? duplicate : undefined)
  if (!may('member')) return null
  return (
    <>
      <Button
        look="bare"
        icon={TrashIcon}
        onClick={() => {
          remove(link)
          void navigate({ to: '/links' })
        }}
      >
        <span className="word">{t.common.delete}</span>
      </Button>
      <Button look="bare" icon={DuplicateIcon} shortcut="D" onClick={duplicate}>
        <span className="word">{t.links.duplicate}</span>
      </Button>
      <Link to="/links/$linkId/edit" params={params} className={buttonClass({})}>
        <ButtonContent icon={EditIcon} shortcut="E">
          {t.common.edit}
        </ButtonContent>
      </Link>
    </>
  )
}

function Facts({ link }: { link: LinkResource }) {
  const t = useText()
  const formats = useFormats()
  const address = visitAddress(link)
  const utm = Object.entries(t.linkForm.utmFields).flatMap(([field, name]) => {
    const value = link[field as keyof typeof t.linkForm.utmFields]
    return value === null ? [] : [[name, value] as const]
  })
  return (
    <dl className="facts">
      <Fact name={t.links.shortLink}>
        <a className="link" href={address} target="_blank" rel="noreferrer">
          {address}
        </a>
        <CopyButton text={address} label={t.links.copyLink} />
      </Fact>
      <Fact name={t.link.destination}>
        <span className="break-anywhere">{link.url}</span>
        <CopyButton text={link.url} label={t.common.copy} />
      </Fact>
      <Fact name={t.link.clicks}>{formats.number(link.clicks ?? 0)}</Fact>
      <Fact name={t.link.lastClick}>
        {link.last_click === null ? (
          t.common.never
        ) : (
          <Ago instant={new Date(link.last_click * 1_000)} />
        )}
      </Fact>
      {link.tags.length > 0 && (
        <Fact name={t.link.tags}>
          <span className="flex gap-1 flex-wrap">
            {link.tags.map((tag) => (
              <Link key={tag} className="tag" to="/links" search={{ tag: [tag] }}>
                {tag}
              </Link>
            ))}
          </span>
        </Fact>
      )}
      {utm.map(([name, value]) => (
        <Fact key={name} name={`UTM ${name}`}>
          {value}
        </Fact>
      ))}
      {link.ios !== null && <Fact name={t.linkForm.ios}>{link.ios}</Fact>}
      {link.android !== null && <Fact name={t.linkForm.android}>{link.android}</Fact>}
      {link.password !== null && <Fact name={t.link.password}>{t.linkForm.passwordSet}</Fact>}
      {link.expires_at !== null && (
        <Fact name={t.link.expires}>{formats.exact(new Date(link.expires_at))}</Fact>
      )}
      {link.expired_redirect_url !== null && (
        <Fact name={t.linkForm.expiredUrl}>{link.expired_redirect_url}</Fact>
      )}
      <Fact name={t.link.id}>
        <span className="mono">{link.id}</span>
        <CopyButton text={link.id} label={t.common.copy} />
      </Fact>
      {link.external_id !== null && <Fact name={t.link.externalId}>{link.external_id}</Fact>}
      <Fact name={t.link.created}>{formats.exact(new Date(link.created_at))}</Fact>
      <Fact name={t.link.changed}>{formats.exact(new Date(link.updated_at))}</Fact>
    </dl>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
