import { useQuery } from '@tanstack/react-query'
import type { MadeUpVisitor } from '@terse/contract/explain'
import { type ReactNode, useId } from 'react'
import { labelsQuery } from '../../api/labels.ts'
import type { DetailedLink } from '../../api/links.ts'
import { Field, Input, Select } from '../../widgets/Field.tsx'
import { capturesAlways } from '../link-form/link-draft.ts'
import { InstantField } from './ConditionForms.tsx'
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
  messenger: 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
} as const

type Agent = keyof typeof AGENTS
const AGENT_NAMES = Object.keys(AGENTS) as readonly Agent[]

/** With whom the panel begins. */
export const FIRST_VISITOR: MadeUpVisitor = { agent: AGENTS.iphone }

type VisitorFieldsProps = {
  readonly link: DetailedLink
  readonly visitor: MadeUpVisitor
  readonly errorsOf: (field: string) => readonly string[]
  readonly onChange: (changed: MadeUpVisitor) => void
}

/** The visitor that is made up, as far as what the link does may depend on it. */
export function VisitorFields({ link, visitor, errorsOf, onChange }: VisitorFieldsProps) {
  const language = useRuleLanguage()
  const { w } = language
  const { data: labels } = useQuery(labelsQuery)
  const set = (field: keyof MadeUpVisitor) => (value: string | boolean | undefined) =>
    onChange({ ...visitor, [field]: value === '' || value === false ? undefined : value })
  const takesPath = link.options.path !== 'none' || capturesAlways(link)
  const choice = (kind: 'country' | 'language'): ReactNode => (
    <Field label={w.kinds[kind]}>
      {(props) => (
        <Select
          {...props}
          value={visitor[kind] ?? ''}
          onChange={({ target }) => set(kind)(target.value)}
        >
          <option value="">{w.explain.unknown}</option>
          {language
            .values(kind)
            .filter((value) => kind === 'language' || (value.length === 2 && value !== 'EU'))
            .map((value) => (
              <option key={value} value={value}>
                {language.valueName(kind, value)}
              </option>
            ))}
        </Select>
      )}
    </Field>
  )
  return (
    <div className="explain-visitor">
      {choice('country')}
      <AgentField agent={visitor.agent} onChange={set('agent')} />
      {choice('language')}
      <InstantField label={w.kinds.time} value={visitor.at} onChange={set('at')} />
      <TextField
        label={w.kinds.query}
        placeholder="vip=1"
        value={visitor.query}
        onChange={set('query')}
      />
      {labels?.parameter && (
        <TextField
          label={w.kinds.label}
          placeholder={`?${labels.parameter}=`}
          offered={labels.labels}
          value={visitor.label}
          onChange={set('label')}
        />
      )}
      {takesPath && (
        <TextField
          label={w.explain.path}
          placeholder={`/${link.key}/…`}
          errors={errorsOf('path')}
          value={visitor.path}
          onChange={set('path')}
        />
      )}
      <CheckBox label={w.explain.scanned} isOn={visitor.qr} onChange={set('qr')} />
      {link.password !== null && (
        <CheckBox
          label={w.explain.knowsPassword}
          isOn={visitor.password}
          onChange={set('password')}
        />
      )}
    </div>
  )
}

type AgentFieldProps = {
  readonly agent: string | undefined
  readonly onChange: (agent: string) => void
}

function AgentField({ agent, onChange }: AgentFieldProps) {
  const { w } = useRuleLanguage()
  const known = AGENT_NAMES.find((name) => AGENTS[name] === agent)
  return (
    <Field label={w.kinds.device}>
      {(props) => (
        <Select
          {...props}
          value={agent ?? ''}
          onChange={({ target }) => onChange(target.value)}
          title={known === undefined ? agent : undefined}
        >
          <option value="">{w.explain.unknown}</option>
          {AGENT_NAMES.map((name) => (
            <option key={name} value={AGENTS[name]}>
              {w.explain.agents[name]}
            </option>
          ))}
          {agent !== undefined && known === undefined && <option value={agent}>{agent}</option>}
        </Select>
      )}
    </Field>
  )
}

type TextFieldProps = {
  readonly label: string
  readonly placeholder: string
  readonly value: string | undefined
  readonly offered?: readonly string[]
  readonly errors?: readonly string[]
  readonly onChange: (value: string) => void
}

function TextField({ label, placeholder, value, offered, errors, onChange }: TextFieldProps) {
  const listId = useId()
  return (
    <Field label={label} errors={errors}>
      {(props) => (
        <>
          <Input
            {...props}
            list={offered === undefined ? undefined : listId}
            autoCapitalize="none"
            autoComplete="off"
            spellCheck={false}
            value={value ?? ''}
            placeholder={placeholder}
            onChange={({ target }) => onChange(target.value)}
          />
          {offered !== undefined && (
            <datalist id={listId}>
              {offered.map((one) => (
                <option key={one} value={one} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  )
}

type CheckBoxProps = {
  readonly label: string
  readonly isOn: boolean | undefined
  readonly onChange: (isOn: boolean) => void
}

function CheckBox({ label, isOn = false, onChange }: CheckBoxProps) {
  return (
    <label className="explain-check">
      <input
        type="checkbox"
        className="cb"
        checked={isOn}
        onChange={({ target }) => onChange(target.checked)}
      />
      {label}
    </label>
  )
}
