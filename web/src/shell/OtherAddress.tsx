import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { signInOptionsQuery } from '../api/session.ts'
import { Icon } from '../icons/Icon.tsx'
import { ExternalIcon, WarningIcon } from '../icons/index.ts'
import { useText } from '../text/use-text.ts'
import { ButtonContent, buttonClass } from '../widgets/Button.tsx'

/** As it was opened: the code behind `#` is taken out of the address bar. */
const opened = { pathname: location.pathname, hash: location.hash }

/**
 * What belongs to a sign-in, unless the page was opened at another address than the service has: over HTTP browsers
 * do not say where a request comes from, so each would be refused. Over HTTPS and on this machine it works, beside a note.
 */
export function AtServiceAddress({ children }: { children: ReactNode }) {
  const { data: options } = useQuery(signInOptionsQuery)
  const isOther = options !== undefined && new URL(options.base_url).origin !== location.origin
  // The development server is always at another one.
  if (!isOther || import.meta.env.DEV) return children
  return (
    <>
      <OtherAddress baseUrl={options.base_url} />
      {isSecureContext && children}
    </>
  )
}

function OtherAddress({ baseUrl }: { baseUrl: string }) {
  const t = useText()
  const { pathname, search } = location
  const hash = pathname === opened.pathname ? opened.hash : ''
  return (
    <div className="grid gap-4" role="alert">
      <div className="note warn">
        <Icon of={WarningIcon} />
        <div className="grid gap-2 break-anywhere">
          <p>{t.signIn.otherAddress(location.origin, baseUrl)}</p>
          <p>{t.signIn.changeAddress(location.origin)}</p>
        </div>
      </div>
      <a href={`${baseUrl}${pathname}${search}${hash}`} className={buttonClass({ look: 'ink' })}>
        <ButtonContent icon={ExternalIcon}>{t.signIn.toAddress(baseUrl)}</ButtonContent>
      </a>
    </div>
  )
}
