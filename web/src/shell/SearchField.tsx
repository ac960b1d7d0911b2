import { type ComponentProps, useEffect, useRef, useState } from 'react'
import { Icon } from '../icons/Icon.tsx'
import { SearchIcon } from '../icons/index.ts'
import { Input } from '../widgets/Field.tsx'
import { useShortcut } from './shortcuts.ts'

const TYPING_MS = 250

type SearchFieldProps = Omit<ComponentProps<typeof Input>, 'value' | 'onChange'> & {
  /** What is searched for now. */
  readonly value: string
  readonly onChange: (search: string | undefined) => void
}

/** Searches after a pause in typing; `/` leads to it. */
export function SearchField({ value, onChange, ...props }: SearchFieldProps) {
  const input = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState(value)
  const [sent, setSent] = useState(value)
  // Back, forward, links and buttons change the address without the field.
  if (value !== sent) {
    setSent(value)
    setTyped(value)
  }
  useShortcut(
    '/',
    (text) => text.shortcuts.search,
    () => input.current?.focus(),
  )
  const wanted = typed.trim()
  useEffect(() => {
    if (wanted === value) return
    const timer = setTimeout(() => {
      setSent(wanted)
      onChange(wanted === '' ? undefined : wanted)
    }, TYPING_MS)
    return () => clearTimeout(timer)
  })
  return (
    <Input
      {...props}
      ref={input}
      before={<Icon of={SearchIcon} small />}
      type="search"
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') event.currentTarget.blur()
      }}
    />
  )
}
