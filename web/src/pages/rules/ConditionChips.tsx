import type { Conditions, When } from '@terse/contract/rules'
import { useId, useRef, useState } from 'react'
import { Icon } from '../../icons/Icon.tsx'
import { AddIcon, AlertIcon, CloseIcon } from '../../icons/index.ts'
import { useText } from '../../text/use-text.ts'
import { IconButton } from '../../widgets/Button.tsx'
import { FilterChip } from '../../widgets/Chip.tsx'
import { useFaultReport } from '../../widgets/Field.tsx'
import { Menu, MenuGroup, MenuItem, MenuSeparator, Popover } from '../../widgets/Menu.tsx'
import { SegmentedControl } from '../../widgets/SegmentedControl.tsx'
import { QueryForm, TimeForm } from './ConditionForms.tsx'
import {
  type Condition,
  conditionIn,
  conditionsOf,
  emptyCondition,
  type Kind,
  withCondition,
} from './rule-draft.ts'
import { partsOf, valuesText } from './sentence.ts'
import { useRuleLanguage } from './use-rule-language.ts'
import { ValuePicker } from './ValuePicker.tsx'

/** The conditions by what they are about, as the menu lists them. */
const GROUPS = [
  ['who', ['country', 'region', 'city', 'device', 'os', 'browser', 'language']],
  ['how', ['label', 'query', 'referrer', 'qr']],
  ['when', ['time']],
  ['other', ['address', 'bot']],
] as const

const GROUPS_MAX = 20

export type Errors = Readonly<Record<string, readonly string[]>>

type ConditionChipsProps = {
  readonly when: When
  readonly errors: Errors
  readonly onChange: (when: When) => void
}

/** A chip for each condition, a menu of those that can be added, and groups of which one must hold. */
export function ConditionChips({ when, errors, onChange }: ConditionChipsProps) {
  const { any = [], ...rest } = when
  const setGroups = (groups: readonly Conditions[]) =>
    onChange(groups.length === 0 ? rest : { ...rest, any: [...groups] })
  return (
    <>
      <ChipRow
        when={when}
        at="when"
        errors={errors}
        onChange={onChange}
        onAddGroup={any.length === 0 ? () => setGroups([{}]) : undefined}
      />
      {any.length > 0 && <AnyGroups groups={any} errors={errors} onChange={setGroups} />}
    </>
  )
}

type AnyGroupsProps = {
  readonly groups: readonly Conditions[]
  readonly errors: Errors
  readonly onChange: (groups: readonly Conditions[]) => void
}

/** Groups of conditions, all of at least one of which must hold. */
function AnyGroups({ groups, errors, onChange }: AnyGroupsProps) {
  const id = useId()
  const { w } = useRuleLanguage()
  return (
    <fieldset className="conds-any">
      <legend className="hint">{w.anyOf}</legend>
      {groups.map((group, nth) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a group is known by its place
        <fieldset key={nth} className="any-group" aria-label={w.group(nth + 1)}>
          <span className="joint">{nth > 0 && w.or}</span>
          <ChipRow
            when={group}
            at={`when.any.${nth}`}
            errors={errors}
            onChange={(changed) => onChange(groups.with(nth, changed))}
          />
          <IconButton
            small
            icon={CloseIcon}
            label={w.removeGroup(nth + 1)}
            onClick={() => onChange(groups.toSpliced(nth, 1))}
          />
        </fieldset>
      ))}
      {groups.length < GROUPS_MAX && (
        <button type="button" className="chip add" onClick={() => onChange([...groups, {}])}>
          <Icon of={AddIcon} />
          {w.addGroup}
        </button>
      )}
      <ErrorText id={id} errors={errors['when.any'] ?? []} />
    </fieldset>
  )
}

type ChipRowProps = {
  /** A whole rule's, or those of one group. */
  readonly when: When
  /** Its path below the rule. */
  readonly at: string
  readonly errors: Errors
  readonly onChange: (when: When) => void
  /** Adds a first group; undefined where a rule has some, and within one. */
  readonly onAddGroup?: (() => void) | undefined
}

function ChipRow({ when, at, errors, onChange, onAddGroup }: ChipRowProps) {
  const id = useId()
  const [added, setAdded] = useState<Kind>()
  const conditions = conditionsOf(when)
  return (
    <div className="conds">
      {conditions.map((condition) => (
        <ConditionChip
          key={`${condition.isNot} ${condition.kind}`}
          condition={condition}
          when={when}
          errors={errorsBelow(errors, pathOf(condition, at))}
          isAdded={condition.kind === added && !condition.isNot}
          canBeNot={at === 'when'}
          onChange={onChange}
        />
      ))}
      <AddCondition
        taken={conditions}
        onAddGroup={onAddGroup}
        onAdd={(kind) => {
          setAdded(kind)
          onChange(withCondition(when, { kind, isNot: false }, emptyCondition(kind)))
        }}
      />
      {at !== 'when' && <ErrorText id={id} errors={errors[at] ?? []} />}
    </div>
  )
}

function pathOf({ kind, isNot }: Condition, at: string): string {
  return isNot ? `${at}.not.${kind}` : `${at}.${kind}`
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
  /** Whether it may be one that must not hold. */
  readonly canBeNot: boolean
  readonly onChange: (when: When) => void
}

function ConditionChip(props: ConditionChipProps) {
  const { condition, when, errors, isAdded, canBeNot, onChange } = props
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
              <ConditionForm
                condition={condition}
                when={when}
                canBeNot={canBeNot}
                onChange={onChange}
                onDone={close}
              />
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

type ConditionFormProps = Pick<
  ConditionChipProps,
  'condition' | 'when' | 'canBeNot' | 'onChange'
> & {
  readonly onDone: () => void
}

/** Whether the condition must hold or must not, and its values. */
function ConditionForm({ condition, when, canBeNot, onChange, onDone }: ConditionFormProps) {
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
      {(isFlag || (canBeNot && !isOtherTaken)) && (
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
  readonly onAddGroup: (() => void) | undefined
}

function AddCondition({ taken, onAdd, onAddGroup }: AddConditionProps) {
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
      {onAddGroup !== undefined && (
        <>
          <MenuSeparator />
          <MenuItem onSelect={onAddGroup}>
            {w.anyOf}
            <span className="eg">{w.or}</span>
          </MenuItem>
        </>
      )}
    </Menu>
  )
}
