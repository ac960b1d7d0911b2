import type { RuleInput } from '@terse/contract/rules'
import { type PointerEvent, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { LinkResource } from '../../api/links.ts'
import { Icon } from '../../icons/Icon.tsx'
import { AddIcon, ArrowRightIcon, RedirectIcon, TrashIcon } from '../../icons/index.ts'
import { useKeyHint } from '../../shell/shortcuts.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { shortDestination } from '../../widgets/destination-parts.ts'
import { offerUndo } from '../../widgets/Toasts.tsx'
import { type RuleActs, RuleItem } from './RuleItem.tsx'
import { AddRuleSet, RuleSetRow } from './RuleSetRow.tsx'
import {
  copyOfRule,
  covers,
  draftsOf,
  movedTo,
  newRule,
  type RuleDraft,
  type RuleErrors,
} from './rule-draft.ts'
import { useRuleLanguage } from './use-rule-language.ts'

const RULES_MAX = 50

/** What a first rule can begin with. */
const STARTERS: Readonly<Record<'country' | 'device' | 'split', RuleInput>> = {
  country: { when: { country: [] }, then: { url: '' } },
  device: { when: { device: ['phone'] }, then: { url: '' } },
  split: {
    when: {},
    then: {
      split: [
        { name: 'A', url: '', weight: 50 },
        { name: 'B', url: '', weight: 50 },
      ],
    },
  },
}

type RuleListProps = {
  /** Whose rules they are; undefined until it is loaded, and for those of a set. */
  readonly link: LinkResource | undefined
  /** The set that a link uses after its rules; undefined for the rules of a set. */
  readonly set:
    | { readonly id: string | null; readonly onChange: (id: string | null) => void }
    | undefined
  readonly drafts: readonly RuleDraft[]
  readonly errors: RuleErrors
  readonly open: ReadonlySet<string>
  readonly isReadOnly: boolean
  readonly onOpen: (key: string, isOpen: boolean) => void
  readonly onChange: (change: (drafts: readonly RuleDraft[]) => readonly RuleDraft[]) => void
}

/** The rules in their order, and what happens to everyone else. */
export function RuleList(props: RuleListProps) {
  const { link, set, drafts, errors, open, isReadOnly, onOpen, onChange } = props
  const { w } = useRuleLanguage()
  const [said, setSaid] = useState('')
  useKeyHint('Alt+↑↓', () => w.moves)
  const addButton = useRef<HTMLButtonElement>(null)

  function move(key: string, to: number) {
    const from = drafts.findIndex((one) => one.key === key)
    if (to < 0 || to >= drafts.length || to === from) return
    const focused = document.activeElement
    flushSync(() => onChange((before) => movedTo(before, from, to)))
    // React moves the rule in the document, which takes its focus.
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true })
    setSaid(w.moved(to + 1, drafts.length))
  }
  const acts: RuleActs = {
    open: onOpen,
    move,
    change: (key, rule) =>
      onChange((before) => before.map((one) => (one.key === key ? { key, rule } : one))),
    duplicate(key) {
      const place = drafts.findIndex((one) => one.key === key)
      const copy = drafts.slice(place, place + 1).map(copyOfRule)
      onChange((before) => before.toSpliced(place + 1, 0, ...copy))
    },
    remove: (key) => {
      remove(key, drafts, onChange, w.removed)
      requestAnimationFrame(() => addButton.current?.focus({ preventScroll: true }))
    },
  }
  const { list, dragged, dropOf, dragOf } = useDrag(drafts, move)

  function takeOut({ id, onChange: choose }: NonNullable<RuleListProps['set']>) {
    choose(null)
    offerUndo({ message: w.set.removed, icon: TrashIcon, undo: () => choose(id) })
    requestAnimationFrame(() => addButton.current?.focus({ preventScroll: true }))
  }

  function add(rule?: RuleInput) {
    const draft = newRule(rule)
    onChange((before) => [...before, draft])
    onOpen(draft.key, true)
    requestAnimationFrame(() => {
      const item = list.current?.children[drafts.length]
      item?.querySelector<HTMLElement>('.sent')?.focus()
    })
  }

  return (
    <>
      <ol className={isReadOnly ? 'rules is-read' : 'rules'} aria-label={w.list} ref={list}>
        {drafts.map((draft, place) => (
          <RuleItem
            key={draft.key}
            draft={draft}
            place={place}
            total={drafts.length}
            isOpen={open.has(draft.key)}
            isReadOnly={isReadOnly}
            coveredBy={coveredBy(drafts, place)}
            errors={errors[draft.key] ?? {}}
            draggedBy={dragged?.key === draft.key ? dragged.by : undefined}
            drop={dropOf(place)}
            drag={dragOf(draft.key)}
            acts={acts}
          />
        ))}
        {set?.id && (
          <RuleSetRow
            id={set.id}
            isReadOnly={isReadOnly}
            onRemove={() => takeOut(set)}
            onCopy={(copied) => {
              onChange((before) => [...before, ...draftsOf(copied.rules).map(copyOfRule)])
              set.onChange(null)
            }}
          />
        )}
        {set === undefined ? (
          <li className="rule is-last">
            <span className="no">
              <Icon of={RedirectIcon} small />
            </span>
            <p className="sent">{drafts.length > 0 ? w.set.everyoneElse : w.set.noRules}</p>
          </li>
        ) : (
          <EveryoneElse link={link} hasRules={drafts.length > 0 || set.id !== null} />
        )}
      </ol>
      <span className="sr" role="status">
        {said}
      </span>
      {!isReadOnly && (
        <div className="flex flex-wrap gap-2 items-center">
          {drafts.length < RULES_MAX && (
            <Button ref={addButton} icon={AddIcon} onClick={() => add()}>
              {w.add}
            </Button>
          )}
          {set?.id === null && <AddRuleSet onChoose={set.onChange} />}
          {drafts.length === 0 &&
            (['country', 'device', 'split'] as const).map((name) => (
              <Button key={name} look="bare" onClick={() => add(STARTERS[name])}>
                {w.starters[name]}
              </Button>
            ))}
        </div>
      )}
    </>
  )
}

/** Returns the place, from 1, of the first rule that takes all visitors of a later one. */
function coveredBy(drafts: readonly RuleDraft[], place: number): number | undefined {
  const { when } = drafts[place]?.rule ?? {}
  if (when === undefined) return undefined
  const by = drafts.slice(0, place).findIndex(({ rule }) => covers(rule.when, when))
  return by === -1 ? undefined : by + 1
}

/** Removes a rule, with Undo, which puts it back to where it was. */
function remove(
  key: string,
  drafts: readonly RuleDraft[],
  onChange: RuleListProps['onChange'],
  message: string,
): void {
  const place = drafts.findIndex((one) => one.key === key)
  const removed = drafts.slice(place, place + 1)
  onChange((before) => before.filter((one) => one.key !== key))
  offerUndo({
    message,
    icon: TrashIcon,
    undo: () => onChange((before) => before.toSpliced(place, 0, ...removed)),
  })
}

type Dragged = {
  readonly key: string
  /** Where the pointer took it. */
  readonly fromY: number
  readonly by: number
  /** Its place among the others, were it dropped now. */
  readonly to: number
}

/** Rules dragged by their handles, by mouse, pen or finger. */
function useDrag(drafts: readonly RuleDraft[], onMove: (key: string, to: number) => void) {
  const list = useRef<HTMLOListElement>(null)
  const [dragged, setDragged] = useState<Dragged>()
  const from = drafts.findIndex(({ key }) => key === dragged?.key)

  /** How many of the other rules have their middle above the pointer. */
  function placeAt(y: number): number {
    const items = [...(list.current?.children ?? [])].slice(0, drafts.length)
    const others = items.filter((_, nth) => nth !== from)
    return others.filter((item) => {
      const { top, height } = item.getBoundingClientRect()
      return top + height / 2 < y
    }).length
  }
  const dragOf = (key: string) => ({
    start(event: PointerEvent) {
      if (event.button !== 0) return
      event.currentTarget.setPointerCapture(event.pointerId)
      const to = drafts.findIndex((one) => one.key === key)
      setDragged({ key, fromY: event.clientY, by: 0, to })
    },
    move({ clientY }: PointerEvent) {
      if (dragged?.key !== key) return
      setDragged({ ...dragged, by: clientY - dragged.fromY, to: placeAt(clientY) })
    },
    end({ type }: PointerEvent) {
      if (dragged?.key !== key) return
      setDragged(undefined)
      if (type === 'pointerup') onMove(key, dragged.to)
    },
  })
  const dropOf = (place: number) => {
    if (dragged === undefined || dragged.to !== place || place === from) return undefined
    return place < from ? 'above' : 'below'
  }
  return { list, dragged, dropOf, dragOf } as const
}

type EveryoneElseProps = { readonly link: LinkResource | undefined; readonly hasRules: boolean }

/** Where visitors are sent for whom no rule is: first to the app of their device. */
function EveryoneElse({ link, hasRules }: EveryoneElseProps) {
  const t = useText()
  const { w } = useRuleLanguage()
  const apps = [
    [t.linkForm.ios, link?.ios],
    [t.linkForm.android, link?.android],
  ] as const
  const hasApps = apps.some(([, url]) => Boolean(url))
  const rows = [...apps, [hasRules || hasApps ? w.everyoneElse : w.everyone, link?.url] as const]
  return (
    <li className="rule is-last">
      <span className="no">
        <Icon of={RedirectIcon} small />
      </span>
      <div>
        {rows.map(
          ([name, url]) =>
            url && (
              <p key={name} className="sent">
                {name}
                <span className="arr">
                  <Icon of={ArrowRightIcon} small />
                </span>
                <span className="to" title={url}>
                  {shortDestination(url)}
                </span>
              </p>
            ),
        )}
      </div>
    </li>
  )
}
