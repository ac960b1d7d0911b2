import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { LinkResource } from '../../api/links.ts'
import { Icon, type IconNode } from '../../icons/Icon.tsx'
import {
  ArrowRightIcon,
  EditIcon,
  ExpiredIcon,
  ExpiryIcon,
  LockIcon,
  PhoneIcon,
  RedirectIcon,
} from '../../icons/index.ts'
import { useMembership } from '../../shell/use-membership.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { ButtonContent, buttonClass } from '../../widgets/Button.tsx'
import { shortDestination } from '../../widgets/destination-parts.ts'
import { useNow } from '../../widgets/Time.tsx'

/** What a visitor meets, in sentences; one for a link that only redirects. */
export function LinkDoes({ link }: { link: LinkResource }) {
  const t = useText()
  const { may } = useMembership()
  const hasTargets = link.ios !== null || link.android !== null
  return (
    <section className="stack" aria-labelledby="link-does">
      <div className="does-h">
        <h2 className="sec-h" id="link-does">
          {t.link.does}
        </h2>
        {may('member') && (
          <Link
            to="/links/$linkId/edit"
            params={{ linkId: link.id }}
            className={buttonClass({ look: 'bare', size: 'small', className: 'ml-auto -mr-2.5' })}
          >
            <ButtonContent icon={EditIcon}>{t.common.edit}</ButtonContent>
          </Link>
        )}
      </div>
      <ol className="says" aria-label={t.link.does}>
        {link.password !== null && <Sentence icon={LockIcon}>{t.link.asksPassword}</Sentence>}
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
        {link.expires_at !== null && <Expiry at={new Date(link.expires_at)} link={link} />}
      </ol>
    </section>
  )
}

function Expiry({ at, link }: { at: Date; link: LinkResource }) {
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
