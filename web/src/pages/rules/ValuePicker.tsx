import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { Icon } from '../../icons/Icon.tsx'
import { SearchIcon } from '../../icons/index.ts'
import { useText } from '../../text/use-text.ts'
import type { ListKind } from './rule-words.ts'
import { useRuleLanguage } from './use-rule-language.ts'

/** The kinds whose values may be typed. */
const TYPED: ReadonlySet<ListKind> = new Set([
  ...(['region', 'city', 'language', 'referrer', 'address', 'label'] as const),
])

type ValuePickerProps = {
  readonly kind: ListKind
  readonly value: readonly string[]
  readonly onChange: (values: readonly string[]) => void
  readonly onDone: () => void
}

type Option = { readonly value: string; readonly name: string }

/** Values, of which one suffices. The focus stays in the field: arrow keys move, Space or Enter chooses. */
export function ValuePicker({ kind, value, onChange, onDone }: ValuePickerProps) {
  const t = useText()
  const { w } = useRuleLanguage()
  const id = useId()
  const [typed, setTyped] = useState('')
  const [place, setPlace] = useState(0)
  const options = useOptions(kind, value, typed)
  const at = Math.min(place, options.length - 1)
  const current = options[at]
  const list = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is current is in the document
  useEffect(() => {
    list.current?.querySelector('.is-at')?.scrollIntoView({ block: 'nearest' })
  }, [at])

  function toggle(one: string) {
    onChange(value.includes(one) ? value.filter((other) => other !== one) : [...value, one])
    setTyped('')
    setPlace(0)
  }
  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      setPlace((at + step + options.length) % Math.max(1, options.length))
    } else if (event.key === 'Enter' && typed === '') onDone()
    else if (event.key === 'Enter' || (event.key === ' ' && !TYPED.has(kind))) {
      if (current !== undefined) toggle(current.value)
    } else return
    event.preventDefault()
  }

  return (
    <>
      <div className="q">
        <Icon of={SearchIcon} small />
        <input
          role="combobox"
          aria-expanded
          aria-controls={id}
          aria-activedescendant={current === undefined ? undefined : `${id}-${at}`}
          aria-label={w.find}
          placeholder={w.find}
          autoCapitalize="none"
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value)
            setPlace(0)
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div
        ref={list}
        className="pick-l"
        id={id}
        role="listbox"
        aria-multiselectable
        aria-label={w.kinds[kind]}
      >
        {options.map((option, nth) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the field has the focus, and names the current choice
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
          <div
            key={option.value}
            id={`${id}-${nth}`}
            role="option"
            aria-selected={value.includes(option.value)}
            className={nth === at ? 'is-at' : ''}
            onPointerMove={() => setPlace(nth)}
            onClick={() => toggle(option.value)}
          >
            <span className={value.includes(option.value) ? 'cb is-on' : 'cb'} aria-hidden />
            <span className="cut">{option.name}</span>
            <span>{isCode(kind, option) && option.value}</span>
          </div>
        ))}
      </div>
      <div className="f">
        <span className="desk">
          <kbd>{TYPED.has(kind) ? '↵' : t.links.space}</kbd> {t.links.choose}
        </span>
        <button type="button" className="link" onClick={onDone}>
          {w.done}
        </button>
      </div>
    </>
  )
}

/** Whether a value has a code that people know, as countries and languages have. */
function isCode(kind: ListKind, { value, name }: Option): boolean {
  return kind === 'country' ? /^[A-Z]{2}$/.test(value) : kind === 'language' && value !== name
}

/** What is offered for what was typed: the chosen first, then those that have the text in their name. */
function useOptions(kind: ListKind, value: readonly string[], typed: string): readonly Option[] {
  const language = useRuleLanguage()
  // What was chosen when it was opened stays in its place.
  const [first] = useState(value)
  const known = [...new Set([...first, ...value, ...language.values(kind)])]
  const text = typed.trim()
  const folded = text.toLowerCase()
  const options = known
    .map((one) => ({ value: one, name: language.valueName(kind, one) }))
    .filter(
      ({ value: one, name }) => name.toLowerCase().includes(folded) || one.toLowerCase() === folded,
    )
  const isNew = TYPED.has(kind) && text !== '' && !known.includes(text)
  const typedOption = { value: text, name: language.w.addTyped(text) }
  // An exact code or word comes before names that happen to have it in them.
  const exact = options.filter(({ value: one }) => one.toLowerCase() === folded)
  const others = options.filter(({ value: one }) => one.toLowerCase() !== folded)
  return [...exact, ...(isNew ? [typedOption] : []), ...others]
}
