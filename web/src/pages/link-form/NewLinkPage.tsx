import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { createLink } from '../../api/links.ts'
import { Page } from '../../shell/Page.tsx'
import { useServiceHost } from '../../shell/use-service-host.ts'
import { randomId } from '../../state/random-id.ts'
import { useText } from '../../text/use-text.ts'
import { copyText } from '../../widgets/CopyButton.tsx'
import { showMessage } from '../../widgets/toasts.ts'
import { LinkForm } from './LinkForm.tsx'
import { emptyDraft } from './link-draft.ts'

const route = getRouteApi('/shell/links/new')

export default function NewLinkPage() {
  const t = useText()
  const navigate = useNavigate()
  const ownHost = useServiceHost()
  const { url = '', key = '', domain = ownHost } = route.useSearch()
  // A create that is sent again, after an outage for example, makes no second link.
  const [requestId] = useState(randomId)
  return (
    <Page
      title={t.linkForm.newTitle}
      parent={<Link to="/links">{t.links.title}</Link>}
      actions={null}
      isFlush
    >
      <LinkForm
        start={{ ...emptyDraft(domain), url, key }}
        link={undefined}
        save={(fields) => createLink(fields, requestId)}
        onSaved={async (link) => {
          const isCopied = await copyText(link.link)
          showMessage(isCopied ? t.linkForm.created : t.linkForm.createdOnly)
          await navigate({ to: '/links' })
        }}
      />
    </Page>
  )
}
