import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { linkQuery } from '../../api/links.ts'
import { createAndCopy } from '../../shell/create-and-copy.ts'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { Page, useReturn } from '../../shell/Page.tsx'
import { useStartDomain } from '../../shell/use-domains.ts'
import { randomId } from '../../state/random-id.ts'
import { useText } from '../../text/use-text.ts'
import { focusWhenShown } from '../links/row-state.ts'
import { LinkForm } from './LinkForm.tsx'
import { copyOf, emptyDraft } from './link-draft.ts'

const route = getRouteApi('/shell/links/new')

export default function NewLinkPage() {
  const t = useText()
  const leave = useReturn()
  const start = useStartDomain()
  const search = route.useSearch()
  const { url = '', key = '', domain = start.host, from = '' } = search
  const isCopy = from !== ''
  const { data: original, error } = useQuery({ ...linkQuery(from), enabled: isCopy })
  // A create that is sent again, after an outage for example, makes no second link.
  const [requestId] = useState(randomId)
  return (
    <Page
      title={t.linkForm.newTitle}
      parent={<Link to="/links">{t.links.title}</Link>}
      actions={null}
      isFlush
    >
      {isCopy && original === undefined && error !== null && <LoadFailure error={error} />}
      {(isCopy ? original : domain) !== undefined && (
        <LinkForm
          key={JSON.stringify(search)}
          place={`new ${JSON.stringify(search)}`}
          start={
            original === undefined ? { ...emptyDraft(domain ?? ''), url, key } : copyOf(original)
          }
          link={undefined}
          save={(fields) => createAndCopy(fields, requestId, t)}
          onSaved={(link) => {
            start.remember(link.domain)
            focusWhenShown(link.id)
            leave()
          }}
          onCancel={leave}
        />
      )}
    </Page>
  )
}
