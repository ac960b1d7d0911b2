import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { createLink, type LinkResource, linkQuery, visitAddress } from '../../api/links.ts'
import { Icon } from '../../icons/Icon.tsx'
import {
  ArrowRightIcon,
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
import { OutageNote } from '../../shell/LoadFailure.tsx'
import { QuickForm } from '../../shell/QuickForm.tsx'
import { refreshFigures } from '../../shell/refresh-figures.ts'
import { SignInGate } from '../../shell/SignInGate.tsx'
import { Brand, ThemeSwitch, useTabTitle } from '../../shell/SoloPage.tsx'
import { useServiceHost } from '../../shell/use-domains.ts'
import { useMembership } from '../../shell/use-membership.ts'
import { randomId } from '../../state/random-id.ts'
import { useText } from '../../text/use-text.ts'
import { Button, ButtonContent, buttonClass } from '../../widgets/Button.tsx'
import { copyText } from '../../widgets/copy-text.ts'
import { Dialog } from '../../widgets/Dialog.tsx'
import { Destination } from '../../widgets/LinkName.tsx'
import { showError } from '../../widgets/Toasts.tsx'

type Made = { readonly link: LinkResource; readonly isCopied: boolean }

/** From the set-up to the first short link: one field, then what came of it and where to go next. */
export default function FirstLinkPage() {
  const t = useText()
  useTabTitle(t.firstLink.tab)
  const client = useQueryClient()
  const { person } = useMembership().session
  const [made, setMade] = useState<Made>()
  useEffect(() => refreshFigures(client), [client])
  return (
    <div className="solo">
      <header>
        <Brand />
        <Link to="/links" className="end">
          {t.firstLink.toDashboard}
          <Icon of={ArrowRightIcon} small />
        </Link>
      </header>
      <main>
        <div className="start">
          <OutageNote />
          {made === undefined ? <FirstLinkForm onMade={setMade} /> : <MadeLink {...made} />}
        </div>
      </main>
      <footer>
        <span>{t.firstLink.signedInAs(person.name)}</span>
        <ThemeSwitch />
      </footer>
      <SignInGate />
    </div>
  )
}

function FirstLinkForm({ onMade }: { onMade: (made: Made) => void }) {
  const t = useText()
  const host = useServiceHost()
  const [requestId] = useState(randomId)
  async function create(url: string): Promise<Made> {
    const creation = createLink({ url, domain: host }, requestId)
    const [link, isCopied] = await Promise.all([
      creation,
      copyText(creation.then((one) => visitAddress(one))),
    ])
    return { link, isCopied }
  }
  return (
    <>
      <h1>{t.firstLink.title}</h1>
      <QuickForm
        label={t.firstLink.title}
        verb={t.firstLink.shorten}
        hint={t.firstLink.later}
        hasFocus
        create={create}
        onCreated={onMade}
      >
        <span className="becomes">
          {t.firstLink.becomes} <b>{host}/</b>
          {t.firstLink.letters}
        </span>
      </QuickForm>
    </>
  )
}

const QrPanel = lazy(() => import('../../widgets/QrPanel.tsx'))

/** The first short link, with its clicks as they come. Copy is the act until it is done, then Open. */
function MadeLink({ link, isCopied }: { link: LinkResource; isCopied: boolean }) {
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
      {isQrShown && (
        <Dialog onClose={() => setQrShown(false)} title={t.qr.title}>
          <Suspense fallback={<div className="qr-space" aria-busy />}>
            <QrPanel link={encodeURI(address)} />
          </Suspense>
        </Dialog>
      )}
    </>
  )
}

const STEPS = [
  { to: '/domains', search: { add: 'yes' }, icon: DomainIcon, step: 'domain' },
  { to: '/settings/imports/new', search: {}, icon: ImportIcon, step: 'imports' },
  { to: '/settings/connect', search: {}, icon: TokenIcon, step: 'programs' },
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
