import { useBlocker } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { useMembership } from '../../shell/use-membership.ts'
import { draftAt, draftKey, forgetDraft, keepDraft } from '../../state/drafts.ts'
import { useText } from '../../text/use-text.ts'
import { showMessage } from '../../widgets/Toasts.tsx'
import type { LinkDraft } from './link-draft.ts'

type DraftState = {
  readonly draft: LinkDraft
  readonly isChanged: boolean
  /** Whether the draft was left here before. */
  readonly isKept: boolean
  change(change: Partial<LinkDraft>): void
  /** Begins again from what the form has started with. */
  discard(): void
  /** To be called when it is saved: nothing is kept. */
  settle(): void
}

/**
 * What a form holds. What is left unsaved is kept in this tab, for this person and workspace, and is back when the
 * form is opened again at the same place. Only the fields that differ are kept, so that a link that another person has
 * changed meanwhile keeps the others.
 */
export function useDraft(place: string, start: LinkDraft): DraftState {
  const t = useText()
  const { session, membership } = useMembership()
  const workspaceId = membership?.workspace_id ?? ''
  // The owner stays the one for whom the form was opened.
  const [key] = useState(() => draftKey({ personId: session.person.id, workspaceId }, place))
  const [kept] = useState(() => ofFields(draftAt(key), start))
  const [isKept, setKept] = useState(kept !== undefined)
  const [draft, setDraft] = useState({ ...start, ...kept })
  const [first] = useState(start)
  const isChanged = differencesOf(draft, first) !== undefined

  useEffect(() => {
    const changes = differencesOf(draft, first)
    if (changes === undefined) forgetDraft(key)
    else keepDraft(key, changes)
  }, [key, draft, first])
  const words = useRef(t)
  useEffect(() => {
    words.current = t
  }, [t])
  useEffect(
    () => () => {
      if (draftAt(key) !== undefined) showMessage(words.current.linkForm.draftKept)
    },
    [key],
  )
  // A password is not written to the browser's storage: a reload would lose it.
  useBlocker({
    shouldBlockFn: () => false,
    enableBeforeUnload: () => draft.password !== '' && draftAt(key) !== undefined,
  })

  return {
    draft,
    isChanged,
    isKept,
    change: (change) => setDraft((before) => ({ ...before, ...change })),
    discard() {
      setKept(false)
      setDraft(first)
    },
    settle: () => forgetDraft(key),
  }
}

/** Undefined where nothing differs. */
function differencesOf(draft: LinkDraft, start: LinkDraft): Partial<LinkDraft> | undefined {
  const fields = Object.entries(draft).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(start[name as keyof LinkDraft]),
  )
  return fields.length === 0 ? undefined : Object.fromEntries(fields)
}

/** What of a kept draft belongs to the form: an earlier version of the dashboard may have kept it. */
function ofFields(kept: object | undefined, start: LinkDraft): Partial<LinkDraft> | undefined {
  const fields = Object.entries(kept ?? {}).filter(([name, value]) => {
    const known = start[name as keyof LinkDraft]
    return typeof value === typeof known && Array.isArray(value) === Array.isArray(known)
  })
  return fields.length === 0 ? undefined : Object.fromEntries(fields)
}
