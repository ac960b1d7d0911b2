import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { Rule } from '@terse/contract/rules'
import { useState } from 'react'
import { LINKS_KEY, linkQuery } from '../../api/links.ts'
import { copyRules, rulesQuery } from '../../api/rules.ts'
import { createAndCopy } from '../../shell/create-and-copy.ts'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { Page, useReturn } from '../../shell/Page.tsx'
import { useStartDomain } from '../../shell/use-domains.ts'
import { useChange } from '../../shell/use-faults.ts'
import { randomId } from '../../state/random-id.ts'
import { useText } from '../../text/use-text.ts'
import { focusWhenShown } from '../links/row-state.ts'
import { LinkForm } from './LinkForm.tsx'
import { copyOf, emptyDraft } from './link-draft.ts'

/** The first address in what another app shares, or nothing. */
function addressIn(text = ''): string {
  return /https?:\/\/\S+/.exec(text)?.[0] ?? ''
}

const route = getRouteApi('/shell/links/new')

export default function NewLinkPage() {
  const t = useText()
  const leave = useReturn()
  const start = useStartDomain()
  const search = route.useSearch()
  const { url = addressIn(search.text), key = '', domain = start.host, from = '' } = search
  const isCopy = from !== ''
  const { data: original, error } = useQuery({ ...linkQuery(from), enabled: isCopy })
  const rule_set = original?.options.rule_set ?? null
  const copied = original && t.linkForm.copies(original.rule_count, rule_set !== null)
  const hasRules = original !== undefined && original.rule_count > 0
  const { data: ofOriginal, error: rulesError } = useQuery({
    ...rulesQuery(from),
    enabled: hasRules,
  })
  const failure = original === undefined ? error : ofOriginal === undefined ? rulesError : null
  // The new link is there by then: what is wrong with its rules is said, and they can be made there.
  const { mutate: copyTo } = useChange(
    ({ rules: copied, linkId }: { rules: readonly Rule[]; linkId: string }) =>
      copyRules(copied, linkId),
    { keys: [LINKS_KEY] },
  )
  // A create that is sent again, after an outage for example, makes no second link.
  const [requestId] = useState(randomId)
  return (
    <Page
      title={t.linkForm.newTitle}
      parent={<Link to="/links">{t.links.title}</Link>}
      actions={null}
      isFlush
    >
      {isCopy && failure !== null && <LoadFailure error={failure} />}
      {(isCopy ? original : domain) !== undefined && (!hasRules || ofOriginal !== undefined) && (
        <LinkForm
          key={JSON.stringify(search)}
          place={`new ${JSON.stringify(search)}`}
          start={
            original === undefined ? { ...emptyDraft(domain ?? ''), url, key } : copyOf(original)
          }
          link={undefined}
          note={copied && <p className="hint">{copied}</p>}
          save={(fields) =>
            createAndCopy(rule_set === null ? fields : { ...fields, rule_set }, requestId, t)
          }
          onSaved={(link) => {
            if (ofOriginal !== undefined) copyTo({ rules: ofOriginal.rules, linkId: link.id })
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
