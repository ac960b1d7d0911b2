import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { LINKS_KEY, linkQuery } from '../../api/links.ts'
import { markOfLink } from '../../api/managed.ts'
import { RULE_SETS_KEY } from '../../api/rule-sets.ts'
import { editedRulesQuery, type LinkRules, saveLinkRules } from '../../api/rules.ts'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { ManagedNote } from '../../shell/ManagedNote.tsx'
import { Page, useReturn } from '../../shell/Page.tsx'
import { useMembership } from '../../shell/use-membership.ts'
import { useText } from '../../text/use-text.ts'
import { showMessage } from '../../widgets/Toasts.tsx'
import { type Edited, RulesForm } from './RulesForm.tsx'
import { useRuleLanguage } from './use-rule-language.ts'

const route = getRouteApi('/shell/links/$linkId/rules')

/** The rules of a link and the set that it uses beside them, which are saved together. */
export default function RulesPage() {
  const t = useText()
  const { w } = useRuleLanguage()
  const { may } = useMembership()
  const client = useQueryClient()
  const { linkId } = route.useParams()
  const leave = useReturn(linkId)
  const { data: link } = useQuery(linkQuery(linkId))
  const { data: edited, error, refetch } = useQuery(editedRulesQuery(linkId))
  const parent = (
    <Link to="/links/$linkId" params={{ linkId }}>
      {link === undefined ? t.links.title : `${link.domain}/${link.key}`}
    </Link>
  )
  return (
    <Page title={w.title} parent={parent} actions={null} isFlush>
      {edited === undefined && error !== null && <LoadFailure error={error} />}
      {edited !== undefined && (
        <RulesForm
          key={edited.version}
          place={`rules ${linkId}`}
          linkId={linkId}
          link={link}
          note={(version, continueWith) =>
            link && (
              <ManagedNote
                of={markOfLink(link)}
                kind="link"
                path={`/links/${linkId}`}
                version={version}
                mayRelease={may('member')}
                keys={[LINKS_KEY]}
                onReleased={continueWith}
              />
            )
          }
          saved={edited.value}
          version={edited.version}
          save={(sent, options) => saveLinkRules(linkId, changesOf(edited.value, sent), options)}
          onReload={() => void refetch()}
          onSaved={async () => {
            void client.invalidateQueries({ queryKey: RULE_SETS_KEY })
            await client.invalidateQueries({ queryKey: LINKS_KEY })
            showMessage(w.saved)
            leave()
          }}
          onCancel={leave}
        />
      )}
    </Page>
  )
}

/** What is sent: the rules, unless only the set was changed; and the set, if it was. */
function changesOf(saved: LinkRules, { rules, ruleSet }: Edited) {
  if (ruleSet === saved.ruleSet) return { rules }
  const areSame = JSON.stringify(rules) === JSON.stringify(saved.rules)
  return areSame ? { ruleSet } : { rules, ruleSet }
}
