import type { Conditions, When } from '@terse/contract/rules'
import { useId, useRef, useState } from 'react'
import { Icon } from '../../icons/Icon.tsx'
import { AddIcon, AlertIcon, CloseIcon } from '../../icons/index.ts'
import { useText } from '../../text/use-text.ts'
import { IconButton } from '../../widgets/Button.tsx'
import { FilterChip } from '../../widgets/Chip.tsx'
import { useFaultReport } from '../../widgets/Field.tsx'
import { Menu, MenuGroup, MenuItem, Popover } from '../../widgets/Menu.tsx'
import { SegmentedControl } from '../../widgets/SegmentedControl.tsx'
import { QueryForm, TimeForm } from './ConditionForms.tsx'
import { Sentence } from './RuleSentence.tsx'
import {
  type Condition,
  conditionIn,
  conditionsOf,
  emptyCondition,
  type Kind,
  withCondition,
} from './rule-draft.ts'
import { anySentence, partsOf, valuesText } from './sentence.ts'
import { useRuleLanguage } from './use-rule-language.ts'
import { ValuePicker } from './ValuePicker.tsx'

/** The conditions by what they are about, as the menu lists them. */
const GROUPS = [
  ['who', ['country', 'region', 'city', 'device', 'os', 'browser', 'language']],
  ['how', ['label', 'query', 'referrer', 'qr']],
  ['when', ['time']],
  ['other', ['address', 'bot']],
] as const

export type Errors = Readonly<Record<string, readonly string[]>>

type ConditionChipsProps = {
  readonly when: When
  readonly errors: Errors
  readonly onChange: (when: When) => void
}

/** A chip for each condition, and a menu of those that can be added. */
export function ConditionChips({ when, errors, onChange }: ConditionChipsProps) {
  const language = useRuleLanguage()
  const { w } = language
  const [added, setAdded] = useState<Kind>()
  const conditions = conditionsOf(when)
  const { any } = when
  return (
    <>
      <div className="conds">
        {conditions.map((condition) => (
          <ConditionChip
            key={`${condition.isNot} ${condition.kind}`}
            condition={condition}
            when={when}
            errors={errorsBelow(errors, pathOf(condition))}
            isAdded={condition.kind === added && !condition.isNot}
            onChange={onChange}
          />
        ))}
        <AddCondition
          taken={conditions}
          onAdd={(kind) => {
            setAdded(kind)
            onChange(withCondition(when, { kind, isNot: false }, emptyCondition(kind)))
          }}
        />
      </div>
      {any !== undefined && (
        <p className="conds-any">
          <span>
            <Sentence text={anySentence(any, language)} />
          </span>
          <IconButton
            icon={CloseIcon}
            label={w.removeCondition(w.anyOf)}
            onClick={() => {
              const { any: _, ...rest } = when
              onChange(rest)
            }}
          />
        </p>
      )}
    </>
  )
}

function pathOf({ kind, isNot }: Condition): string {
  return isNot ? `when.not.${kind}` : `when.${kind}`
}

/** What is wrong with a value or with one within it. */
export function errorsBelow(errors: Errors, path: string): readonly string[] {
  const below = Object.entries(errors).filter(
    ([field]) => field === path || field.startsWith(`${path}.`),
  )
  return [...new Set(below.flatMap(([, texts]) => texts))]
}

type ErrorTextProps = { readonly id: string; readonly errors: readonly string[] }

/** What is wrong with a control that is no `Field`, and names this text by `aria-describedby`. */
export function ErrorText({ id, errors }: ErrorTextProps) {
  const t = useText()
  useFaultReport(id, errors.length > 0, t.common.problems)
  if (errors.length === 0) return null
  return (
    <p className="err" id={id}>
      <Icon of={AlertIcon} />
      <span>{errors.join(' ')}</span>
    </p>
  )
}

type ConditionChipProps = {
  readonly condition: Condition
  readonly when: When
  readonly errors: readonly string[]
  /** Whether it was just added: its values are asked for at once. */
  readonly isAdded: boolean
  readonly onChange: (when: When) => void
}

function ConditionChip({ condition, when, errors, isAdded, onChange }: ConditionChipProps) {
  const id = useId()
  const { w } = useRuleLanguage()
  const { kind, isNot } = condition
  const name = isNot ? w.isNotKind(w.kinds[kind]) : w.kinds[kind]
  const values = useValueNames(condition, when)
  const isBad = errors.length > 0
  return (
    <span className={isBad ? 'cond is-bad' : 'cond'}>
      <FilterChip
        name={name}
        values={values}
        removeLabel={w.removeCondition(name)}
        opener={{ 'aria-invalid': isBad || undefined, 'aria-describedby': isBad ? id : undefined }}
        onRemove={() => onChange(withCondition(when, condition, undefined))}
        layer={(trigger) => (
          <Popover trigger={trigger} label={name} isOpenAtFirst={isAdded}>
            {(close) => (
              <ConditionForm condition={condition} when={when} onChange={onChange} onDone={close} />
            )}
          </Popover>
        )}
      />
      <ErrorText id={id} errors={errors} />
    </span>
  )
}

function useValueNames(condition: Condition, when: When): readonly string[] {
  const language = useRuleLanguage()
  const { kind } = condition
  const value = conditionIn(when, condition)
  if (kind === 'qr' || kind === 'bot') return [value ? language.w.yes : language.w.no]
  if (kind === 'query' || kind === 'time') {
    const text = valuesText(kind, { [kind]: value }, language)
    const plain = partsOf(text).map((part) => part.text)
    return [plain.join('') || language.w.nothingChosen]
  }
  const words = conditionIn(when, { kind, isNot: condition.isNot }) ?? []
  if (words.length === 0) return [language.w.nothingChosen]
  return words.map((word) => language.valueName(kind, word))
}

type ConditionFormProps = Pick<ConditionChipProps, 'condition' | 'when' | 'onChange'> & {
  readonly onDone: () => void
}

/** Whether the condition must hold or must not, and its values. */
function ConditionForm({ condition, when, onChange, onDone }: ConditionFormProps) {
  const { w } = useRuleLanguage()
  const { kind, isNot } = condition
  const set = (value: Conditions[Kind]) => onChange(withCondition(when, condition, value))
  const isFlag = kind === 'qr' || kind === 'bot'
  const flag = isFlag && conditionIn(when, condition) === true
  const isOtherTaken = conditionIn(when, { kind, isNot: !isNot }) !== undefined
  function choose(wanted: 'is' | 'isNot') {
    if (isFlag) set(wanted === 'is')
    else if ((wanted === 'isNot') !== isNot) {
      const value = conditionIn(when, condition)
      const without = withCondition(when, condition, undefined)
      onChange(withCondition<Kind>(without, { kind, isNot: !isNot }, value))
    }
  }
  const chosen = (isFlag ? flag : !isNot) ? 'is' : 'isNot'
  return (
    <>
      {kind === 'query' && (
        <QueryForm
          value={conditionIn(when, { kind, isNot }) ?? []}
          onChange={set}
          onDone={onDone}
        />
      )}
      {kind === 'time' && (
        <TimeForm value={conditionIn(when, { kind, isNot }) ?? []} onChange={set} onDone={onDone} />
      )}
      {kind !== 'query' && kind !== 'time' && kind !== 'qr' && kind !== 'bot' && (
        <ValuePicker
          kind={kind}
          value={conditionIn(when, { kind, isNot }) ?? []}
          onChange={(values) => set(values as Conditions[Kind])}
          onDone={onDone}
        />
      )}
      {(isFlag || !isOtherTaken) && (
        <div className="is-or-not">
          <SegmentedControl
            label={w.kinds[kind]}
            value={chosen}
            choices={
              isFlag
                ? [
                    ['is', w.yes],
                    ['isNot', w.no],
                  ]
                : [
                    ['is', w.is],
                    ['isNot', w.isNot],
                  ]
            }
            onChange={choose}
          />
        </div>
      )}
    </>
  )
}

type AddConditionProps = {
  readonly taken: readonly Condition[]
  readonly onAdd: (kind: Kind) => void
}

function AddCondition({ taken, onAdd }: AddConditionProps) {
  const { w } = useRuleLanguage()
  const isAdding = useRef(false)
  const isFree = (kind: Kind) => !taken.some((one) => one.kind === kind)
  const groups = GROUPS.map(([group, kinds]) => [group, kinds.filter(isFree)] as const)
  const trigger = (
    <button type="button" className="chip add">
      <Icon of={AddIcon} />
      {w.condition}
    </button>
  )
  return (
    <Menu
      trigger={trigger}
      align="start"
      // What asks for the values of a condition takes the focus.
      finalFocus={() => {
        const returns = !isAdding.current
        isAdding.current = false
        return returns
      }}
    >
      {groups.map(
        ([group, kinds]) =>
          kinds.length > 0 && (
            <MenuGroup key={group} label={w.conditionGroups[group]}>
              {kinds.map((kind) => (
                <MenuItem
                  key={kind}
                  onSelect={() => {
                    isAdding.current = true
                    onAdd(kind)
                  }}
                >
                  {w.kinds[kind]}
                  <span className="eg">{w.examples[kind]}</span>
                </MenuItem>
              ))}
            </MenuGroup>
          ),
      )}
    </Menu>
  )
}
