import { useLayoutEffect, useRef } from 'react'
import { useMembership } from '../../shell/use-membership.ts'
import { useText } from '../../text/use-text.ts'
import { buttonClass } from '../../widgets/Button.tsx'
import { CopyButton } from '../../widgets/CopyButton.tsx'
import { showMessage } from '../../widgets/Toasts.tsx'
import { Section } from '../settings/Section.tsx'
import { AllowedExtensions } from './Assistants.tsx'

/** The extension, which viewers can use to find links, and the bookmark. */
export function InBrowser() {
  const t = useText()
  const { may } = useMembership()
  return (
    <Section title={t.connect.browser} hint={t.connect.browserHint}>
      <div className="grid gap-4">
        <ul className="rows">
          <ExtensionRow />
          {may('member') && <BookmarkRow />}
        </ul>
        <AllowedExtensions />
      </div>
    </Section>
  )
}

/** It is in no store, so there is nothing to install by a click. */
function ExtensionRow() {
  const words = useText().connect.extension
  return (
    <li>
      <span className="who">
        <b>{words.title}</b>
        <span className="wrap">{words.hint}</span>
        <span className="wrap">
          {words.address}: <span className="mono">{location.origin}</span>
        </span>
      </span>
      <CopyButton text={location.origin} label={words.copy} />
    </li>
  )
}

/** A bookmark that opens the form of a new link with the address of the page on which it is clicked. */
function BookmarkRow() {
  const t = useText()
  const link = useRef<HTMLAnchorElement>(null)
  // React refuses the scheme `javascript:`. The bookmark is to be dragged, which a click explains.
  useLayoutEffect(() => {
    const say = (event: Event) => {
      event.preventDefault()
      showMessage(t.connect.drag)
    }
    const form = JSON.stringify(`${location.origin}/app/links/new?url=`)
    const script = `open(${form}+encodeURIComponent(location.href))`
    const bookmark = link.current
    bookmark?.setAttribute('href', `javascript:void ${encodeURIComponent(script)}`)
    bookmark?.addEventListener('click', say)
    return () => bookmark?.removeEventListener('click', say)
  }, [t])
  return (
    <li>
      <span className="who">
        <b>{t.connect.bookmark}</b>
        <span className="wrap">{t.connect.bookmarkHint}</span>
      </span>
      <a ref={link} className={buttonClass({ size: 'small' })} href="#bookmark">
        {t.connect.shorten}
      </a>
    </li>
  )
}
