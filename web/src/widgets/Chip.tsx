import type { ComponentProps, KeyboardEvent, ReactElement } from 'react'
import { Icon } from '../icons/Icon.tsx'
import { AddIcon, CloseIcon } from '../icons/index.ts'
import { useText } from '../text/use-text.ts'

type ChipProps = ComponentProps<'button'> & {
  /** Without a frame. */
  readonly isQuiet?: boolean
}

/** A button among those that change what is shown. */
export function Chip({ isQuiet = false, ...props }: ChipProps) {
  return <button type="button" className={isQuiet ? 'chip add' : 'chip'} {...props} />
}

/** How many of several values a chip names. */
const NAMED = 2

type FilterChipProps = {
  readonly name: string
  /** None while the filter is not set. */
  readonly values: readonly string[]
  readonly onRemove: () => void
  /** Names the button that removes it; "Remove filter" when left out. */
  readonly removeLabel?: string
  /** More attributes of the button that opens something. */
  readonly opener?: ComponentProps<'button'>
  /** Puts what the chip opens around its button; without it the chip opens nothing. */
  readonly layer?: (trigger: ReactElement<object>) => ReactElement
}

/** A filter: "+ Tag" while it is not set, then its values; the button stays the same, and so does the focus. */
export function FilterChip(props: FilterChipProps) {
  const { name, values, onRemove, removeLabel, opener, layer } = props
  const t = useText()
  const isSet = values.length > 0
  const rest = values.length - NAMED
  const value = values.slice(0, NAMED).join(', ') + (rest > 0 ? ` + ${rest}` : '')
  const content = isSet ? (
    <>
      <span>{name}</span>
      <b>{value}</b>
    </>
  ) : (
    <>
      <Icon of={AddIcon} />
      {name}
    </>
  )
  function remove({ currentTarget }: { readonly currentTarget: HTMLElement }) {
    const button = currentTarget.parentElement?.querySelector<HTMLElement>('.chip-open')
    onRemove()
    button?.focus()
  }
  function onKeyUp(event: KeyboardEvent<HTMLElement>) {
    if (isSet && event.key === 'Backspace') onRemove()
  }
  return (
    <span className={isSet ? 'chip on' : 'chip add'}>
      {layer === undefined ? (
        <span className="chip-open">{content}</span>
      ) : (
        layer(
          <button
            {...opener}
            className="chip-open"
            type="button"
            title={values.join(', ')}
            onKeyUp={onKeyUp}
          >
            {content}
          </button>,
        )
      )}
      {isSet && (
        <button
          type="button"
          className="chip-x"
          aria-label={removeLabel ?? t.links.removeFilter(`${name} ${value}`)}
          onClick={remove}
        >
          <Icon of={CloseIcon} />
        </button>
      )}
    </span>
  )
}
