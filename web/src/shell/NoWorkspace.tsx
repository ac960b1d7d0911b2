import { useText } from '../text/use-text.ts'
import { Page } from './Page.tsx'

/** In place of a page of a workspace, for a person who is in none. */
export default function NoWorkspace() {
  const t = useText()
  return (
    <Page title={t.shell.workspace} actions={null}>
      <p className="note">{t.shell.noWorkspace}</p>
    </Page>
  )
}
