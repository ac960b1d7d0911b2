import { UTM_FIELDS } from '@terse/contract/link-fields'
import { lazy, type ReactNode, Suspense } from 'react'
import { visitAddress } from '../../api/links.ts'
import { Icon, type IconNode } from '../../icons/Icon.tsx'
import {
  ExpiryIcon,
  LimitIcon,
  LockIcon,
  PathIcon,
  PhoneIcon,
  PointerIcon,
  RedirectIcon,
  StartIcon,
} from '../../icons/index.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { CopyButton } from '../../widgets/CopyButton.tsx'
import { shortDestination } from '../../widgets/destination-parts.ts'
import { capturesAlways, type FormState, finalUrlOf } from './link-draft.ts'

const QrPanel = lazy(() => import('../../widgets/QrPanel.tsx'))

/** As long as a generated key. */
const EXAMPLE_KEY = 'example'

/** The QR code, the final address and what a visitor gets, as they will be. */
export function LinkPreview(state: FormState) {
  const t = useText()
  const key = state.draft.key.trim()
  const { domain } = state.draft
  const link = `https://${domain}/${key || EXAMPLE_KEY}`
  return (
    <aside className="look" aria-label={t.linkForm.preview}>
      <Suspense fallback={<div className="qr-space" aria-busy />}>
        <QrPanel link={encodeURI(visitAddress({ domain, link }))} isExample={key === ''} />
      </Suspense>
      <FinalUrlPart {...state} />
      <Flow {...state} />
    </aside>
  )
}

function FinalUrlPart({ draft }: FormState) {
  const t = useText()
  const final = finalUrlOf(draft)
  if (final === undefined) return null
  const first = new URL(final.base).search === '' ? '?' : '&'
  return (
    <div className="grid gap-2">
      <div className="lab-row">
        <h2 className="sec-h">{t.linkForm.finalUrl}</h2>
        <CopyButton text={final.whole} label={t.linkForm.copyFinalUrl} className="-my-1 -mr-1.5" />
      </div>
      <p className="final">
        <span>{final.base}</span>
        {final.parameters.map(({ field, text }, nth) => (
          <span key={field}>
            {nth === 0 ? first : '&'}
            <span className={`c${UTM_FIELDS.indexOf(field) + 1}`}>{text}</span>
          </span>
        ))}
        {final.fragment !== '' && <span>{final.fragment}</span>}
      </p>
      <p className="hint">{t.linkForm.finalUrlHints[draft.query]}</p>
    </div>
  )
}

function Flow({ draft, link }: FormState) {
  const t = useText()
  const formats = useFormats()
  const hasPassword =
    draft.password !== '' ||
    (link !== undefined && link.password !== null && !draft.removesPassword)
  const hasTargets = draft.ios !== '' || draft.android !== ''
  const key = draft.key.trim() || '…'
  const maxClicks = Number(draft.max_clicks.trim())
  const isLimited = Number.isInteger(maxClicks) && maxClicks >= 1
  const path = capturesAlways(draft) ? 'capture' : draft.path
  const afterwards =
    draft.expired_redirect_url === ''
      ? t.linkForm.expiredPage
      : shortDestination(draft.expired_redirect_url)
  return (
    <div className="grid gap-3">
      <h2 className="sec-h">{t.linkForm.visitor}</h2>
      <ol className="flow">
        <Step icon={PointerIcon}>
          {t.linkForm.opens} <b>{`${draft.domain}/${key}`}</b>
        </Step>
        {draft.starts !== '' && (
          <Step icon={StartIcon}>
            {t.linkForm.before(formats.minute(new Date(draft.starts)))} <b>{t.linkForm.notYet}</b>
          </Step>
        )}
        {hasPassword && <Step icon={LockIcon}>{t.linkForm.asksPassword}</Step>}
        {draft.ios !== '' && (
          <Step icon={PhoneIcon}>
            {t.linkForm.onIos} <b>{shortDestination(draft.ios)}</b>
          </Step>
        )}
        {draft.android !== '' && (
          <Step icon={PhoneIcon}>
            {t.linkForm.onAndroid} <b>{shortDestination(draft.android)}</b>
          </Step>
        )}
        <Step icon={RedirectIcon}>{hasTargets ? t.linkForm.elsewhere : t.linkForm.redirects}</Step>
        {path !== 'none' && <Step icon={PathIcon}>{t.linkForm.pathHints[path]}</Step>}
        {isLimited && (
          <Step icon={LimitIcon}>
            {t.linkForm.afterClicks(maxClicks)} <b>{afterwards}</b>
          </Step>
        )}
        {draft.expires !== '' && (
          <Step icon={ExpiryIcon}>
            {t.linkForm.from(formats.minute(new Date(draft.expires)))} <b>{afterwards}</b>
          </Step>
        )}
      </ol>
    </div>
  )
}

function Step({ icon, children }: { icon: IconNode; children: ReactNode }) {
  return (
    <li>
      <Icon of={icon} />
      <span className="min-w-0">{children}</span>
    </li>
  )
}
