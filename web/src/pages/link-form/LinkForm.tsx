import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { LINKS_KEY, type LinkFields, type LinkResource } from '../../api/links.ts'
import { Icon } from '../../icons/Icon.tsx'
import { AlertIcon, InfoIcon } from '../../icons/index.ts'
import { keysText, useShortcut } from '../../shell/shortcuts.ts'
import { faultsByField, useFaults } from '../../shell/use-faults.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { noteSent } from '../../widgets/form-faults.ts'
import { AddressFields } from './AddressFields.tsx'
import { DestinationField } from './DestinationField.tsx'
import type { FormState } from './form-state.ts'
import { LinkPreview } from './LinkPreview.tsx'
import { faultsOf, fieldsOf, type LinkDraft, UTM_FIELDS } from './link-draft.ts'
import { OptionalBlocks } from './OptionalBlocks.tsx'
import { TagsField } from './TagsField.tsx'
import { useDraft } from './use-draft.ts'

type LinkFormProps = {
  /** Names the form: what is left unsaved in it is back where it is opened again. */
  readonly place: string
  readonly start: LinkDraft
  /** Undefined for a new one. */
  readonly link: LinkResource | undefined
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
  'external_id',
]

/** All fields of a link, with a preview beside them. Errors of the API stand at their fields. */
export function LinkForm(props: LinkFormProps) {
  const { place, start, link, save, overwrite = save, onReload, onSaved, onCancel } = props
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
        const names = new Set(Object.keys(change).map(fieldOf))
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
        isNew={link === undefined}
        isBusy={isPending}
        onSave={submit}
        onCancel={onCancel}
      />
    </>
  )
}

/** Says that the form does not start as usual. */
function KeptDraft({ onDiscard }: { onDiscard: () => void }) {
  const t = useText()
  return (
    <p className="note items-center" role="status">
      <Icon of={InfoIcon} />
      <span className="grow">{t.linkForm.draftBack}</span>
      <Button size="small" look="bare" onClick={onDiscard}>
        {t.linkForm.discardDraft}
      </Button>
    </p>
  )
}

type ConflictProps = {
  readonly onReload: () => void
  readonly onOverwrite: () => void
}

/** Another person has saved first: the user decides which version stays. */
function Conflict({ onReload, onOverwrite }: ConflictProps) {
  const t = useText()
  return (
    <div className="note warn m-4" role="alert">
      <Icon of={AlertIcon} />
      <span className="grow">{t.linkForm.conflict}</span>
      <Button size="small" onClick={onReload}>
        {t.linkForm.reload}
      </Button>
      <Button size="small" look="bare" onClick={onOverwrite}>
        {t.linkForm.overwrite}
      </Button>
    </div>
  )
}

/** The field of the API that a field of the form belongs to. */
function fieldOf(name: string): string {
  if (name === 'expires') return 'expires_at'
  if (name === 'removesPassword' || name === 'asksPassword') return 'password'
  return name
}

type SaveBarProps = {
  readonly problems: number
  readonly message: string | undefined
  readonly isChanged: boolean
  readonly isNew: boolean
  readonly isBusy: boolean
  readonly onSave: () => void
  readonly onCancel: () => void
}

function SaveBar(props: SaveBarProps) {
  const { problems, message, isChanged, isNew, isBusy, onSave, onCancel } = props
  const t = useText()
  const problem = problems > 0 ? t.common.problems(problems) : message
  return (
    <div className="savebar">
      <span role="status">{problem === undefined && isChanged && t.linkForm.unsaved}</span>
      {problem !== undefined && (
        // The number of fields is announced with the focus.
        <span className="msg" role={problems > 0 ? undefined : 'alert'}>
          <Icon of={AlertIcon} small />
          {problem}
        </span>
      )}
      <div className="end">
        <Button look="bare" onClick={onCancel}>
          {t.common.cancel}
        </Button>
        <Button look="ink" shortcut={keysText('mod+Enter')} isBusy={isBusy} onClick={onSave}>
          {isNew ? t.linkForm.create : t.linkForm.save}
        </Button>
      </div>
    </div>
  )
}
