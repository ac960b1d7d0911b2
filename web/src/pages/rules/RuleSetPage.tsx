import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import {
  editedRuleSetQuery,
  RULE_SETS_KEY,
  type RuleSet,
  replaceRulesOfSet,
} from '../../api/rule-sets.ts'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { ManagedNote } from '../../shell/ManagedNote.tsx'
import { Page } from '../../shell/Page.tsx'
import { useMembership } from '../../shell/use-membership.ts'
import { useText } from '../../text/use-text.ts'
import { showMessage } from '../../widgets/Toasts.tsx'
import { RulesForm } from './RulesForm.tsx'
import { useRuleLanguage } from './use-rule-language.ts'

const route = getRouteApi('/shell/settings/rule-sets/$setId')

/** The rules of a set. */
export default function RuleSetPage() {
  const t = useText()
  const { w } = useRuleLanguage()
  const { may } = useMembership()
  const client = useQueryClient()
  const navigate = useNavigate()
  const { setId } = route.useParams()
  const { data: edited, error, refetch } = useQuery(editedRuleSetQuery(setId))
  const leave = () => void navigate({ to: '/settings/rule-sets' })
  const parent = <Link to="/settings/rule-sets">{t.settings.pages.ruleSets}</Link>
  return (
    <Page title={edited?.value.name ?? w.set.title} parent={parent} actions={null} isFlush>
      {edited === undefined && error !== null && <LoadFailure error={error} />}
      {edited !== undefined && (
        <RulesForm
          key={edited.version}
          place={`rule set ${setId}`}
          note={(version, continueWith) => (
            <ManagedNote
              of={edited.value}
              kind="ruleSet"
              path={`/rule-sets/${setId}`}
              version={version}
              mayRelease={may('member')}
              keys={[RULE_SETS_KEY]}
              onReleased={continueWith}
            />
          )}
          intro={<SetIntro set={edited.value} />}
          saved={{ rules: edited.value.rules, ruleSet: null }}
          version={edited.version}
          save={({ rules }, { version }) => replaceRulesOfSet(setId, rules, version)}
          onReload={() => void refetch()}
          onSaved={() => {
            void client.invalidateQueries({ queryKey: RULE_SETS_KEY })
            showMessage(w.saved)
            leave()
          }}
          onCancel={leave}
        />
      )}
    </Page>
  )
}

function SetIntro({ set: { used_by } }: { readonly set: RuleSet }) {
  const t = useText()
  const { w } = useRuleLanguage()
  return (
    <>
      {t.ruleSets.usedBy(used_by.links, used_by.domains)}. {w.set.intro}
    </>
  )
}
