import type { RuleInput } from '@terse/contract/rules'
import type { PointerEvent } from 'react'
import { Icon } from '../../icons/Icon.tsx'
import {
  ArrowDownIcon,
  ArrowUpIcon,
  DuplicateIcon,
  GripIcon,
  MoreIcon,
  TrashIcon,
  WarningIcon,
} from '../../icons/index.ts'
import { Button } from '../../widgets/Button.tsx'
import { Field, Input } from '../../widgets/Field.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../widgets/Menu.tsx'
import { tip } from '../../widgets/Tips.tsx'
import { ConditionChips, type Errors, errorsBelow } from './ConditionChips.tsx'
import RuleSentence from './RuleSentence.tsx'
import type { RuleDraft } from './rule-draft.ts'
import { ThenFields } from './ThenFields.tsx'
import { useRuleLanguage } from './use-rule-language.ts'

export type RuleActs = {
  open(key: string, isOpen: boolean): void
  change(key: string, rule: RuleInput): void
  move(key: string, to: number): void
  duplicate(key: string): void
  remove(key: string): void
}

/** What the handle of a rule does while it is dragged. */
type Drag = {
  start(event: PointerEvent): void
  move(event: PointerEvent): void
  end(event: PointerEvent): void
}

type RuleItemProps = {
  readonly draft: RuleDraft
  /** From 0. */
  readonly place: number
  readonly total: number
  readonly isOpen: boolean
  readonly isReadOnly: boolean
  /** The place, from 1, of a rule before it that takes all of its visitors. */
  readonly coveredBy: number | undefined
  readonly errors: Errors
  /** How far it was dragged, in pixels; undefined while it stays. */
  readonly draggedBy: number | undefined
  /** On which side of it a dragged rule would be put. */
  readonly drop: 'above' | 'below' | undefined
  readonly drag: Drag
  readonly acts: RuleActs
}

/** A rule as a sentence; an open one has its controls below. */
export function RuleItem(props: RuleItemProps) {
  const { draft, place, total, isOpen, isReadOnly, coveredBy, errors } = props
  const { draggedBy, drop, drag, acts } = props
  const { w } = useRuleLanguage()
  const { key, rule } = draft
  const state = [
    isOpen && 'is-open',
    Object.keys(errors).length > 0 && 'is-bad',
    draggedBy !== undefined && 'is-lifted',
    drop !== undefined && `drop-${drop}`,
  ]
  const covered = coveredBy !== undefined && (
    <p className="covered">
      <Icon of={WarningIcon} small />
      {w.covered(coveredBy)}
    </p>
  )
  if (isReadOnly) {
    return (
      <li className="rule">
        <span className="no">{place + 1}</span>
        <div>
          <p className="sent">
            <RuleSentence rule={rule} />
          </p>
          {covered}
        </div>
      </li>
    )
  }
  return (
    <li
      className={['rule', ...state].filter(Boolean).join(' ')}
      style={draggedBy === undefined ? undefined : { transform: `translateY(${draggedBy}px)` }}
      onKeyDown={(event) => {
        const step = { ArrowUp: -1, ArrowDown: 1 }[event.key]
        // What floats over the page is a part of the rule to React only.
        const isWithin = event.currentTarget.contains(event.target as Node)
        if (!event.altKey || step === undefined || !isWithin) return
        event.preventDefault()
        acts.move(key, place + step)
      }}
    >
      <button
        type="button"
        className="grip"
        aria-label={w.handle(place + 1)}
        {...tip(w.handleHint)}
        onPointerDown={drag.start}
        onPointerMove={drag.move}
        onPointerUp={drag.end}
        onPointerCancel={drag.end}
      >
        <Icon of={GripIcon} small />
      </button>
      <span className="no">{place + 1}</span>
      <div className="rule-b">
        <button
          type="button"
          className="sent"
          aria-expanded={isOpen}
          onClick={() => acts.open(key, !isOpen)}
        >
          <RuleSentence rule={rule} />
        </button>
        {covered}
        {isOpen && (
          <RuleFields
            rule={rule}
            place={place + 1}
            errors={errors}
            onChange={(changed) => acts.change(key, changed)}
            onDone={() => acts.open(key, false)}
          />
        )}
      </div>
      <RuleMenu place={place} total={total} ruleKey={key} acts={acts} />
    </li>
  )
}

type RuleFieldsProps = {
  readonly rule: RuleInput
  /** From 1. */
  readonly place: number
  readonly errors: Errors
  readonly onChange: (rule: RuleInput) => void
  readonly onDone: () => void
}

function RuleFields({ rule, place, errors, onChange, onDone }: RuleFieldsProps) {
  const { w } = useRuleLanguage()
  const { name = '', ...unnamed } = rule
  return (
    <>
      <ConditionChips
        when={rule.when}
        errors={errors}
        onChange={(when) => onChange({ ...rule, when })}
      />
      <ThenFields
        place={place}
        then={rule.then}
        errors={errors}
        onChange={(target) => onChange({ ...rule, then: target })}
      />
      <div className="rule-foot">
        <Field label={w.name} errors={errorsBelow(errors, 'name')}>
          {(control) => (
            <Input
              {...control}
              value={name}
              onChange={({ target }) =>
                onChange(target.value === '' ? unnamed : { ...rule, name: target.value })
              }
            />
          )}
        </Field>
        <Button size="small" onClick={onDone}>
          {w.done}
        </Button>
      </div>
    </>
  )
}

type RuleMenuProps = {
  readonly place: number
  readonly total: number
  readonly ruleKey: string
  readonly acts: RuleActs
}

function RuleMenu({ place, total, ruleKey, acts }: RuleMenuProps) {
  const { w } = useRuleLanguage()
  const trigger = (
    <button type="button" className="ib" aria-label={w.actions(place + 1)}>
      <Icon of={MoreIcon} />
    </button>
  )
  return (
    <Menu trigger={trigger}>
      <MenuItem icon={DuplicateIcon} onSelect={() => acts.duplicate(ruleKey)}>
        {w.duplicate}
      </MenuItem>
      {place > 0 && (
        <MenuItem icon={ArrowUpIcon} onSelect={() => acts.move(ruleKey, place - 1)}>
          {w.moveUp}
        </MenuItem>
      )}
      {place < total - 1 && (
        <MenuItem icon={ArrowDownIcon} onSelect={() => acts.move(ruleKey, place + 1)}>
          {w.moveDown}
        </MenuItem>
      )}
      <MenuSeparator />
      <MenuItem icon={TrashIcon} isDangerous onSelect={() => acts.remove(ruleKey)}>
        {w.remove}
      </MenuItem>
    </Menu>
  )
}
