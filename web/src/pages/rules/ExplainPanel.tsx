import { useQuery } from '@tanstack/react-query'
import type { ExplainBody, ExplanationResource, MadeUpVisitor } from '@terse/contract/explain'
import type { RuleInput } from '@terse/contract/rules'
import { type ReactNode, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { explanationQuery } from '../../api/explain.ts'
import type { DetailedLink } from '../../api/links.ts'
import { ruleSetsQuery } from '../../api/rule-sets.ts'
import { Icon, type IconNode } from '../../icons/Icon.tsx'
import { BadIcon, GoodIcon, SkippedIcon } from '../../icons/index.ts'
import { useFaults } from '../../shell/use-faults.ts'
import { useSettled } from '../../state/observable.ts'
import { CopyButton } from '../../widgets/CopyButton.tsx'
import { Examples } from './ExplainExamples.tsx'
import { FIRST_VISITOR, VisitorFields } from './ExplainVisitor.tsx'
import { Sentence } from './RuleSentence.tsx'
import type { ListKind, RuleLanguage } from './rule-words.ts'
import { whenSentence } from './sentence.ts'
import { useRuleLanguage } from './use-rule-language.ts'

/** Fields of a visitor whose faults stand at them. */
const PLACED = ['path']

type ExplainPanelProps = {
  readonly link: DetailedLink
  /** The rules and the set as they are being edited. */
  readonly rules: readonly RuleInput[]
  readonly ruleSet: string | null
  /** Whether they differ from those that are saved. */
  readonly isChanged: boolean
  readonly isReadOnly: boolean
  /** The version of the link on which they are based; an example that is kept makes another one. */
  readonly version: string | undefined
  readonly onVersion: (version: string | undefined) => void
}

/** Where a made-up visitor goes by the rules as they are being edited, and why. */
export function ExplainPanel(props: ExplainPanelProps) {
  const { link, rules, ruleSet, isChanged, isReadOnly, version, onVersion } = props
  const { w } = useRuleLanguage()
  const [visitor, setVisitor] = useState<MadeUpVisitor>(() =>
    link.password === null ? FIRST_VISITOR : { ...FIRST_VISITOR, password: true },
  )
  const wanted: ExplainBody = {
    ...visitor,
    ...(isChanged && { rules: [...rules], rule_set: ruleSet }),
  }
  const body: ExplainBody = JSON.parse(useSettled(JSON.stringify(wanted)))
  // Rules that are being written would only be refused.
  const isReady = (body.rules ?? []).every(isComplete)
  const { data, error, isPlaceholderData } = useQuery({
    ...explanationQuery(link.id, link.updated_at, body),
    enabled: isReady,
  })
  const faults = useFaults(error, PLACED)
  const isOfRules =
    error instanceof ApiError &&
    Object.keys(error.fields).some((field) => field.startsWith('rules'))
  // What rules say that are wrong would be wrong too.
  const isShown = isReady && error === null && data !== undefined
  const note = isOfRules || !isReady ? w.explain.incomplete : faults.general
  return (
    <aside className="look" aria-label={w.explain.title}>
      <section className="explain-part">
        <h2 className="sec-h">{w.explain.title}</h2>
        <VisitorFields link={link} visitor={visitor} errorsOf={faults.of} onChange={setVisitor} />
      </section>
      <div
        className={isPlaceholderData && isShown ? 'explain-part is-old' : 'explain-part'}
        aria-live="polite"
      >
        {note !== undefined && <p className="hint">{note}</p>}
        {isShown && <Explained explained={data} rules={body.rules ?? rules} />}
      </div>
      {data !== undefined && (
        <Examples
          linkId={link.id}
          explained={data}
          visitor={visitor}
          // What a visitor gets by rules that are not saved is not what an example would get.
          isExpected={isChanged && error === null}
          isReadOnly={isReadOnly}
          version={version}
          onVersion={onVersion}
          onTry={setVisitor}
        />
      )}
    </aside>
  )
}

/** Whether each of its destinations is an address. */
function isComplete({ then: { url, split = [] } }: RuleInput): boolean {
  const urls = url === undefined ? split.map((variant) => variant.url) : [url]
  return urls.every((each) => URL.canParse(each))
}

type ExplainedProps = {
  readonly explained: ExplanationResource
  /** Those of the link, by which it was explained. */
  readonly rules: readonly RuleInput[]
}

function Explained({ explained, rules }: ExplainedProps) {
  const { w } = useRuleLanguage()
  const { location, counted, domain_works, visitor } = explained
  return (
    <>
      <Trace explained={explained} rules={rules} />
      {location !== null && (
        <section className="explain-part tight">
          <div className="lab-row">
            <h2 className="sec-h">{w.explain.leads}</h2>
            <CopyButton text={location} label={w.explain.copy} className="-my-1 -mr-1.5" />
          </div>
          <p className="final">{location}</p>
          <UrlParts explained={explained} />
        </section>
      )}
      <p className="verdict">
        <Icon of={counted.as === 'click' ? GoodIcon : SkippedIcon} small />
        <span>{w.explain.counts(counted.as, visitor.label)}</span>
      </p>
      {!domain_works && <p className="hint">{w.explain.domainPending}</p>}
    </>
  )
}

/** What each rule did, in their order, and what decided where none of them did. */
function Trace({ explained, rules }: ExplainedProps) {
  const language = useRuleLanguage()
  const { w } = language
  const { data: sets = [] } = useQuery(ruleSetsQuery)
  const { decided_by: by, kind } = explained
  const ofSets = sets.flatMap((set) =>
    set.rules.map((source, nth) => ({ source, place: `${set.name} ${nth + 1}` })),
  )
  const tried = explained.rules.map((rule, nth) => {
    const { source, place } =
      rule.of === 'link'
        ? { source: rules[nth], place: `${nth + 1}` }
        : (ofSets.find((one) => one.source.id === rule.id) ?? { place: w.set.title })
    const name = rule.name ?? (source && <Sentence text={whenSentence(source.when, language)} />)
    return { ...rule, place, name }
  })
  const skipped = tried.filter(({ result }) => result === 'not_tried').map(({ place }) => place)
  const isElse = kind === 'redirect' && by.by !== 'rule'
  return (
    <ol className="trace" aria-label={w.explain.trace}>
      {tried.map(({ id, of, place, name, result, failed }) =>
        result === 'not_tried' ? null : (
          <Step
            key={`${of} ${id}`}
            icon={result === 'decided' ? GoodIcon : BadIcon}
            state={result}
            title={
              <>
                <b>{place}</b> {name}
              </>
            }
          >
            {failed === null
              ? w.explain.decided(by.variant, by.chosen_by)
              : w.explain.failed(...reasonOf(failed, language))}
          </Step>
        ),
      )}
      {isElse && (
        <Step icon={GoodIcon} state="decided" title={<b>{w.explain.elsewhere(by.by)}</b>}>
          {w.explain.decided(null, null)}
        </Step>
      )}
      {kind !== 'redirect' && (
        <Step icon={GoodIcon} state="decided" title={<b>{w.explain.page}</b>}>
          {w.explain.pages[kind]}
        </Step>
      )}
      {skipped.length > 0 && (
        <Step icon={SkippedIcon} state="skipped" title={skipped.join(', ')}>
          {w.explain.notTried}
        </Step>
      )}
    </ol>
  )
}

type StepProps = {
  readonly icon: IconNode
  readonly state: 'decided' | 'failed' | 'skipped'
  readonly title: ReactNode
  readonly children: ReactNode
}

function Step({ icon, state, title, children }: StepProps) {
  return (
    <li className={`is-${state}`}>
      <Icon of={icon} />
      <span>
        <span className="tried">{title}</span>
        <small>{children}</small>
      </span>
    </li>
  )
}

type Part = { readonly text: string; readonly from: string; readonly isGone?: true }

/** Of what the address is made, and what of the visitor's query is not in it. */
function UrlParts({ explained: { url, decided_by: by } }: Pick<ExplainedProps, 'explained'>) {
  const { w } = useRuleLanguage()
  if (url === null) return null
  const words = w.explain.parts
  const parts: readonly Part[] = [
    { text: url.destination, from: words.destination(by.variant) },
    ...url.placeholders.map(({ of, name, value }) => ({
      text: `${of === 'query' ? `{query.${name}}` : `{${name}}`} = ${value}`,
      from: words[of],
    })),
    ...(url.path === null ? [] : [{ text: url.path, from: words.path }]),
    ...url.utm.map(({ of, name, value }) => ({ text: `${name}=${value}`, from: words[of] })),
    ...url.query.map(({ parameter, effect, reason }): Part => {
      if (effect !== 'removed') return { text: parameter, from: words.query }
      return { text: parameter, from: words.removed[reason ?? 'setting'], isGone: true }
    }),
    ...(url.token === null ? [] : [{ text: `${url.token}=…`, from: words.token }]),
    ...url.replaced.map((text): Part => ({ text, from: words.replaced, isGone: true })),
  ]
  if (parts.length === 1) return null
  return (
    <ul className="apart" aria-label={w.explain.madeOf}>
      {parts.map(({ text, from, isGone }) => (
        <li key={`${from} ${text}`}>
          {isGone ? <del>{text}</del> : <span>{text}</span>}
          <span>{from}</span>
        </li>
      ))}
    </ul>
  )
}

type Failed = NonNullable<ExplanationResource['rules'][number]['failed']>

/** What a condition that did not hold is about, and what the visitor has. */
function reasonOf({ path, found }: Failed, language: RuleLanguage): [string, string] {
  const { w, instant, valueName } = language
  const condition = path.split('.').at(-1) as keyof typeof w.kinds | 'any'
  if (condition === 'any') return [w.anyOf, found || w.explain.nothing]
  if (condition === 'qr' || condition === 'bot') {
    return [w.kinds[condition], found === 'true' ? w.explain.yes : w.explain.no]
  }
  if (condition === 'time') return [w.kinds.time, instant(found)]
  if (condition === 'query' || found === '') return [w.kinds[condition], found || w.explain.nothing]
  const names = found.split(', ').map((value) => valueName(condition satisfies ListKind, value))
  return [w.kinds[condition], names.join(', ')]
}
