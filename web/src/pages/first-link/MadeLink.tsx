import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { type LinkResource, linkQuery } from '../../api/links.ts'
import { visitAddress } from '../../api/visit-address.ts'
import { Icon } from '../../icons/Icon.tsx'
import {
  CheckIcon,
  ChevronRightIcon,
  CopyIcon,
  DomainIcon,
  ExternalIcon,
  ImportIcon,
  QrIcon,
  RedirectIcon,
  TokenIcon,
} from '../../icons/index.ts'
import { useText } from '../../text/use-text.ts'
import { Button, ButtonContent, buttonClass } from '../../widgets/Button.tsx'
import { copyText } from '../../widgets/copy.ts'
import { Destination } from '../../widgets/Destination.tsx'
import { Dialog } from '../../widgets/Dialog.tsx'
import { showError } from '../../widgets/toasts.ts'

const QrPanel = lazy(() => import('../../widgets/QrPanel.tsx'))

/** The first short link, with its clicks as they come. Copy is the act until it is done, then Open. */
export function MadeLink({ link, isCopied }: { link: LinkResource; isCopied: boolean }) {
  const t = useText()
  const heading = useRef<HTMLHeadingElement>(null)
  const [isQrShown, setQrShown] = useState(false)
  const [hasCopied, setCopied] = useState(isCopied)
  const { data: current = link } = useQuery(linkQuery(link.id))
  const address = visitAddress(link)
  // The form that had the focus is gone.
  useEffect(() => heading.current?.focus(), [])

  async function copy() {
    if (await copyText(address)) setCopied(true)
    else showError(t.common.notCopied)
  }

  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        {t.firstLink.made}
      </h1>
      <div className="result">
        <div className="r1">
          <p className="short-l">
            <span>{link.domain}/</span>
            {link.key}
          </p>
          <p className="good" role="status">
            {hasCopied && (
              <>
                <Icon of={CheckIcon} />
                {t.common.copied}
              </>
            )}
          </p>
          <Button icon={QrIcon} onClick={() => setQrShown(true)}>
            {t.qr.title}
          </Button>
          <a
            href={address}
            target="_blank"
            rel="noreferrer"
            className={buttonClass({ ...(hasCopied && { look: 'ink' }) })}
          >
            <ButtonContent icon={ExternalIcon}>{t.shortcuts.open}</ButtonContent>
          </a>
          {!hasCopied && (
            <Button look="ink" icon={CopyIcon} onClick={copy}>
              {t.common.copy}
            </Button>
          )}
        </div>
        <div className="r2">
          <Icon of={RedirectIcon} small />
          <Destination url={link.url} />
          <span className="ml-auto whitespace-nowrap">{t.common.clicks(current.clicks ?? 0)}</span>
        </div>
      </div>
      <NextSteps />
      <Dialog
        isOpen={isQrShown}
        onClose={() => setQrShown(false)}
        title={t.qr.title}
        footer={<Button onClick={() => setQrShown(false)}>{t.common.close}</Button>}
      >
        <Suspense fallback={<div className="qr-space" aria-busy />}>
          <QrPanel link={encodeURI(address)} />
        </Suspense>
      </Dialog>
    </>
  )
}

const STEPS = [
  { to: '/domains', search: { add: 'yes' }, icon: DomainIcon, step: 'domain' },
  { to: '/settings/imports/new', search: {}, icon: ImportIcon, step: 'imports' },
  { to: '/settings/tokens', search: {}, icon: TokenIcon, step: 'programs' },
] as const

function NextSteps() {
  const t = useText()
  return (
    <nav aria-labelledby="next-steps">
      <h2 className="lab pb-1" id="next-steps">
        {t.firstLink.next}
      </h2>
      <ul className="next">
        {STEPS.map(({ to, search, icon, step }) => (
          <li key={to}>
            <Link to={to} search={search}>
              <Icon of={icon} />
              <span>
                <b>{t.firstLink.steps[step][0]}</b>
                {t.firstLink.steps[step][1]}
              </span>
              <Icon of={ChevronRightIcon} small />
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
