import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type RuleSet, ruleSetsQuery } from '../../api/rule-sets.ts'
import { Icon } from '../../icons/Icon.tsx'
import { AddIcon, DuplicateIcon, MoreIcon, RuleSetIcon, TrashIcon } from '../../icons/index.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Skeleton } from '../../widgets/Loading.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../widgets/Menu.tsx'
import RuleSentence from './RuleSentence.tsx'
import { useRuleLanguage } from './use-rule-language.ts'

const SHOWN_MAX = 3

type RuleSetRowProps = {
  readonly id: string
  readonly isReadOnly: boolean
  /** Puts its rules among those of the link, in its place. */
  readonly onCopy: (set: RuleSet) => void
  readonly onRemove: () => void
}

/** The set that a link uses, after its own rules: referenced, and not edited here. */
export function RuleSetRow({ id, isReadOnly, onCopy, onRemove }: RuleSetRowProps) {
  const { w } = useRuleLanguage()
  const { data: sets } = useQuery(ruleSetsQuery)
  const set = sets?.find((one) => one.id === id)
  const trigger = (
    <button type="button" className="ib" aria-label={w.set.actions}>
      <Icon of={MoreIcon} />
    </button>
  )
  return (
    <li className="rule is-set">
      <span className="no">
        <Icon of={RuleSetIcon} small />
      </span>
      <div>
        {sets === undefined ? (
          <p className="sent">
            <Skeleton width={160} />
          </p>
        ) : (
          <p className="sent">
            {set === undefined ? w.set.unknown : w.set.title} <b>{set?.name}</b>
          </p>
        )}
        {set !== undefined && <Summary set={set} isReadOnly={isReadOnly} />}
      </div>
      {!isReadOnly && (
        <Menu trigger={trigger}>
          {set !== undefined && (
            <>
              <MenuItem icon={DuplicateIcon} onSelect={() => onCopy(set)}>
                {w.set.copy}
              </MenuItem>
              <MenuSeparator />
            </>
          )}
          <MenuItem icon={TrashIcon} isDangerous onSelect={onRemove}>
            {w.set.remove}
          </MenuItem>
        </Menu>
      )}
    </li>
  )
}

type SummaryProps = { readonly set: RuleSet; readonly isReadOnly: boolean }

function Summary({ set: { id, rules, used_by }, isReadOnly }: SummaryProps) {
  const t = useText()
  const { w } = useRuleLanguage()
  const more = rules.length - SHOWN_MAX
  return (
    <>
      {rules.slice(0, SHOWN_MAX).map((rule) => (
        <p className="sent" key={rule.id}>
          <RuleSentence rule={rule} />
        </p>
      ))}
      {more > 0 && <p className="sent">{w.set.more(more)}</p>}
      <p className="hint">
        {rules.length === 0 && `${w.set.noRules} `}
        {t.ruleSets.usedBy(used_by.links, used_by.domains)}.{' '}
        <Link className="link" to="/settings/rule-sets/$setId" params={{ setId: id }}>
          {isReadOnly ? w.set.show : w.set.edit}
        </Link>
      </p>
    </>
  )
}

/** Chooses the set of a link that has none. */
export function AddRuleSet({ onChoose }: { readonly onChoose: (id: string) => void }) {
  const { w } = useRuleLanguage()
  const { data: sets = [] } = useQuery(ruleSetsQuery)
  const trigger = (
    <Button look="bare" icon={RuleSetIcon}>
      {w.set.title}
    </Button>
  )
  return (
    <Menu trigger={trigger} align="start">
      {sets.map(({ id, name }) => (
        <MenuItem key={id} icon={RuleSetIcon} onSelect={() => onChoose(id)}>
          {name}
        </MenuItem>
      ))}
      {sets.length > 0 && <MenuSeparator />}
      <MenuItem icon={AddIcon} render={<Link to="/settings/rule-sets" />}>
        {w.set.none}
      </MenuItem>
    </Menu>
  )
}
