import { useEffect, useRef } from 'react'
import { Observable } from '../state/observable.ts'
import { oneOf, Preference } from '../state/preference.ts'
import type { Catalogue } from '../text/en.ts'

export type Shortcut = {
  /** A key as browsers name it (`c`, `?`, `ArrowDown`), or `mod+k` for ⌘K and Ctrl K. */
  readonly keys: string
  readonly label: (text: Catalogue) => string
  readonly run: () => void
}

/** The shortcuts of the page that is shown, in the order in which they were registered. */
export const shortcuts = new Observable<readonly Shortcut[]>([])

/** Whether keys without ⌘ or Ctrl do something. */
export const singleKeys = new Preference('single-keys', oneOf('on', 'off'))

const isMac = /Mac|iPhone|iPad/.test(navigator.platform)

/** Registers a shortcut while the component is shown. `undefined` registers nothing. */
export function useShortcut(
  keys: string,
  label: (text: Catalogue) => string,
  run: (() => void) | undefined,
): void {
  const current = useRef(run)
  const currentLabel = useRef(label)
  useEffect(() => {
    current.current = run
    currentLabel.current = label
  })
  const isOn = run !== undefined
  useEffect(() => {
    if (!isOn) return
    const shortcut: Shortcut = {
      keys,
      label: (text) => currentLabel.current(text),
      run: () => current.current?.(),
    }
    shortcuts.set([...shortcuts.value, shortcut])
    return () => shortcuts.set(shortcuts.value.filter((one) => one !== shortcut))
  }, [keys, isOn])
}

/** Lists keys among the shortcuts that an element of the page handles itself. */
export function useKeyHint(keys: string, label: Shortcut['label']): void {
  useShortcut(keys, label, nothing)
}

function nothing(): void {}

/** `⌘K` or `Ctrl K`; single letters as they are printed on the key. */
export function keysText(keys: string): string {
  const names: Readonly<Record<string, string>> = { enter: '↵', escape: 'Esc' }
  const parts = keys.split('+').map((key) => {
    if (key === 'mod') return isMac ? '⌘' : 'Ctrl'
    return names[key.toLowerCase()] ?? (key.length === 1 ? key.toUpperCase() : key)
  })
  return parts.join(isMac ? '' : ' ')
}

/** Runs the shortcut of a key, the one that was registered last first. */
export function handleKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || event.altKey) return
  if (!hasModifier(event)) {
    if (event.ctrlKey || event.metaKey || singleKeys.value === 'off') return
    if (isEditable(event.target) || isLayerOpen()) return
  }
  const pressed = pressedKeys(event)
  const shortcut = shortcuts.value.findLast(({ keys }) => keys.toLowerCase() === pressed)
  if (shortcut === undefined) return
  event.preventDefault()
  shortcut.run()
}

type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey'>

/** The keys as `Shortcut` names them, in lower case. */
export function pressedKeys(event: Pressed): string {
  return (hasModifier(event) ? 'mod+' : '') + event.key.toLowerCase()
}

function hasModifier({ ctrlKey, metaKey }: Pressed): boolean {
  return isMac ? metaKey : ctrlKey
}

function isEditable(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
    !(target instanceof HTMLInputElement && target.type === 'checkbox')
  )
}

/** A dialog or a menu has keys of its own. */
function isLayerOpen(): boolean {
  return document.querySelector('.dlg, .pal, .menu') !== null
}
