import { useMutation } from '@tanstack/react-query'
import type { Rule, RuleInput } from '@terse/contract/rules'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import type { DetailedLink } from '../../api/links.ts'
import { Icon } from '../../icons/Icon.tsx'
import { AlertIcon } from '../../icons/index.ts'
import { useShortcut } from '../../shell/shortcuts.ts'
import { faultsByField, useFaults } from '../../shell/use-faults.ts'
import { useMembership } from '../../shell/use-membership.ts'
import { draftAt, draftKey, forgetDraft, keepDraft } from '../../state/drafts.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { noteSent } from '../../widgets/Field.tsx'
import { showMessage } from '../../widgets/Toasts.tsx'
import { Conflict, KeptDraft, SaveBar } from '../link-form/SaveBar.tsx'
import { ExplainPanel } from './ExplainPanel.tsx'
import { RuleList } from './RuleList.tsx'
import {
  draftsOf,
  errorsByRule,
  type RuleDraft,
  type RuleErrors,
  remainingErrors,
} from './rule-draft.ts'
import { useRuleLanguage } from './use-rule-language.ts'

/** What is saved together. */
export type Edited = {
  readonly rules: readonly RuleInput[]
  /** The id of the set that is tried after them; null for none. */
  readonly ruleSet: string | null
}

type SaveOptions = {
  /** Undefined to overwrite what another person has saved. */
  readonly version: string | undefined
  readonly acceptsChanges: boolean
  /** To be called after a part was saved, with the version that it led to. */
  readonly onSaved: (version: string | undefined) => void
}

type RulesFormProps = {
  /** Names its draft. */
  readonly place: string
  /** The link whose rules they are; undefined for those of a set. */
  readonly linkId?: string
  readonly link?: DetailedLink | undefined
  /** Before all else; gets the version that a save expects, and what changes it. */
  readonly note?: (
    version: string | undefined,
    continueWith: (version: string | undefined) => void,
  ) => ReactNode
  /** Over the rules; how they are read, when left out. */
  readonly intro?: ReactNode
  readonly saved: { readonly rules: readonly Rule[]; readonly ruleSet: string | null }
  readonly version: string | undefined
  readonly save: (sent: Edited, options: SaveOptions) => Promise<unknown>
  /** Starts again from what another person has saved. */
  readonly onReload: () => void
  readonly onSaved: () => unknown
  readonly onCancel: () => void
}

/** The list of rules, and how it is saved. */
export function RulesForm(props: RulesFormProps) {
  const { linkId, link, note, intro, onReload, onCancel } = props
  const t = useText()
  const { w } = useRuleLanguage()
  const isReadOnly = !useMembership().may('member')
  const form = useRef<HTMLFormElement>(null)
  const draft = useRulesDraft(props)
  const { drafts, ruleSet, isChanged, change, discard } = draft
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const [errors, setErrors] = useState<RuleErrors>({})
  const { mutate, reset, isPending, error } = useSave(props, draft, (found) => {
    setErrors(found)
    setOpen((before) => new Set([...before, ...Object.keys(found)]))
  })
  const placed = error instanceof ApiError ? Object.keys(error.fields).filter(isOfRule) : []
  const { general } = useFaults(error, placed)

  function save(isForced: boolean, acceptsChanges = isForced) {
    if (form.current !== null) noteSent(form.current)
    if (isPending || isReadOnly) return
    setErrors({})
    mutate({ sent: drafts, isForced, acceptsChanges })
  }
  useShortcut(
    'mod+Enter',
    (text) => text.shortcuts.save,
    () => save(false),
  )

  return (
    <>
      <div className={linkId === undefined ? 'ruled' : 'edit ruled'}>
        <form
          className="rules-form"
          ref={form}
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            save(false)
          }}
        >
          {draft.isKept && <KeptDraft onDiscard={discard} />}
          {note?.(draft.version, draft.continueWith)}
          <p className="hint">
            {intro ?? (drafts.length === 0 && ruleSet === null ? w.empty : w.intro)}
          </p>
          <RuleList
            link={link}
            set={linkId === undefined ? undefined : { id: ruleSet, onChange: draft.chooseSet }}
            drafts={drafts}
            errors={errors}
            open={open}
            isReadOnly={isReadOnly}
            onOpen={(key, isOpen) => setOpen((before) => withKey(before, key, isOpen))}
            onChange={(made) => {
              const after = made(drafts)
              change(made)
              setErrors((before) => stillWrong(before, drafts, after))
            }}
          />
        </form>
        {link !== undefined && (
          <ExplainPanel
            link={link}
            rules={drafts.map(({ rule }) => rule)}
            ruleSet={ruleSet}
            isChanged={isChanged}
            isReadOnly={isReadOnly}
            version={draft.version}
            onVersion={draft.continueWith}
          />
        )}
      </div>
      <Question
        error={error}
        onAccept={() => save(false, true)}
        onReload={() => {
          discard()
          reset()
          onReload()
        }}
        onOverwrite={() => save(true)}
      />
      {!isReadOnly && (
        <SaveBar
          problems={Object.values(errors).reduce((sum, one) => sum + Object.keys(one).length, 0)}
          message={isQuestion(error) ? undefined : general}
          isChanged={isChanged}
          verb={t.linkForm.save}
          isBusy={isPending}
          onSave={() => save(false)}
          onCancel={onCancel}
        />
      )}
    </>
  )
}

/** The keys with one more, or without it. */
function withKey(keys: ReadonlySet<string>, key: string, isIn: boolean): ReadonlySet<string> {
  return new Set([...keys].filter((one) => one !== key).concat(isIn ? key : []))
}

type Sent = {
  readonly sent: readonly RuleDraft[]
  readonly isForced: boolean
  readonly acceptsChanges: boolean
}

/** Sends what is edited; what is wrong with rules goes to them. */
function useSave(
  { save, onSaved }: RulesFormProps,
  { ruleSet, version, continueWith, settle }: ReturnType<typeof useRulesDraft>,
  onFaults: (found: RuleErrors) => void,
) {
  const t = useText()
  return useMutation({
    mutationFn: ({ sent, isForced, acceptsChanges }: Sent) => {
      const rules = sent.map(({ rule }) => rule)
      const base = isForced ? undefined : version
      return save({ rules, ruleSet }, { version: base, acceptsChanges, onSaved: continueWith })
    },
    async onSuccess() {
      settle()
      await onSaved()
    },
    onError(failure, { sent }) {
      const fields = failure instanceof ApiError ? Object.keys(failure.fields) : []
      onFaults(errorsByRule(faultsByField(failure, fields, t), sent))
    },
  })
}

/** Whether the user decides what becomes of a save that was refused. */
function isQuestion(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 412 || error.code === 'examples_changed')
}

type QuestionProps = {
  readonly error: unknown
  readonly onAccept: () => void
  readonly onReload: () => void
  readonly onOverwrite: () => void
}

/** Another person has saved first, or the change gives examples of the link another result. */
function Question({ error, onAccept, onReload, onOverwrite }: QuestionProps) {
  const { w } = useRuleLanguage()
  if (!isQuestion(error)) return null
  if (error.status === 412) return <Conflict onReload={onReload} onOverwrite={onOverwrite} />
  const names = error.details?.names
  return (
    <div className="note warn m-4" role="alert">
      <Icon of={AlertIcon} />
      <span className="grow">
        {w.examplesChanged} {Array.isArray(names) && names.join(', ')}
      </span>
      <Button size="small" onClick={onAccept}>
        {w.saveAnyway}
      </Button>
    </div>
  )
}

/** Whether a field of the API is one of a rule; such faults stand at their fields. */
function isOfRule(field: string): boolean {
  return field.startsWith('rules.')
}

function stillWrong(
  errors: RuleErrors,
  before: readonly RuleDraft[],
  after: readonly RuleDraft[],
): RuleErrors {
  const entries = Object.entries(errors).flatMap(([key, ofRule]) => {
    const [old, current] = [before, after].map((list) => list.find((one) => one.key === key))
    if (old === undefined || current === undefined) return []
    const remaining = remainingErrors(ofRule, old.rule, current.rule)
    return Object.keys(remaining).length > 0 ? [[key, remaining] as const] : []
  })
  return Object.fromEntries(entries)
}

/**
 * The rules as they are being edited. What is left unsaved is kept in this tab, with the version that it began with: a
 * change that another person has saved meanwhile is noticed when it is saved.
 */
function useRulesDraft({ place, saved, version }: RulesFormProps) {
  const t = useText()
  const { session, membership } = useMembership()
  const owner = { personId: session.person.id, workspaceId: membership?.workspace_id ?? '' }
  // The owner stays the one for whom the page was opened.
  const [key] = useState(() => draftKey(owner, place))
  const [first] = useState(() => draftsOf(saved.rules))
  const [kept, setKept] = useState(() => keptDraft(key))
  const [drafts, setDrafts] = useState(kept?.drafts ?? first)
  const [ruleSet, setRuleSet] = useState(kept === undefined ? saved.ruleSet : kept.ruleSet)
  const areRulesChanged = JSON.stringify(drafts) !== JSON.stringify(first)
  const isChanged = areRulesChanged || ruleSet !== saved.ruleSet
  const [base, setBase] = useState(kept === undefined ? version : kept.version)
  useEffect(() => {
    if (isChanged) keepDraft(key, { drafts, ruleSet, version: base })
    else forgetDraft(key)
  }, [key, drafts, ruleSet, base, isChanged])
  const message = useRef(t.linkForm.draftKept)
  useEffect(() => {
    message.current = t.linkForm.draftKept
  }, [t])
  useEffect(
    () => () => {
      if (draftAt(key) !== undefined) showMessage(message.current)
    },
    [key],
  )
  return {
    drafts,
    ruleSet,
    chooseSet: setRuleSet,
    version: base,
    continueWith: setBase,
    isChanged,
    isKept: kept !== undefined,
    change: setDrafts,
    discard() {
      forgetDraft(key)
      setKept(undefined)
      setDrafts(first)
      setRuleSet(saved.ruleSet)
      setBase(version)
    },
    settle: () => forgetDraft(key),
  }
}

type Kept = {
  readonly drafts: readonly RuleDraft[]
  readonly ruleSet: string | null
  readonly version: string | undefined
}

function keptDraft(key: string): Kept | undefined {
  const { drafts, ruleSet, version } = draftAt(key) ?? {}
  if (!Array.isArray(drafts)) return undefined
  return {
    drafts,
    ruleSet: typeof ruleSet === 'string' ? ruleSet : null,
    version: typeof version === 'string' ? version : undefined,
  }
}
