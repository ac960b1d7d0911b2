import { type KeyboardEvent, type ReactNode, useRef } from 'react'

type TabListProps<T extends string> = {
  readonly label: string
  readonly value: T
  readonly tabs: readonly { readonly value: T; readonly content: ReactNode }[]
  readonly onChange: (value: T) => void
  readonly className: string
  readonly tabClassName?: string
  /** What the tabs change. */
  readonly panelId: string
}

/** Tabs with one stop for the Tab key; the arrow keys choose. */
export function TabList<T extends string>(props: TabListProps<T>) {
  const { label, value, tabs, onChange, className, tabClassName, panelId } = props
  const list = useRef<HTMLDivElement>(null)
  function move(event: KeyboardEvent) {
    const at = tabs.findIndex((tab) => tab.value === value)
    const targets: Readonly<Record<string, number>> = {
      ArrowRight: (at + 1) % tabs.length,
      ArrowLeft: (at - 1 + tabs.length) % tabs.length,
      Home: 0,
      End: tabs.length - 1,
    }
    const target = targets[event.key]
    const next = target === undefined ? undefined : tabs[target]
    if (target === undefined || next === undefined) return
    event.preventDefault()
    onChange(next.value)
    list.current?.querySelectorAll<HTMLElement>('[role="tab"]')[target]?.focus()
  }
  return (
    <div ref={list} className={className} role="tablist" aria-label={label} onKeyDown={move}>
      {tabs.map((tab) => (
        <button
          key={tab.value}
          type="button"
          role="tab"
          id={tabId(panelId, tab.value)}
          className={tabClassName}
          aria-selected={tab.value === value}
          aria-controls={panelId}
          tabIndex={tab.value === value ? 0 : -1}
          onClick={() => onChange(tab.value)}
        >
          {tab.content}
        </button>
      ))}
    </div>
  )
}

/** The id of a tab, which names its panel. */
export function tabId(panelId: string, value: string): string {
  return `${panelId}-${value}`
}
