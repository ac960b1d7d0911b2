import { useMutation, useQuery } from '@tanstack/react-query'
import { UTM_FIELDS, type UtmField } from '@terse/contract/link-fields'
import { type ReactNode, useEffect, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import {
  changeDomainSettings,
  type DomainResource,
  type DomainSettingsResource,
  editedDomainSettingsQuery,
} from '../../api/domains.ts'
import { ruleSetsQuery } from '../../api/rule-sets.ts'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { ManagedNote } from '../../shell/ManagedNote.tsx'
import { useFaults } from '../../shell/use-faults.ts'
import { useMembership } from '../../shell/use-membership.ts'
import { draftAt, draftKey, forgetDraft, keepDraft } from '../../state/drafts.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Field, FormNote, Input, Select, TextArea } from '../../widgets/Field.tsx'
import { Skeleton } from '../../widgets/Loading.tsx'
import { showMessage } from '../../widgets/Toasts.tsx'
import { TRACKINGS, type Tracking, trackingOf, tracksOf } from '../link-form/link-draft.ts'
import { Conflict, KeptDraft } from '../link-form/SaveBar.tsx'

const ROBOTS = ['noindex', 'index', 'disallow'] as const
const DOCUMENTS = ['apple_app_site_association', 'assetlinks'] as const

/** As the fields have them: nothing is an empty text, and a document is its JSON. */
type SettingsDraft = { readonly [F in 'root_url' | 'robots' | 'rule_set' | UtmField]: string } & {
  readonly track_conversions: Tracking
} & {
  readonly [D in (typeof DOCUMENTS)[number]]: string
}

/** What a domain does besides its links. */
export default function DomainSettings({ domain }: { readonly domain: DomainResource }) {
  const { data, error, refetch } = useQuery(editedDomainSettingsQuery(domain.id))
  if (data === undefined) {
    return error === null ? <Skeleton width={240} /> : <LoadFailure error={error} />
  }
  return (
    <SettingsForm
      key={data.version}
      domain={domain}
      saved={data.value}
      version={data.version}
      onReload={() => void refetch()}
    />
  )
}

type SettingsFormProps = {
  readonly domain: DomainResource
  readonly saved: DomainSettingsResource
  readonly version: string | undefined
  readonly onReload: () => void
}

function SettingsForm(props: SettingsFormProps) {
  const { domain, onReload } = props
  const t = useText()
  const mayEdit = useMembership().may('admin')
  const state = useSettingsDraft(props)
  const { draft, isChanged, discard } = state
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: (isForced: boolean) =>
      changeDomainSettings(domain.id, inputOf(draft), isForced ? undefined : state.version),
    onSuccess() {
      state.settle()
      showMessage(t.domains.saved(domain.domain))
      onReload()
    },
  })
  const problems = useProblems(error, draft)
  const fields = { draft, change: state.change, problems }
  const isConflict = error instanceof ApiError && error.status === 412
  return (
    <form
      className="domain-settings"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (!isPending) mutate(false)
      }}
    >
      {state.isKept && <KeptDraft onDiscard={discard} />}
      <ManagedNote
        of={props.saved}
        kind="domain"
        path={`/domains/${domain.id}/settings`}
        version={state.version}
        mayRelease={mayEdit}
        keys={[]}
        onReleased={state.continueWith}
      />
      {!isConflict && <FormNote text={problems.general} />}
      <fieldset className="domain-settings" disabled={!mayEdit}>
        <Behaviour {...fields} />
        <UtmValues {...fields} />
        <Documents {...fields} />
      </fieldset>
      {isConflict && (
        <Conflict
          onReload={() => {
            discard()
            reset()
            onReload()
          }}
          onOverwrite={() => mutate(true)}
        />
      )}
      {mayEdit ? (
        <div>
          <Button type="submit" look="ink" isBusy={isPending} disabled={!isChanged}>
            {t.common.save}
          </Button>
        </div>
      ) : (
        <p className="text-13 text-text-2">{t.settings.needsRole(t.settings.roles.admin)}</p>
      )}
    </form>
  )
}

type FieldsProps = {
  readonly draft: SettingsDraft
  readonly change: (changed: Partial<SettingsDraft>) => void
  readonly problems: ReturnType<typeof useProblems>
}

function Behaviour({ draft, change, problems }: FieldsProps) {
  const t = useText()
  const words = t.domains.more
  const { data: sets = [] } = useQuery(ruleSetsQuery)
  const isUnknown = draft.rule_set !== '' && sets.every(({ id }) => id !== draft.rule_set)
  return (
    <>
      <Field label={words.root} hint={words.rootHint} errors={problems.of('root_url')}>
        {(control) => (
          <Input
            {...control}
            inputMode="url"
            autoComplete="off"
            spellCheck={false}
            placeholder="https://"
            value={draft.root_url}
            onChange={(event) => change({ root_url: event.target.value })}
          />
        )}
      </Field>
      <div className="two">
        <Field label={words.robots} hint={words.robotsHint} errors={problems.of('robots')}>
          {(control) => (
            <Select
              {...control}
              value={draft.robots}
              onChange={(event) => change({ robots: event.target.value })}
            >
              <option value="">{words.robotsChoices.none}</option>
              {ROBOTS.map((policy) => (
                <option key={policy} value={policy}>
                  {words.robotsChoices[policy]}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field label={words.ruleSet} hint={words.ruleSetHint} errors={problems.of('rule_set')}>
          {(control) => (
            <Select
              {...control}
              value={draft.rule_set}
              onChange={(event) => change({ rule_set: event.target.value })}
            >
              <option value="">{t.common.none}</option>
              {sets.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
              {isUnknown && <option value={draft.rule_set}>{draft.rule_set}</option>}
            </Select>
          )}
        </Field>
      </div>
      <Field
        label={t.linkForm.conversions}
        hint={words.trackHint}
        errors={problems.of('track_conversions')}
      >
        {(control) => (
          <Select
            {...control}
            value={draft.track_conversions}
            onChange={(event) => change({ track_conversions: event.target.value as Tracking })}
          >
            {TRACKINGS.map((each) => (
              <option key={each} value={each}>
                {words.trackings[each]}
              </option>
            ))}
          </Select>
        )}
      </Field>
    </>
  )
}

function UtmValues({ draft, change, problems }: FieldsProps) {
  const t = useText()
  return (
    <fieldset className="grid gap-3">
      <legend className="px-0 pb-2 font-medium text-13">
        {t.domains.more.utm} <span className="hint">{t.domains.more.utmHint}</span>
      </legend>
      <div className="two">
        {UTM_FIELDS.map((field, nth) => (
          <Field
            key={field}
            errors={problems.of(`utm.${field}`)}
            label={
              <>
                <span className={`utm-k b${nth + 1}`} />
                {t.linkForm.utmFields[field]}
              </>
            }
          >
            {(control) => (
              <Input
                {...control}
                placeholder={t.linkForm.none}
                value={draft[field]}
                onChange={(event) => change({ [field]: event.target.value })}
              />
            )}
          </Field>
        ))}
      </div>
    </fieldset>
  )
}

function Documents({ draft, change, problems }: FieldsProps) {
  const words = useText().domains.more
  const names = {
    apple_app_site_association: [words.apple, words.appleHint],
    assetlinks: [words.android, words.androidHint],
  } as const
  return DOCUMENTS.map((document): ReactNode => {
    const [label, hint] = names[document]
    return (
      <Field key={document} label={label} hint={hint} errors={problems.below(document)}>
        {(control) => (
          <TextArea
            {...control}
            autoCapitalize="none"
            spellCheck={false}
            value={draft[document]}
            onChange={(event) => change({ [document]: event.target.value })}
          />
        )}
      </Field>
    )
  })
}

/** Thrown in place of a request for documents that are no JSON: what is wrong with each. */
class BadJson extends Error {
  readonly texts: { readonly [D in (typeof DOCUMENTS)[number]]?: string }

  constructor(texts: BadJson['texts']) {
    super('a document is no JSON')
    this.texts = texts
  }
}

/** What is wrong with each field; a fault within a document names its place there. */
function useProblems(error: Error | null, draft: SettingsDraft) {
  const t = useText()
  const isOfApi = error instanceof ApiError
  const paths = isOfApi ? Object.keys(error.fields) : []
  const faults = useFaults(error instanceof BadJson ? null : error, paths)
  const below = (document: (typeof DOCUMENTS)[number]): readonly string[] => {
    const bad = error instanceof BadJson ? error.texts[document] : undefined
    if (bad !== undefined) return [t.domains.more.badJson(bad)]
    if (draft[document].trim() === '') return []
    return paths.flatMap((path) => {
      if (path === document) return faults.of(path)
      if (!path.startsWith(`${document}.`)) return []
      const place = path.slice(document.length + 1)
      return faults.of(path).map((fault) => t.domains.more.faultAt(place, fault))
    })
  }
  return { of: faults.of, below, general: faults.general }
}

/** @throws {BadJson} */
function inputOf(draft: SettingsDraft) {
  const { root_url, robots, rule_set, track_conversions } = draft
  const texts: { [D in (typeof DOCUMENTS)[number]]?: string } = {}
  const parsed = DOCUMENTS.map((document) => {
    try {
      return [document, draft[document].trim() === '' ? null : JSON.parse(draft[document])]
    } catch (error) {
      texts[document] = error instanceof Error ? error.message : String(error)
      return [document, null]
    }
  })
  if (Object.keys(texts).length > 0) throw new BadJson(texts)
  const utm = UTM_FIELDS.map((field) => [field, draft[field].trim() || null])
  return {
    root_url: root_url.trim() || null,
    robots: robots || null,
    rule_set: rule_set || null,
    track_conversions: tracksOf(track_conversions),
    utm: Object.fromEntries(utm),
    ...Object.fromEntries(parsed),
  }
}

function draftOf(saved: DomainSettingsResource): SettingsDraft {
  const text = (document: unknown) => (document === null ? '' : JSON.stringify(document, null, 2))
  const utm = UTM_FIELDS.map((field) => [field, saved.utm[field] ?? ''])
  return {
    root_url: saved.root_url ?? '',
    robots: saved.robots ?? '',
    rule_set: saved.rule_set ?? '',
    track_conversions: trackingOf(saved.track_conversions),
    ...(Object.fromEntries(utm) as { [F in UtmField]: string }),
    apple_app_site_association: text(saved.apple_app_site_association),
    assetlinks: text(saved.assetlinks),
  }
}

/** What is left unsaved is kept in this tab, with the version that it began with. */
function useSettingsDraft({ domain, saved, version }: SettingsFormProps) {
  const { session, membership } = useMembership()
  const owner = { personId: session.person.id, workspaceId: membership?.workspace_id ?? '' }
  const [key] = useState(() => draftKey(owner, `domain settings ${domain.id}`))
  const [first] = useState(() => draftOf(saved))
  const [kept, setKept] = useState(() => draftAt(key))
  const [draft, setDraft] = useState<SettingsDraft>(
    kept === undefined ? first : { ...first, ...(kept['draft'] as Partial<SettingsDraft>) },
  )
  const isChanged = JSON.stringify(draft) !== JSON.stringify(first)
  const [base, setBase] = useState(
    kept === undefined ? version : (kept['version'] as string | undefined),
  )
  useEffect(() => {
    if (isChanged) keepDraft(key, { draft, version: base })
    else forgetDraft(key)
  }, [key, draft, base, isChanged])
  return {
    draft,
    version: base,
    continueWith: setBase,
    isChanged,
    isKept: kept !== undefined,
    change: (changed: Partial<SettingsDraft>) => setDraft((before) => ({ ...before, ...changed })),
    discard() {
      forgetDraft(key)
      setKept(undefined)
      setDraft(first)
      setBase(version)
    },
    settle: () => forgetDraft(key),
  }
}
