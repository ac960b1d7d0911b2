import { useMembership } from '../../shell/use-membership.ts'
import { useText } from '../../text/use-text.ts'
import { Section } from '../settings/Section.tsx'
import { Assistants } from './Assistants.tsx'
import { InBrowser } from './InBrowser.tsx'
import { Services } from './Services.tsx'
import { Tokens } from './Tokens.tsx'
import './connect.css'

/** How programs, and assistants in the name of people, reach the workspace. */
export default function ConnectPage() {
  const t = useText()
  const { membership, may } = useMembership()
  if (membership === undefined) return null
  return (
    <>
      <Section
        title={t.settings.pages.connect}
        hint={t.connect.hint(membership.workspace_title)}
        isFirst
      />
      {may('admin') && <Tokens />}
      <Assistants />
      {may('admin') && <Services />}
      <InBrowser />
    </>
  )
}
