import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { domainCountsQuery } from '../../api/domains.ts'
import { Icon } from '../../icons/Icon.tsx'
import { SearchIcon, WarningIcon } from '../../icons/index.ts'
import { useHosts, useIsUnproved } from '../../shell/use-domains.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { FilterChip } from '../../widgets/Chip.tsx'
import { Popover } from '../../widgets/Menu.tsx'

type Hosts = readonly string[]

type DomainFilterProps = {
  readonly value: Hosts
  readonly onChange: (domains: Hosts) => void
}

/** Several domains, of which a link is on one. */
export function DomainFilter({ value, onChange }: DomainFilterProps) {
  const t = useText()
  return (
    <FilterChip
      name={t.links.domain}
      values={value}
      onRemove={() => onChange([])}
      layer={(trigger) => (
        <Popover trigger={trigger} label={t.links.domain}>
          {(close) => <DomainPicker value={value} onChange={onChange} onDone={close} />}
        </Popover>
      )}
    />
  )
}

type DomainPickerProps = DomainFilterProps & { readonly onDone: () => void }

/** The focus stays in the field: arrow keys move, Space chooses, Enter closes. */
function DomainPicker({ value, onChange, onDone }: DomainPickerProps) {
  const t = useText()
  const id = useId()
  const [typed, setTyped] = useState('')
  const [place, setPlace] = useState(0)
  const all = useHosts()
  const hosts = [...new Set([...all, ...value])].filter((host) => host.includes(typed.trim()))
  const at = Math.min(place, hosts.length - 1)
  const current = hosts[at]
  const list = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is current is in the document
  useEffect(() => {
    list.current?.querySelector('.is-at')?.scrollIntoView({ block: 'nearest' })
  }, [at])

  const toggle = (host: string) =>
    onChange(value.includes(host) ? value.filter((one) => one !== host) : [...value, host])

  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) setPlace((at + step + hosts.length) % Math.max(1, hosts.length))
    else if (event.key === ' ') current !== undefined && toggle(current)
    else if (event.key === 'Enter') onDone()
    else return
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
          aria-label={t.links.findDomain}
          placeholder={t.links.findDomain}
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
        aria-label={t.links.domain}
      >
        {hosts.map((host, nth) => (
          <Choice
            key={host}
            id={`${id}-${nth}`}
            host={host}
            isAt={nth === at}
            isChosen={value.includes(host)}
            onPoint={() => setPlace(nth)}
            onToggle={() => toggle(host)}
          />
        ))}
      </div>
      <div className="f">
        <span className="desk">
          <kbd>{t.links.space}</kbd> {t.links.choose}
        </span>
        <span className="desk">
          <kbd>↵</kbd> {t.links.done}
        </span>
        <button
          type="button"
          className="link"
          disabled={current === undefined}
          onClick={() => current !== undefined && onChange([current])}
        >
          {t.links.onlyThis}
        </button>
      </div>
    </>
  )
}

type ChoiceProps = {
  readonly id: string
  readonly host: string
  readonly isAt: boolean
  readonly isChosen: boolean
  readonly onPoint: () => void
  readonly onToggle: () => void
}

function Choice({ id, host, isAt, isChosen, onPoint, onToggle }: ChoiceProps) {
  const t = useText()
  const formats = useFormats()
  const isUnproved = useIsUnproved()
  const { data: counts } = useQuery(domainCountsQuery)
  const links = counts?.get(host)
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the field has the focus, and names the current choice
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
    <div
      id={id}
      role="option"
      aria-selected={isChosen}
      className={isAt ? 'is-at' : ''}
      onPointerMove={onPoint}
      onClick={onToggle}
    >
      <span className={isChosen ? 'cb is-on' : 'cb'} aria-hidden />
      <span className="cut">
        {host}
        {isUnproved(host) && <Icon of={WarningIcon} label={t.links.notProved} small />}
      </span>
      <span>{links !== undefined && formats.number(links)}</span>
    </div>
  )
}
