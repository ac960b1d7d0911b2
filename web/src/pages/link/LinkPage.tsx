import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { UTM_FIELDS } from '@terse/contract/link-fields'
import { lazy, type ReactNode, Suspense } from 'react'
import { domainsQuery } from '../../api/domains.ts'
import { type DetailedLink, linkQuery, visitAddress } from '../../api/links.ts'
import { isEdited, type Managed, markOfLink } from '../../api/managed.ts'
import { ruleSetsQuery } from '../../api/rule-sets.ts'
import { rulesQuery } from '../../api/rules.ts'
import { Icon, type IconNode } from '../../icons/Icon.tsx'
import {
  AlertIcon,
  ArchiveIcon,
  ArrowRightIcon,
  CopyIcon,
  DuplicateIcon,
  EditIcon,
  ExpiredIcon,
  ExpiryIcon,
  ExternalIcon,
  ImageIcon,
  LimitIcon,
  LockIcon,
  MoreIcon,
  PathIcon,
  PhoneIcon,
  RedirectIcon,
  RuleSetIcon,
  RulesIcon,
  SetIcon,
  SplitIcon,
  StartIcon,
  UnarchiveIcon,
} from '../../icons/index.ts'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { Page, useReturn } from '../../shell/Page.tsx'
import { useShortcut } from '../../shell/shortcuts.ts'
import { useIsUnproved } from '../../shell/use-domains.ts'
import { useMembership } from '../../shell/use-membership.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { Button, ButtonContent, buttonClass } from '../../widgets/Button.tsx'
import { CopyButton, copyWithMessage } from '../../widgets/CopyButton.tsx'
import { shortDestination } from '../../widgets/destination-parts.ts'
import { Menu, MenuItem, MenuSeparator } from '../../widgets/Menu.tsx'
import { Ago, useNow } from '../../widgets/Time.tsx'
import { useArchiving } from '../links/archived-links.ts'
import { useDeleteLink } from '../links/deleted-links.ts'
import { DeleteItem } from '../links/LinkMenu.tsx'
import { LinkFigures } from './LinkFigures.tsx'
import { LinkHistory } from './LinkHistory.tsx'

const QrPanel = lazy(() => import('../../widgets/QrPanel.tsx'))
const RuleSentence = lazy(() => import('../rules/RuleSentence.tsx'))

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
            {link.options.archived && <ArchivedNote link={link} />}
            <SetNote of={markOfLink(link)} />
            <LinkFigures link={link} />
            <LinkDoes link={link} />
            <LinkHistory link={link} />
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

function Acts({ link }: { link: DetailedLink }) {
  const t = useText()
  const navigate = useNavigate()
  const { may } = useMembership()
  const remove = useDeleteLink()
  const { archive } = useArchiving()
  const { archived: isArchived } = link.options
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
              icon={isArchived ? UnarchiveIcon : ArchiveIcon}
              onSelect={() => void archive(link, !isArchived, { leavesList: false })}
            >
              {isArchived ? t.links.unarchive : t.links.archive}
            </MenuItem>
            <DeleteItem
              link={link}
              onSelect={() => {
                if (remove(link)) leave()
              }}
            />
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

/** Which set of links as code manages the link, and whether it was edited by other means. */
function SetNote({ of: mark }: { of: Managed }) {
  const t = useText()
  const formats = useFormats()
  const { managed_by: set, managed_at: applied } = mark
  if (set === null || applied === null) return null
  const edited = isEdited(mark)
  return (
    <div className={`note ${edited ? 'warn' : ''}`}>
      <Icon of={SetIcon} />
      <div className="grow flex flex-wrap items-center gap-x-3">
        <span className="grow basis-56">
          {t.managed.applied(set, formats.minute(new Date(applied)))} {edited && t.managed.edited}
        </span>
        <Link to="/links" search={{ managed_by: set }} className="link">
          {t.managed.showLinks}
        </Link>
      </div>
    </div>
  )
}

/** Says that lists leave the link out, and offers to change that. */
function ArchivedNote({ link }: { link: DetailedLink }) {
  const t = useText()
  const { may } = useMembership()
  const { archive } = useArchiving()
  return (
    <div className="note items-center">
      <Icon of={ArchiveIcon} />
      <span className="grow">{t.link.archivedNote}</span>
      {may('member') && (
        <Button
          size="small"
          look="bare"
          onClick={() => void archive(link, false, { leavesList: false })}
        >
          {t.links.unarchive}
        </Button>
      )}
    </div>
  )
}

/** What a visitor meets, in sentences; one for a link that only redirects. */
function LinkDoes({ link }: { link: DetailedLink }) {
  const t = useText()
  const { may } = useMembership()
  const { data: { rules = [] } = {} } = useQuery(rulesQuery(link.id))
  const { active_from: start, rule_set: ruleSet, max_clicks, path, query } = link.options
  const { title, description, image } = link.options
  const previewTitle = title ?? description ?? image
  const hasRules = rules.length > 0 || ruleSet !== null
  const hasTargets = link.ios !== null || link.android !== null || hasRules
  return (
    <section className="stack" aria-labelledby="link-does">
      <div className="does-h">
        <h2 className="sec-h" id="link-does">
          {t.link.does}
        </h2>
        <span className="flex ml-auto -mr-2.5">
          <Link
            to="/links/$linkId/rules"
            params={{ linkId: link.id }}
            className={buttonClass({ look: 'bare', size: 'small' })}
          >
            <ButtonContent icon={SplitIcon}>{t.link.rules}</ButtonContent>
          </Link>
          {may('member') && (
            <Link
              to="/links/$linkId/edit"
              params={{ linkId: link.id }}
              className={buttonClass({ look: 'bare', size: 'small' })}
            >
              <ButtonContent icon={EditIcon}>{t.common.edit}</ButtonContent>
            </Link>
          )}
        </span>
      </div>
      <ol className="says" aria-label={t.link.does}>
        {start !== null && <Start at={new Date(start)} />}
        {link.password !== null && <Sentence icon={LockIcon}>{t.link.asksPassword}</Sentence>}
        {rules.map((rule) => (
          <Sentence key={rule.id} icon={rule.then.split === undefined ? RulesIcon : SplitIcon}>
            <Suspense>
              <RuleSentence rule={rule} />
            </Suspense>
          </Sentence>
        ))}
        {ruleSet !== null && <UsedRuleSet id={ruleSet} />}
        {link.ios !== null && (
          <Sentence icon={PhoneIcon} to={link.ios}>
            {t.linkForm.ios}
          </Sentence>
        )}
        {link.android !== null && (
          <Sentence icon={PhoneIcon} to={link.android}>
            {t.linkForm.android}
          </Sentence>
        )}
        <Sentence icon={RedirectIcon} to={link.url}>
          {hasTargets ? t.link.everyoneElse : t.link.everyone}
        </Sentence>
        {path !== 'none' && <Sentence icon={PathIcon}>{t.linkForm.pathHints[path]}</Sentence>}
        {query !== 'merge' && (
          <Sentence icon={PathIcon}>{t.linkForm.finalUrlHints[query]}</Sentence>
        )}
        {previewTitle !== null && (
          <Sentence icon={ImageIcon}>{t.link.shows(previewTitle)}</Sentence>
        )}
        {max_clicks !== null && <ClickLimit clicks={max_clicks} link={link} />}
        {link.expires_at !== null && <Expiry at={new Date(link.expires_at)} link={link} />}
      </ol>
    </section>
  )
}

function UsedRuleSet({ id }: { id: string }) {
  const t = useText()
  const { data: sets } = useQuery(ruleSetsQuery)
  return (
    <Sentence icon={RuleSetIcon}>
      {t.link.usesRuleSet}{' '}
      <Link className="link" to="/settings/rule-sets/$setId" params={{ setId: id }}>
        {sets?.find((one) => one.id === id)?.name ?? '…'}
      </Link>
    </Sentence>
  )
}

function Start({ at }: { at: Date }) {
  const t = useText()
  const formats = useFormats()
  const now = useNow()
  if (at <= now) return null
  return (
    <Sentence icon={StartIcon} amount={formats.until(at, now)}>
      {t.link.startsOn(formats.minute(at))}
    </Sentence>
  )
}

function ClickLimit({ clicks, link }: { clicks: number; link: DetailedLink }) {
  const t = useText()
  const target = link.expired_redirect_url
  const words = target === null ? t.link.atMost.page : t.link.atMost.elsewhere
  return (
    <Sentence
      icon={LimitIcon}
      to={target ?? undefined}
      amount={t.link.clicksLeft(link.options.clicks_left ?? 0)}
    >
      {words(clicks)}
    </Sentence>
  )
}

function Expiry({ at, link }: { at: Date; link: DetailedLink }) {
  const t = useText()
  const formats = useFormats()
  const now = useNow()
  const isOver = at <= now
  const target = link.expired_redirect_url
  const words = isOver ? t.link.over : t.link.until
  return (
    <Sentence
      icon={isOver ? ExpiredIcon : ExpiryIcon}
      to={target ?? undefined}
      amount={isOver ? undefined : formats.until(at, now)}
    >
      {(target === null ? words.page : words.elsewhere)(formats.minute(at))}
    </Sentence>
  )
}

type SentenceProps = {
  readonly icon: IconNode
  /** Where it leads. */
  readonly to?: string | undefined
  readonly amount?: string | undefined
  readonly children: ReactNode
}

function Sentence({ icon, to, amount, children }: SentenceProps) {
  return (
    <li>
      <Icon of={icon} />
      <span>
        {children}
        {to !== undefined && (
          <>
            <span className="arr">
              <Icon of={ArrowRightIcon} small />
            </span>
            <span className="to" title={to}>
              {shortDestination(to)}
            </span>
          </>
        )}
      </span>
      <span className="amount">{amount}</span>
    </li>
  )
}

/** What is known of a link and does not lead anywhere else. */
function LinkFacts({ link }: { link: DetailedLink }) {
  const t = useText()
  const formats = useFormats()
  const utm = UTM_FIELDS.flatMap((field, nth) => {
    const value = link[field]
    return value === null ? [] : [{ field, nth, value }]
  })
  return (
    <dl className="facts">
      <Fact name={t.link.destination}>
        <span>{link.url}</span>
        <CopyButton text={link.url} label={t.link.copyDestination} />
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
      {utm.length > 0 && (
        <Fact name={t.link.utm}>
          <ul className="utm-list">
            {utm.map(({ field, nth, value }) => (
              <li key={field}>
                <span>
                  <span className={`utm-k b${nth + 1}`} />
                  {t.linkForm.utmFields[field]}
                </span>
                <span>{value}</span>
              </li>
            ))}
          </ul>
        </Fact>
      )}
      {link.options.notes !== null && (
        <Fact name={t.link.note}>
          <span className="whitespace-pre-wrap">{link.options.notes}</span>
        </Fact>
      )}
      {link.external_id !== null && <Fact name={t.link.externalId}>{link.external_id}</Fact>}
      <Fact name={t.link.created} isHalf>
        {formats.minute(new Date(link.created_at))}
      </Fact>
      <Fact name={t.link.changed} isHalf>
        {formats.minute(new Date(link.updated_at))}
      </Fact>
      <Fact name={t.link.allClicks} isHalf>
        {formats.number(link.clicks ?? 0)}
      </Fact>
      <Fact name={t.link.lastClick} isHalf>
        {link.last_click === null ? (
          t.common.never
        ) : (
          <Ago instant={new Date(link.last_click * 1_000)} />
        )}
      </Fact>
      <Fact name={t.link.id}>
        <span className="mono">{link.id}</span>
        <CopyButton text={link.id} label={t.link.copyId} />
      </Fact>
    </dl>
  )
}

type FactProps = {
  readonly name: string
  /** Two such facts stand beside each other. */
  readonly isHalf?: boolean
  readonly children: ReactNode
}

function Fact({ name, isHalf = false, children }: FactProps) {
  return (
    <div className={isHalf ? 'half' : undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
