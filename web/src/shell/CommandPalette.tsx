import { Dialog } from '@base-ui/react/dialog'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useId, useState } from 'react'
import { type LinkResource, linkSearchQuery } from '../api/links.ts'
import { Icon, type IconNode } from '../icons/Icon.tsx'
import { AddIcon, KeyIcon, LinkIcon, SearchIcon } from '../icons/index.ts'
import type { Catalogue } from '../text/en.ts'
import { useText } from '../text/use-text.ts'
import { splitDestination } from '../widgets/split-destination.ts'
import { PLACES } from './navigation.ts'
import { paletteOpen } from './palette-open.ts'

type Entry = {
  readonly id: string
  readonly group: string
  readonly icon: IconNode
  readonly name: string
  readonly detail?: string
  readonly end?: string
  readonly run: () => void
}

/** Links first, then commands; the arrow keys move, and Enter opens. */
export default function CommandPalette({ onShortcuts }: { onShortcuts: () => void }) {
  const t = useText()
  const listId = useId()
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const entries = useEntries(typed.trim(), onShortcuts)
  const active = entries[Math.min(at, entries.length - 1)]
  const close = () => paletteOpen.set(false)

  function run(entry: Entry | undefined) {
    if (entry === undefined) return
    close()
    entry.run()
  }

  function handle(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setAt((Math.min(at, entries.length - 1) + step + entries.length) % entries.length)
    } else if (event.key === 'Enter') {
      event.preventDefault()
      run(active)
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
                aria-activedescendant={active && `${listId}-${active.id}`}
                aria-label={t.palette.placeholder}
                placeholder={t.palette.placeholder}
                value={typed}
                onChange={(event) => {
                  setTyped(event.target.value)
                  setAt(0)
                }}
                onKeyDown={handle}
              />
            </div>
            <Results id={listId} entries={entries} active={active} typed={typed} onRun={run} />
            <div className="pal-f" aria-hidden>
              <span>
                <kbd>↑</kbd>
                <kbd>↓</kbd>
                {t.palette.move}
              </span>
              <span>
                <kbd>↵</kbd>
                {t.palette.openIt}
              </span>
              <span className="ml-auto">
                <kbd>?</kbd>
                {t.palette.allShortcuts}
              </span>
            </div>
          </Dialog.Popup>
        </Dialog.Viewport>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

type ResultsProps = {
  readonly id: string
  readonly entries: readonly Entry[]
  readonly active: Entry | undefined
  readonly typed: string
  readonly onRun: (entry: Entry) => void
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
            </div>
          ))}
        </div>
      ))}
    </div>
  )
}

function useEntries(typed: string, onShortcuts: () => void): readonly Entry[] {
  const t = useText()
  const navigate = useNavigate()
  const { data: links = [] } = useQuery(linkSearchQuery(typed))
  const linkEntries = links.map((link) => ({
    ...linkEntry(link, t),
    run: () => void navigate({ to: '/links/$linkId', params: { linkId: link.id } }),
  }))
  const create = (url: string | undefined) =>
    void navigate({ to: '/links/new', search: url === undefined ? {} : { url } })
  const commands: readonly Entry[] = [
    ...PLACES.map(({ to, icon, name }) => ({
      id: to.slice(1),
      group: t.palette.commands,
      icon,
      name: t.palette.goTo(name(t)),
      run: () => void navigate({ to }),
    })),
    {
      id: 'create',
      group: t.palette.commands,
      icon: AddIcon,
      name: t.shell.createLink,
      run: () => create(undefined),
    },
    {
      id: 'shortcuts',
      group: t.palette.commands,
      icon: KeyIcon,
      name: t.shortcuts.title,
      run: onShortcuts,
    },
  ]
  const wanted = typed.toLowerCase()
  const matching = commands.filter(({ name }) => name.toLowerCase().includes(wanted))
  const isAddress = URL.canParse(typed) && /^https?:/.test(typed)
  const createTo: Entry = {
    id: 'create-to',
    group: t.palette.commands,
    icon: AddIcon,
    name: t.palette.createTo(typed),
    run: () => create(typed),
  }
  return [...linkEntries, ...(isAddress ? [createTo] : []), ...matching]
}

function linkEntry(link: LinkResource, t: Catalogue): Omit<Entry, 'run'> {
  return {
    id: link.id,
    group: t.palette.links,
    icon: LinkIcon,
    name: `${link.domain}/${link.key}`,
    detail: splitDestination(link.url).join(''),
    ...(link.clicks !== null && { end: t.common.clicks(link.clicks) }),
  }
}
