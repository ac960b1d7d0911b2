import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ExampleInput, ExplanationResource, MadeUpVisitor } from '@terse/contract/explain'
import { type FormEvent, useState } from 'react'
import { areOfOneState, changeExamples, EXPLANATION_KEY } from '../../api/explain.ts'
import { LINKS_KEY } from '../../api/links.ts'
import { Icon } from '../../icons/Icon.tsx'
import { AddIcon, BadIcon, CloseIcon, GoodIcon } from '../../icons/index.ts'
import { useFaults } from '../../shell/use-faults.ts'
import { useText } from '../../text/use-text.ts'
import { Button, IconButton } from '../../widgets/Button.tsx'
import { shortDestination } from '../../widgets/destination-parts.ts'
import { Field, Input } from '../../widgets/Field.tsx'
import type { RuleLanguage } from './rule-words.ts'
import { useRuleLanguage } from './use-rule-language.ts'

const EXAMPLES_MAX = 20

type ExamplesProps = {
  readonly linkId: string
  readonly explained: ExplanationResource
  /** Who would be kept. */
  readonly visitor: MadeUpVisitor
  /** Whether to expect what is shown, in place of what they get now. */
  readonly isExpected: boolean
  readonly isReadOnly: boolean
  readonly version: string | undefined
  readonly onVersion: (version: string | undefined) => void
  readonly onTry: (visitor: MadeUpVisitor) => void
}

/** The visitors that are tried before each save, and what they would get. */
export function Examples(props: ExamplesProps) {
  const { linkId, explained, visitor, isExpected, isReadOnly, version, onVersion, onTry } = props
  const { w } = useRuleLanguage()
  const client = useQueryClient()
  const [isNaming, setNaming] = useState(false)
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: (change: (examples: readonly ExampleInput[]) => readonly ExampleInput[]) =>
      changeExamples(linkId, change),
    async onSuccess({ from, to }) {
      // Another person's change of the link is still noticed when the rules are saved.
      if (areOfOneState(from, version)) onVersion(to)
      setNaming(false)
      await client.invalidateQueries({ queryKey: LINKS_KEY })
      await client.invalidateQueries({ queryKey: EXPLANATION_KEY })
    },
  })
  const { examples } = explained
  function keep(name: string) {
    const { kind, location, decided_by, url } = explained
    const { rule, variant } = decided_by
    // Examples are tried without the token of a visit and the UTM values of the domain.
    const isOfLink =
      url === null || (url.token === null && url.utm.every(({ of }) => of === 'link'))
    const place = isOfLink ? { location } : {}
    const expected = isExpected ? { expected: { kind, ...place, rule, variant } } : {}
    mutate((kept) => [...kept, { name, visitor, ...expected }])
  }
  return (
    <section className="explain-part tight" aria-labelledby="explain-examples">
      <div className="lab-row items-center">
        <h2 className="sec-h" id="explain-examples">
          {w.explain.examples.title}
        </h2>
        {!isReadOnly && !isNaming && examples.length < EXAMPLES_MAX && (
          <Button
            size="small"
            look="bare"
            icon={AddIcon}
            className="-mr-2.5"
            onClick={() => {
              reset()
              setNaming(true)
            }}
          >
            {w.explain.examples.keep}
          </Button>
        )}
      </div>
      {isNaming && (
        <NameForm
          error={error}
          isBusy={isPending}
          onKeep={keep}
          onCancel={() => setNaming(false)}
        />
      )}
      {examples.length === 0 && !isNaming && <p className="hint">{w.explain.examples.none}</p>}
      <ul className="kept">
        {examples.map((example) => (
          <ExampleItem
            key={example.name}
            example={example}
            onTry={() => onTry(example.visitor)}
            onRemove={
              isReadOnly
                ? undefined
                : () => mutate((kept) => kept.filter(({ name }) => name !== example.name))
            }
          />
        ))}
      </ul>
    </section>
  )
}

type NameFormProps = {
  readonly error: Error | null
  readonly isBusy: boolean
  readonly onKeep: (name: string) => void
  readonly onCancel: () => void
}

function NameForm({ error, isBusy, onKeep, onCancel }: NameFormProps) {
  const t = useText()
  const { w } = useRuleLanguage()
  const [name, setName] = useState('')
  const { withGeneral } = useFaults(error)
  function submit(event: FormEvent) {
    event.preventDefault()
    if (!isBusy) onKeep(name.trim())
  }
  return (
    <form className="explain-name" noValidate onSubmit={submit}>
      <Field label={w.explain.examples.name} errors={withGeneral('name')}>
        {(control) => (
          <Input
            {...control}
            autoFocus
            autoComplete="off"
            placeholder={w.explain.examples.placeholder}
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        )}
      </Field>
      <div className="flex gap-2 justify-end">
        <Button size="small" look="bare" onClick={onCancel}>
          {t.common.cancel}
        </Button>
        <Button size="small" type="submit" isBusy={isBusy}>
          {w.explain.examples.save}
        </Button>
      </div>
    </form>
  )
}

type ExampleItemProps = {
  readonly example: ExplanationResource['examples'][number]
  /** Shows its visitor in the panel. */
  readonly onTry: () => void
  readonly onRemove: (() => void) | undefined
}

function ExampleItem({ example, onTry, onRemove }: ExampleItemProps) {
  const language = useRuleLanguage()
  const { w } = language
  const { name, expected, result, as_expected } = example
  return (
    <li className={as_expected ? 'is-good' : 'is-bad'}>
      <Icon of={as_expected ? GoodIcon : BadIcon} />
      <span>
        <button type="button" onClick={onTry}>
          {name}
        </button>
        {!as_expected && (
          <small>
            {w.explain.examples.before(resultText(expected, language))}
            <br />
            <em>{w.explain.examples.now(resultText(result, language))}</em>
          </small>
        )}
        <span className="sr">{as_expected ? w.explain.examples.good : w.explain.examples.bad}</span>
      </span>
      {onRemove !== undefined && (
        <IconButton
          small
          icon={CloseIcon}
          label={w.explain.examples.remove(name)}
          onClick={onRemove}
        />
      )}
    </li>
  )
}

type Result = ExplanationResource['examples'][number]['expected']

function resultText({ kind, location, variant }: Result, { w }: RuleLanguage): string {
  const pages: Readonly<Record<string, string>> = w.explain.pages
  const place = location ? shortDestination(location) : (pages[kind ?? ''] ?? w.explain.nothing)
  return variant ? `${place} (${variant})` : place
}
