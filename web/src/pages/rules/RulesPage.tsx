import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { Rule } from '@terse/contract/rules'
import { useEffect, useRef, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { LINKS_KEY, type LinkResource, linkQuery } from '../../api/links.ts'
import { editedRulesQuery, replaceRules } from '../../api/rules.ts'
import { Icon } from '../../icons/Icon.tsx'
import { AlertIcon } from '../../icons/index.ts'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { Page, useReturn } from '../../shell/Page.tsx'
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

const route = getRouteApi('/shell/links/$linkId/rules')

/** The rules of a link, which are saved together. */
export default function RulesPage() {
  const t = useText()
  const { w } = useRuleLanguage()
  const { linkId } = route.useParams()
  const leave = useReturn(linkId)
  const { data: link } = useQuery(linkQuery(linkId))
  const { data: edited, error, refetch } = useQuery(editedRulesQuery(linkId))
  const parent = (
    <Link to="/links/$linkId" params={{ linkId }}>
      {link === undefined ? t.links.title : `${link.domain}/${link.key}`}
    </Link>
  )
  return (
    <Page title={w.title} parent={parent} actions={null} isFlush>
      {edited === undefined && error !== null && <LoadFailure error={error} />}
      {edited !== undefined && (
        <RulesForm
          key={edited.version}
          linkId={linkId}
          link={link}
          saved={edited.value.rules}
          version={edited.version}
          onReload={async () => void (await refetch())}
          onSaved={() => {
            showMessage(w.saved)
            leave()
          }}
          onCancel={leave}
        />
      )}
    </Page>
  )
}

type RulesFormProps = {
  readonly linkId: string
  readonly link: LinkResource | undefined
  readonly saved: readonly Rule[]
  readonly version: string | undefined
  /** Starts again from what another person has saved. */
  readonly onReload: () => void
  readonly onSaved: () => void
  readonly onCancel: () => void
}

function RulesForm(props: RulesFormProps) {
  const { linkId, link, onReload, onSaved, onCancel } = props
  const t = useText()
  const { w } = useRuleLanguage()
  const client = useQueryClient()
  const form = useRef<HTMLFormElement>(null)
  const { drafts, version, isChanged, isKept, change, discard, settle } = useRulesDraft(props)
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const [errors, setErrors] = useState<RuleErrors>({})
  const { mutate, reset, isPending, error } = useMutation({
    mutationFn: ({ sent, isForced, acceptsChanges }: Sent) =>
      replaceRules(
        linkId,
        sent.map(({ rule }) => rule),
        isForced ? undefined : version,
        acceptsChanges,
      ),
    async onSuccess() {
      settle()
      await client.invalidateQueries({ queryKey: LINKS_KEY })
      onSaved()
    },
    onError(failure, { sent }) {
      const fields = failure instanceof ApiError ? Object.keys(failure.fields) : []
      const found = errorsByRule(faultsByField(failure, fields, t), sent)
      setErrors(found)
      setOpen((before) => new Set([...before, ...Object.keys(found)]))
    },
  })
  const placed = error instanceof ApiError ? Object.keys(error.fields).filter(isOfRule) : []
  const { general } = useFaults(error, placed)

  function save(isForced: boolean, acceptsChanges = isForced) {
    if (form.current !== null) noteSent(form.current)
    if (isPending) return
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
      <form
        className="rules-form"
        ref={form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          save(false)
        }}
      >
        {isKept && <KeptDraft onDiscard={discard} />}
        <p className="hint">{drafts.length === 0 ? w.empty : w.intro}</p>
        <RuleList
          link={link}
          drafts={drafts}
          errors={errors}
          open={open}
          onOpen={(key, isOpen) =>
            setOpen(
              (before) =>
                new Set([...before].filter((one) => one !== key).concat(isOpen ? key : [])),
            )
          }
          onChange={(made) => {
            const after = made(drafts)
            change(made)
            setErrors((before) => stillWrong(before, drafts, after))
          }}
        />
        <ExplainPanel linkId={linkId} rules={drafts.map(({ rule }) => rule)} />
      </form>
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
      <SaveBar
        problems={Object.values(errors).reduce((sum, one) => sum + Object.keys(one).length, 0)}
        message={isQuestion(error) ? undefined : general}
        isChanged={isChanged}
        verb={t.linkForm.save}
        isBusy={isPending}
        onSave={() => save(false)}
        onCancel={onCancel}
      />
    </>
  )
}

type Sent = {
  readonly sent: readonly RuleDraft[]
  readonly isForced: boolean
  readonly acceptsChanges: boolean
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
function useRulesDraft({ linkId, saved, version }: RulesFormProps) {
  const t = useText()
  const { session, membership } = useMembership()
  const owner = { personId: session.person.id, workspaceId: membership?.workspace_id ?? '' }
  // The owner stays the one for whom the page was opened.
  const [key] = useState(() => draftKey(owner, `rules ${linkId}`))
  const [first] = useState(() => draftsOf(saved))
  const [kept, setKept] = useState(() => keptDraft(key))
  const [drafts, setDrafts] = useState(kept?.drafts ?? first)
  const isChanged = JSON.stringify(drafts) !== JSON.stringify(first)
  const base = kept === undefined ? version : kept.version
  useEffect(() => {
    if (isChanged) keepDraft(key, { drafts, version: base })
    else forgetDraft(key)
  }, [key, drafts, base, isChanged])
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
    version: base,
    isChanged,
    isKept: kept !== undefined,
    change: setDrafts,
    discard() {
      forgetDraft(key)
      setKept(undefined)
      setDrafts(first)
    },
    settle: () => forgetDraft(key),
  }
}

type Kept = { readonly drafts: readonly RuleDraft[]; readonly version: string | undefined }

function keptDraft(key: string): Kept | undefined {
  const { drafts, version } = draftAt(key) ?? {}
  if (!Array.isArray(drafts)) return undefined
  return { drafts, version: typeof version === 'string' ? version : undefined }
}
