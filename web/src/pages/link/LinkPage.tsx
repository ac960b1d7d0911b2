import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { domainsQuery } from '../../api/domains.ts'
import { type LinkResource, linkQuery } from '../../api/links.ts'
import { visitAddress } from '../../api/visit-address.ts'
import { Icon } from '../../icons/Icon.tsx'
import {
  AlertIcon,
  CopyIcon,
  DuplicateIcon,
  EditIcon,
  ExternalIcon,
  MoreIcon,
  TrashIcon,
} from '../../icons/index.ts'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { Page } from '../../shell/Page.tsx'
import { useShortcut } from '../../shell/shortcuts.ts'
import { useIsUnproved } from '../../shell/use-is-unproved.ts'
import { useMembership } from '../../shell/use-membership.ts'
import { useReturn } from '../../shell/use-return.ts'
import { useText } from '../../text/use-text.ts'
import { Button, ButtonContent, buttonClass } from '../../widgets/Button.tsx'
import { copyWithMessage } from '../../widgets/copy.ts'
import { Menu, MenuItem, MenuSeparator } from '../../widgets/Menu.tsx'
import { useDeleteLink } from '../links/use-delete-link.ts'
import { Activity } from './Activity.tsx'
import { LinkDoes } from './LinkDoes.tsx'
import { LinkFacts } from './LinkFacts.tsx'
import { LinkFigures } from './LinkFigures.tsx'

const QrPanel = lazy(() => import('../../widgets/QrPanel.tsx'))

const route = getRouteApi('/shell/links/$linkId')

/** How a link is doing, then what it does, then who has changed it; its facts stand beside. */
export default function LinkPage() {
  const t = useText()
  const { linkId } = route.useParams()
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
        <div className="split-page">
          <div className="work">
            <DomainNote host={link.domain} />
            <LinkFigures link={link} />
            <LinkDoes link={link} />
            <Activity linkId={link.id} />
          </div>
          <aside className="beside" aria-label={t.link.facts}>
            <Suspense fallback={<div className="qr-space" aria-busy />}>
              <QrPanel link={encodeURI(visitAddress(link))} />
            </Suspense>
            <LinkFacts link={link} />
          </aside>
        </div>
      )}
    </Page>
  )
}

function Acts({ link }: { link: LinkResource }) {
  const t = useText()
  const navigate = useNavigate()
  const { may } = useMembership()
  const remove = useDeleteLink()
  const leave = useReturn()
  const params = { linkId: link.id }
  const address = visitAddress(link)
  const copy = () => void copyWithMessage(address, t)
  const edit = () => void navigate({ to: '/links/$linkId/edit', params })
  const duplicate = () => void navigate({ to: '/links/new', search: { from: link.id } })
  useShortcut('y', (text) => text.links.copyLink, copy)
  useShortcut('e', (text) => text.common.edit, may('member') ? edit : undefined)
  useShortcut('d', (text) => text.links.duplicate, may('member') ? duplicate : undefined)
  const trigger = (
    <button className="ib" type="button" aria-label={t.link.moreActs}>
      <Icon of={MoreIcon} />
    </button>
  )
  return (
    <>
      <Menu trigger={trigger}>
        <MenuItem
          icon={ExternalIcon}
          render={<a href={address} target="_blank" rel="noreferrer" />}
        >
          {t.link.open}
        </MenuItem>
        {may('member') && (
          <>
            <MenuItem
              icon={DuplicateIcon}
              shortcut="D"
              render={<Link to="/links/new" search={{ from: link.id }} />}
            >
              {t.links.duplicate}
            </MenuItem>
            <MenuSeparator />
            <MenuItem
              icon={TrashIcon}
              isDangerous
              onSelect={() => {
                remove(link)
                leave()
              }}
            >
              {t.common.delete}
            </MenuItem>
          </>
        )}
      </Menu>
      {may('member') && (
        <Link to="/links/$linkId/edit" params={params} className={buttonClass({})}>
          <ButtonContent icon={EditIcon} shortcut="E">
            <span className="word">{t.common.edit}</span>
          </ButtonContent>
        </Link>
      )}
      <Button look="ink" icon={CopyIcon} shortcut="Y" onClick={copy}>
        <span className="word">{t.links.copyLink}</span>
      </Button>
    </>
  )
}

/** Why the link does not work yet, where its domain is not active. */
function DomainNote({ host }: { host: string }) {
  const t = useText()
  const isUnproved = useIsUnproved()
  const { data: domains } = useQuery(domainsQuery)
  if (!isUnproved(host)) return null
  const claim = domains?.find(({ domain }) => domain === host)
  return (
    <p className="note warn">
      <Icon of={AlertIcon} />
      <span className="grow">{t.link.notWorking(host)}</span>
      <Link to="/domains" search={{ id: claim?.id }} className="link">
        {t.link.showDomain}
      </Link>
    </p>
  )
}
