import { Dialog } from '@base-ui/react/dialog'
import { type KeyboardEvent, useEffect, useId, useState } from 'react'
import { Icon } from '../icons/Icon.tsx'
import { SearchIcon } from '../icons/index.ts'
import { useText } from '../text/use-text.ts'
import { paletteOpen } from './Page.tsx'
import { type PaletteEntry, usePaletteEntries } from './palette-entries.ts'
import { keysText, pressedKeys } from './shortcuts.ts'

/** Links and domains first, then acts on the highlighted one, then commands; the arrow keys move, and Enter runs. */
export default function CommandPalette({ onShortcuts }: { onShortcuts: () => void }) {
  const t = useText()
  const listId = useId()
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const [subject, setSubject] = useState<string>()
  const entries = usePaletteEntries(typed.trim(), subject, onShortcuts)
  const active = entries[Math.min(at, entries.length - 1)]
  const close = () => paletteOpen.set(false)
  const activeId = active && `${listId}-${active.id}`
  useEffect(() => {
    if (activeId !== undefined) {
      document.getElementById(activeId)?.scrollIntoView({ block: 'nearest' })
    }
  }, [activeId])

  function run(entry: PaletteEntry | undefined) {
    if (entry === undefined) return
    close()
    entry.run()
  }

  function highlight(next: number) {
    setAt(next)
    // What is below acts on the link or domain that was highlighted last.
    const shown = entries[next]?.subject
    if (shown !== undefined) setSubject(shown)
  }

  function handle(event: KeyboardEvent<HTMLInputElement>) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const chosen = event.currentTarget.selectionStart !== event.currentTarget.selectionEnd
    // A text that is selected in the field is what Ctrl C copies.
    const act = chosen ? undefined : entries.find(({ keys }) => keys === pressedKeys(event))
    const firstAct = entries.findIndex(({ isAct }) => isAct)
    const ofActs = entries.findIndex(
      (one) => one.subject !== undefined && (subject === undefined || one.subject === subject),
    )
    if (step !== undefined) {
      event.preventDefault()
      highlight((Math.min(at, entries.length - 1) + step + entries.length) % entries.length)
    } else if (event.key === 'Enter') {
      event.preventDefault()
      run(active)
    } else if (event.key === 'Tab' && firstAct !== -1) {
      event.preventDefault()
      setAt(event.shiftKey ? ofActs : firstAct)
    } else if (event.key === '?' && typed === '') {
      event.preventDefault()
      close()
      onShortcuts()
    } else if (act !== undefined) {
      event.preventDefault()
      run(act)
    }
  }

  return (
    <Dialog.Root open onOpenChange={close}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Viewport className="scrim">
          <Dialog.Popup className="pal" aria-label={t.shell.searchLabel}>
            <div className="pal-in">
              <Icon of={SearchIcon} />
              <input
                role="combobox"
                aria-expanded
                aria-controls={listId}
                aria-activedescendant={activeId}
                aria-label={t.palette.placeholder}
                placeholder={t.palette.placeholder}
                value={typed}
                onChange={(event) => {
                  setTyped(event.target.value)
                  setAt(0)
                  setSubject(undefined)
                }}
                onKeyDown={handle}
              />
            </div>
            <Results id={listId} entries={entries} active={active} typed={typed} onRun={run} />
            <Keys entries={entries} isEmpty={typed === ''} />
          </Dialog.Popup>
        </Dialog.Viewport>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

/** What the keys do: at first the way to all shortcuts, then those of the acts on the link that was found. */
function Keys({ entries, isEmpty }: { entries: readonly PaletteEntry[]; isEmpty: boolean }) {
  const t = useText()
  const acts = entries.filter(({ isAct }) => isAct)
  const keyed = isEmpty ? [] : acts.filter(({ keys }) => keys !== undefined)
  return (
    <div className="pal-f" aria-hidden>
      {keyed.length === 0 && (
        <span>
          <kbd>↑</kbd>
          <kbd>↓</kbd>
          {t.palette.move}
        </span>
      )}
      <span>
        <kbd>↵</kbd>
        {t.palette.openIt}
      </span>
      {acts.length > 0 && (
        <span>
          <kbd>⇥</kbd>
          {t.palette.acts}
        </span>
      )}
      {keyed.map(({ id, keys = '', keysName }) => (
        <span key={id} className="desk">
          <kbd>{keysText(keys)}</kbd>
          {keysName}
        </span>
      ))}
      {isEmpty && (
        <span className="ml-auto">
          <kbd>?</kbd>
          {t.palette.allShortcuts}
        </span>
      )}
    </div>
  )
}

type ResultsProps = {
  readonly id: string
  readonly entries: readonly PaletteEntry[]
  readonly active: PaletteEntry | undefined
  readonly typed: string
  readonly onRun: (entry: PaletteEntry) => void
}

function Results({ id, entries, active, typed, onRun }: ResultsProps) {
  const t = useText()
  const groups = Map.groupBy(entries, ({ group }) => group)
  return (
    <div className="pal-b" role="listbox" id={id} aria-label={t.palette.results}>
      {entries.length === 0 && <p className="pal-g">{t.palette.none(typed)}</p>}
      {[...groups].map(([group, members]) => (
        // biome-ignore lint/a11y/useSemanticElements: the group of a listbox is no fieldset
        <div key={group} role="group" aria-label={group}>
          <div className="pal-g" aria-hidden>
            {group}
          </div>
          {members.map((entry) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the input handles the keys of all options
            // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the input
            <div
              key={entry.id}
              id={`${id}-${entry.id}`}
              className="pal-i"
              role="option"
              aria-selected={entry === active}
              onClick={() => onRun(entry)}
            >
              <Icon of={entry.icon} />
              <span className="cut">
                {entry.name}
                {entry.detail !== undefined && <span className="sub">{entry.detail}</span>}
              </span>
              {entry.end !== undefined && <span className="end">{entry.end}</span>}
              {entry.keys !== undefined && (
                <span className="end desk" aria-hidden>
                  <kbd>{keysText(entry.keys)}</kbd>
                </span>
              )}
            </div>
          ))}
        </div>
      ))}
    </div>
  )
}
