import { SoloPage } from '../../shell/SoloPage.tsx'
import { useText } from '../../text/use-text.ts'

/** Where a sign-in of the browser extension ends. The extension takes the answer from the address, and closes the page. */
export default function ExtensionPage() {
  const words = useText().connect.extension
  const isAllowed = new URLSearchParams(location.hash.slice(1)).has('code')
  return (
    <SoloPage title={words.title} heading={isAllowed ? words.answered : words.notAllowed}>
      <p className="muted">{words.stays}</p>
    </SoloPage>
  )
}
