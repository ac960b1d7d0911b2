import { useLayoutEffect, useRef } from 'react'
import { useText } from '../../text/use-text.ts'
import { buttonClass } from '../../widgets/Button.tsx'
import { showMessage } from '../../widgets/Toasts.tsx'
import { Section } from '../settings/Section.tsx'

/** A bookmark that opens the form of a new link with the address of the page on which it is clicked. */
export function Bookmarklet() {
  const t = useText()
  const link = useRef<HTMLAnchorElement>(null)
  // React refuses such an address. Here it is dragged, and a click only says so.
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
    <Section title={t.connect.browser} hint={t.connect.browserHint}>
      <ul className="rows">
        <li>
          <span className="who">
            <b>{t.connect.bookmark}</b>
            <span className="wrap">{t.connect.bookmarkHint}</span>
          </span>
          <a ref={link} className={buttonClass({ size: 'small' })} href="#bookmark">
            {t.connect.shorten}
          </a>
        </li>
      </ul>
    </Section>
  )
}
