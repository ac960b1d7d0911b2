import { useQuery } from '@tanstack/react-query'
import type { ExplainBody, ExplanationResource } from '@terse/contract/explain'
import type { RuleInput } from '@terse/contract/rules'
import { type ReactNode, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { explanationQuery } from '../../api/explain.ts'
import { errorText } from '../../shell/use-faults.ts'
import { useSettled } from '../../state/observable.ts'
import { useText } from '../../text/use-text.ts'
import { Field, Input, Select } from '../../widgets/Field.tsx'
import type { RuleLanguage } from './rule-words.ts'
import { useRuleLanguage } from './use-rule-language.ts'

/** What browsers send, for each kind of device that can be chosen. */
const AGENTS = {
  iphone:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
  ipad: 'Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
  android:
    'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
  windows:
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
  mac: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
  bot: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
} as const

type Agent = keyof typeof AGENTS
type Visitor = Pick<ExplainBody, 'country' | 'language' | 'query' | 'qr'> & {
  readonly agent: Agent
  /** As the field for a local time has it; '' for now. */
  readonly at: string
}

type ExplainPanelProps = {
  readonly linkId: string
  readonly rules: readonly RuleInput[]
  /** Whether the link gets another rule set when it is saved: an explanation uses the saved one. */
  readonly isSetChanged: boolean
}

/** Where a made-up visitor goes by the rules as they are being edited, and why. */
export function ExplainPanel({ linkId, rules, isSetChanged }: ExplainPanelProps) {
  const t = useText()
  const language = useRuleLanguage()
  const { w } = language
  const [isOpen, setOpen] = useState(false)
  const [visitor, setVisitor] = useState<Visitor>({ agent: 'iphone', at: '' })
  const { agent, at, ...rest } = visitor
  const wanted: ExplainBody = {
    ...rest,
    agent: AGENTS[agent],
    ...(at !== '' && { at: new Date(at).toISOString() }),
    rules: [...rules],
  }
  const body: ExplainBody = JSON.parse(useSettled(JSON.stringify(wanted)))
  const { data, error, isPlaceholderData } = useQuery({
    ...explanationQuery(linkId, body),
    // Rules that are being written would only be refused.
    enabled: isOpen && (body.rules ?? []).every(isComplete),
  })
  const change = (changed: Partial<Visitor>) => setVisitor((before) => ({ ...before, ...changed }))
  return (
    <details className="explain" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{w.explain.title}</summary>
      <VisitorFields visitor={visitor} onChange={change} language={language} />
      <div className={isPlaceholderData ? 'is-old' : ''} aria-live="polite">
        {isSetChanged && <p className="hint">{w.explain.savedSet}</p>}
        {error !== null && (
          <p className="hint">
            {error instanceof ApiError && error.status === 422
              ? w.explain.incomplete
              : errorText(error, t)}
          </p>
        )}
        {error === null && data !== undefined && <Explained explained={data} language={language} />}
      </div>
    </details>
  )
}

/** Whether each of its destinations is an address. */
function isComplete({ then: { url, split = [] } }: RuleInput): boolean {
  const urls = url === undefined ? split.map((variant) => variant.url) : [url]
  return urls.every((each) => URL.canParse(each))
}

type VisitorFieldsProps = {
  readonly visitor: Visitor
  readonly onChange: (changed: Partial<Visitor>) => void
  readonly language: RuleLanguage
}

function VisitorFields({ visitor, onChange, language }: VisitorFieldsProps) {
  const { w, values, valueName } = language
  const options = (kind: 'country' | 'language') =>
    values(kind)
      .filter((value) => kind === 'language' || (value.length === 2 && value !== 'EU'))
      .map((value) => (
        <option key={value} value={value}>
          {valueName(kind, value)}
        </option>
      ))
  const choice = (kind: 'country' | 'language'): ReactNode => (
    <Field label={w.kinds[kind]}>
      {(props) => (
        <Select
          {...props}
          value={visitor[kind] ?? ''}
          onChange={({ target }) => onChange({ [kind]: target.value || undefined })}
        >
          <option value="">{w.explain.unknown}</option>
          {options(kind)}
        </Select>
      )}
    </Field>
  )
  return (
    <div className="explain-visitor">
      {choice('country')}
      <Field label={w.kinds.device}>
        {(props) => (
          <Select
            {...props}
            value={visitor.agent}
            onChange={({ target }) => onChange({ agent: target.value as Agent })}
          >
            {(Object.keys(AGENTS) as Agent[]).map((each) => (
              <option key={each} value={each}>
                {w.explain.agents[each]}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {choice('language')}
      <Field label={w.kinds.time}>
        {(props) => (
          <Input
            {...props}
            type="datetime-local"
            value={visitor.at}
            onChange={({ target }) => onChange({ at: target.value })}
          />
        )}
      </Field>
      <Field label={w.kinds.query}>
        {(props) => (
          <Input
            {...props}
            value={visitor.query ?? ''}
            placeholder="vip=1"
            onChange={({ target }) => onChange({ query: target.value })}
          />
        )}
      </Field>
      <label className="explain-check">
        <input
          type="checkbox"
          className="cb"
          checked={visitor.qr ?? false}
          onChange={({ target }) => onChange({ qr: target.checked })}
        />
        {w.kinds.qr}
      </label>
    </div>
  )
}

type ExplainedProps = {
  readonly explained: ExplanationResource
  readonly language: RuleLanguage
}

function Explained({ explained, language }: ExplainedProps) {
  const { w } = language
  const { location, kind, rules, counted, examples, decided_by } = explained
  const changed = examples.filter(({ as_expected }) => !as_expected)
  const own = rules.filter(({ of }) => of === 'link').length
  return (
    <>
      <ol className="explain-rules">
        {rules.map(({ id, of, name, result, failed }, nth) => (
          <li key={`${of} ${id}`} className={`is-${result}`}>
            <b>
              {of === 'rule_set' && `${w.set.title}: `}
              {name ?? w.explain.rule(nth < own ? nth + 1 : nth - own + 1)}
            </b>{' '}
            {result === 'decided' && w.explain.decided(decided_by.variant)}
            {result === 'not_tried' && w.explain.notTried}
            {failed !== null && w.explain.failed(...reasonOf(failed, language))}
          </li>
        ))}
      </ol>
      <p className="explain-to">
        {location === null ? (
          w.explain.page(w.explain.pages[kind])
        ) : (
          <span className="url">{location}</span>
        )}
      </p>
      <p className="hint">{w.explain.counts[counted.as]}</p>
      {changed.length > 0 && (
        <p className="hint">{w.explain.changed(changed.map(({ name }) => name))}</p>
      )}
    </>
  )
}

type Failed = NonNullable<ExplanationResource['rules'][number]['failed']>

/** What a condition that did not hold is about, and what the visitor has. */
function reasonOf({ path, found }: Failed, { w, instant }: RuleLanguage): [string, string] {
  const condition = path.split('.').at(-1) as keyof typeof w.kinds | 'any'
  if (condition === 'any') return [w.anyOf, found || w.explain.nothing]
  if (condition === 'qr' || condition === 'bot') {
    return [w.kinds[condition], found === 'true' ? w.explain.yes : w.explain.no]
  }
  return [w.kinds[condition], condition === 'time' ? instant(found) : found || w.explain.nothing]
}
