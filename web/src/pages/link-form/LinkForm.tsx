import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useBlocker } from '@tanstack/react-router'
import { UTM_FIELDS } from '@terse/contract/link-fields'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import {
  type DetailedLink,
  destinationOf,
  keyAvailabilityQuery,
  LINKS_KEY,
  type LinkFields,
  type LinkResource,
  sameDestinationQuery,
} from '../../api/links.ts'
import { Icon } from '../../icons/Icon.tsx'
import { CheckIcon, DiceIcon, InfoIcon, LinkIcon } from '../../icons/index.ts'
import { DomainSelect } from '../../shell/DomainSelect.tsx'
import { useShortcut } from '../../shell/shortcuts.ts'
import { TagInput } from '../../shell/TagInput.tsx'
import { faultsByField, useFaults } from '../../shell/use-faults.ts'
import { useMembership } from '../../shell/use-membership.ts'
import { draftAt, draftKey, forgetDraft, keepDraft } from '../../state/drafts.ts'
import { useSettled } from '../../state/observable.ts'
import { faultText } from '../../text/fault-text.ts'
import { useText } from '../../text/use-text.ts'
import { IconButton } from '../../widgets/Button.tsx'
import { Field, Input, noteSent } from '../../widgets/Field.tsx'
import { showMessage } from '../../widgets/Toasts.tsx'
import { LinkPreview } from './LinkPreview.tsx'
import { apiFieldOf, type FormState, faultsOf, fieldsOf, type LinkDraft } from './link-draft.ts'
import { OptionalBlocks } from './OptionalBlocks.tsx'
import { Conflict, KeptDraft, SaveBar } from './SaveBar.tsx'

type LinkFormProps = {
  /** Names the form: what is left unsaved in it is back where it is opened again. */
  readonly place: string
  readonly start: LinkDraft
  /** Undefined for a new one. */
  readonly link: DetailedLink | undefined
  /** Over the fields. */
  readonly note?: ReactNode
  readonly save: (fields: LinkFields) => Promise<LinkResource>
  /** Saves even though another person has changed the link meanwhile. */
  readonly overwrite?: (fields: LinkFields) => Promise<LinkResource>
  /** Starts again from what another person has saved. */
  readonly onReload?: () => void
  readonly onSaved: (link: LinkResource) => void
  readonly onCancel: () => void
}

type Errors = Readonly<Record<string, readonly string[]>>

/** The fields of the API that the form shows. */
const FIELDS = [
  'url',
  'domain',
  'key',
  'tags',
  ...UTM_FIELDS,
  'ios',
  'android',
  'password',
  'expires_at',
  'expired_redirect_url',
  'active_from',
  'max_clicks',
  'path',
  'query',
  'notes',
  'title',
  'description',
  'image',
  'external_id',
  'prevent_delete',
]

/** All fields of a link, with a preview beside them. Errors of the API stand at their fields. */
export function LinkForm(props: LinkFormProps) {
  const { place, start, link, note, save, overwrite = save, onReload, onSaved, onCancel } = props
  const t = useText()
  const client = useQueryClient()
  const form = useRef<HTMLFormElement>(null)
  const { draft, isChanged, isKept, ...held } = useDraft(place, start)
  const [errors, setErrors] = useState<Errors>({})
  const { mutate, isPending, error } = useMutation({
    // The request begins with `mutate`, not here: a copy of the link is to begin within the gesture.
    mutationFn: (request: Promise<LinkResource>) => request,
    async onSuccess(saved) {
      held.settle()
      await client.invalidateQueries({ queryKey: LINKS_KEY })
      onSaved(saved)
    },
    onError(failure) {
      setErrors(faultsByField(failure, FIELDS, t))
    },
  })
  const { general } = useFaults(error, FIELDS)
  const isConflict = error instanceof ApiError && error.status === 412
  const fields = fieldsOf(draft, link)

  function submit() {
    if (form.current !== null) noteSent(form.current)
    const faults = Object.entries(faultsOf(draft))
    if (faults.length > 0) {
      setErrors(Object.fromEntries(faults.map(([field, text]) => [field, [t.linkForm[text]]])))
      return
    }
    if (isPending) return
    setErrors({})
    mutate(save(fields))
  }

  useShortcut('mod+Enter', (text) => text.shortcuts.save, submit)
  const state: FormState = {
    draft,
    link,
    errors,
    change(change) {
      held.change(change)
      // A field that is being mended is wrong no longer, until the API says so again.
      setErrors((before) => {
        const names = new Set(Object.keys(change).map(apiFieldOf))
        return Object.fromEntries(Object.entries(before).filter(([name]) => !names.has(name)))
      })
    },
  }
  return (
    <>
      <div className="edit">
        <form
          className="form"
          ref={form}
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            submit()
          }}
        >
          {isKept && <KeptDraft onDiscard={held.discard} />}
          {note}
          <DestinationField {...state} />
          <AddressFields {...state} />
          <TagsField {...state} />
          <OptionalBlocks {...state} />
          <input type="submit" hidden />
        </form>
        <LinkPreview {...state} />
      </div>
      {isConflict && (
        <Conflict
          onReload={() => {
            held.settle()
            onReload?.()
          }}
          onOverwrite={() => mutate(overwrite(fields))}
        />
      )}
      <SaveBar
        problems={Object.keys(errors).length}
        message={isConflict ? undefined : general}
        isChanged={isChanged}
        verb={link === undefined ? t.linkForm.create : t.linkForm.save}
        isBusy={isPending}
        onSave={submit}
        onCancel={onCancel}
      />
    </>
  )
}

/** Says when other links lead to the same destination. */
function DestinationField({ draft, link, errors, change }: FormState) {
  const t = useText()
  const url = useSettled(destinationOf(draft.url) ?? '')
  const { data: total = 0 } = useQuery({ ...sameDestinationQuery(url), enabled: url !== '' })
  // The link that is being edited is one of them.
  const others = link !== undefined && url === link.url ? total - 1 : total
  const hint = others > 0 && (
    <span className="flex gap-1.5 items-center">
      <Icon of={InfoIcon} small />
      <span>
        {t.linkForm.sameDestination(others)}{' '}
        <Link className="link" to="/links" search={{ url }} target="_blank">
          {t.linkForm.showThem}
        </Link>
      </span>
    </span>
  )
  return (
    <Field label={t.linkForm.destination} hint={hint || undefined} errors={errors['url']}>
      {(control) => (
        <Input
          {...control}
          icon={LinkIcon}
          inputMode="url"
          placeholder="https://"
          required
          autoFocus={link === undefined}
          value={draft.url}
          onChange={(event) => change({ url: event.target.value })}
        />
      )}
    </Field>
  )
}

/** Domain and key, with whether the key is free. */
function AddressFields({ draft, link, errors, change }: FormState) {
  const t = useText()
  const client = useQueryClient()
  const key = useSettled(draft.key.trim())
  const isOwn = link !== undefined && key === link.key && draft.domain === link.domain
  const { data: found } = useQuery({
    ...keyAvailabilityQuery(draft.domain, key),
    enabled: key !== '' && !isOwn,
  })
  const isCurrent = found?.key === draft.key.trim()
  const name = `${draft.domain}/${found?.key}`
  const isTaken = isCurrent && found.available === false
  const refusal = found?.fault && faultText(found.fault, t.faults)
  const isFree = isCurrent && found.available === true && key !== ''

  async function suggest() {
    const { suggestion } = await client.fetchQuery({
      ...keyAvailabilityQuery(draft.domain, ''),
      staleTime: 0,
    })
    change({ key: suggestion })
  }

  return (
    <div className="two dk">
      <Field label={t.linkForm.domain} errors={errors['domain']}>
        {(control) => (
          <DomainSelect
            {...control}
            value={draft.domain}
            onChange={(domain) => change({ domain })}
          />
        )}
      </Field>
      <Field
        label={t.linkForm.key}
        aside={<span className="hint">{t.linkForm.keyHint}</span>}
        errors={errors['key'] ?? (isTaken ? [`${name} ${refusal}`] : undefined)}
        hint={
          isFree ? (
            <span className="good">
              <Icon of={CheckIcon} />
              {t.linkForm.keyFree(name)}
            </span>
          ) : undefined
        }
      >
        {(control) => (
          <Input
            {...control}
            autoCapitalize="none"
            autoComplete="off"
            spellCheck={false}
            before={<span className="muted">/</span>}
            after={
              <IconButton
                icon={DiceIcon}
                label={t.linkForm.randomKey}
                className="-mr-1.5"
                onClick={suggest}
              />
            }
            value={draft.key}
            onChange={(event) => change({ key: event.target.value })}
          />
        )}
      </Field>
      {/* The text below the key is not read when another field has changed it. */}
      <span className="sr" role="status">
        {isFree && t.linkForm.keyFree(name)}
        {isTaken && `${name} ${refusal}`}
      </span>
    </div>
  )
}

function TagsField({ draft, errors, change }: FormState) {
  const t = useText()
  return (
    <Field label={t.linkForm.tags} errors={errors['tags']}>
      {(control) => (
        <TagInput control={control} tags={draft.tags} onChange={(tags) => change({ tags })} />
      )}
    </Field>
  )
}

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
function useDraft(place: string, start: LinkDraft): DraftState {
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
