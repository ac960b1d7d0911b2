import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { type CreateImportInput, createImport, IMPORTS_KEY } from '../../../api/imports.ts'
import { useFaults } from '../../../shell/use-faults.ts'
import { useText } from '../../../text/use-text.ts'
import { Button } from '../../../widgets/Button.tsx'
import { Field, FormNote, Input } from '../../../widgets/Field.tsx'
import { Section } from '../Section.tsx'
import { ImportSteps } from './ImportSteps.tsx'
import { SOURCES, type Source } from './sources.ts'

/** The first step: what to read. */
export default function NewImportPage() {
  const t = useText()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [source, setSource] = useState<Source>()
  const [url, setUrl] = useState('')
  const [token, setToken] = useState('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: (input: CreateImportInput) => createImport(input),
    async onSuccess({ id }) {
      await client.invalidateQueries({ queryKey: IMPORTS_KEY })
      await navigate({ to: '/settings/imports/$importId', params: { importId: id } })
    },
  })
  const faults = useFaults(error, ['url', 'token'])
  function submit() {
    if (source === undefined) return
    mutate({
      source: source.id,
      ...(source.asks !== 'file' && { token: token.trim() }),
      ...(source.asks === 'address' && { url: url.trim() }),
    })
  }
  return (
    <Section title={t.imports.newTitle} hint={t.imports.newHint} isFirst>
      <form
        className="grid gap-5"
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <ImportSteps shown={undefined} needsFile={source === undefined || source.asks === 'file'} />
        <FormNote text={faults.general} />
        <SourceChoice chosen={source} onChange={setSource} />
        {source !== undefined && (
          <div className="grid gap-4 max-w-[420px]">
            <p className="muted text-13">{t.imports.sourceHints[source.id]}</p>
            {source.asks === 'address' && (
              <Field label={t.imports.address} errors={faults.of('url')}>
                {(control) => (
                  <Input
                    {...control}
                    required
                    type="url"
                    placeholder="https://links.example.com"
                    value={url}
                    onChange={(event) => setUrl(event.target.value)}
                  />
                )}
              </Field>
            )}
            {source.asks !== 'file' && (
              <Field label={t.imports.token} hint={t.imports.tokenHint} errors={faults.of('token')}>
                {(control) => (
                  <Input
                    {...control}
                    required
                    type="password"
                    autoComplete="off"
                    value={token}
                    onChange={(event) => setToken(event.target.value)}
                  />
                )}
              </Field>
            )}
            <div>
              <Button type="submit" look="ink" isBusy={isPending}>
                {t.imports.next}
              </Button>
            </div>
          </div>
        )}
      </form>
    </Section>
  )
}

type SourceChoiceProps = {
  readonly chosen: Source | undefined
  readonly onChange: (source: Source) => void
}

function SourceChoice({ chosen, onChange }: SourceChoiceProps) {
  const t = useText()
  return (
    <fieldset>
      <legend className="lab mb-2 p-0">{t.imports.source}</legend>
      <div className="choices">
        {SOURCES.map((source) => (
          <label key={source.id} className="choice">
            <input
              type="radio"
              name="source"
              checked={chosen?.id === source.id}
              onChange={() => onChange(source)}
            />
            <b>{source.name}</b>
            <span>{t.imports.asks[source.asks]}</span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
