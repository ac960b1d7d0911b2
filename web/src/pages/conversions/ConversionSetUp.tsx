import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { USUAL_TOKEN_PARAMETER } from '@terse/contract/link-fields'
import { type ReactNode, useState } from 'react'
import { conversionSettingsQuery, saveConversionSettings } from '../../api/conversions.ts'
import { Icon } from '../../icons/Icon.tsx'
import { CheckIcon } from '../../icons/index.ts'
import { useChange } from '../../shell/use-faults.ts'
import { useMembership } from '../../shell/use-membership.ts'
import { useText } from '../../text/use-text.ts'
import { CopyButton } from '../../widgets/CopyButton.tsx'
import { SegmentedControl } from '../../widgets/SegmentedControl.tsx'
import { SHOP_LANGUAGES, type ShopLanguage, shopCode } from './shop-code.ts'

/** In place of numbers, until the first conversion has come: what to do for it. */
export function ConversionSetUp() {
  const t = useText()
  const words = t.conversions.setUp
  const { data: settings } = useQuery(conversionSettingsQuery)
  const parameter = settings?.parameter ?? USUAL_TOKEN_PARAMETER
  const isOn = settings?.track_conversions ?? false
  return (
    <div className="conversion-setup">
      <header>
        <h2 className="h">{words.title}</h2>
        <p>{words.hint}</p>
      </header>
      <ol className="steps-down">
        <Step name={words.token} mark={isOn ? 'done' : 1}>
          <TokenChoice isOn={isOn} />
          <p>
            {words.arrives} <code className="mono">?{parameter}=…</code>
          </p>
        </Step>
        <Step name={words.code} mark={2}>
          <ShopCode parameter={parameter} />
          <p>
            {words.scope} <code className="mono">conversions:write</code>.{' '}
            <Link to="/settings/connect" className="link">
              {words.makeToken}
            </Link>
          </p>
        </Step>
        <Step name={words.test} mark={3}>
          <p>{words.testHint}</p>
          <p className="flex gap-2 items-center" role="status">
            <span className="spin" aria-hidden />
            {words.waiting}
          </p>
        </Step>
      </ol>
      <p className="hint">{words.consent}</p>
    </div>
  )
}

type StepProps = {
  readonly name: string
  readonly mark: number | 'done'
  readonly children: ReactNode
}

function Step({ name, mark, children }: StepProps) {
  const t = useText()
  return (
    <li>
      <span className={mark === 'done' ? 'mark done' : 'mark'}>
        {mark === 'done' ? <Icon of={CheckIcon} label={t.conversions.setUp.done} /> : mark}
      </span>
      <div className="grid gap-3 min-w-0">
        <h3>{name}</h3>
        {children}
      </div>
    </li>
  )
}

/** Whether all links get a token; a domain and a link have settings of their own. */
function TokenChoice({ isOn }: { isOn: boolean }) {
  const t = useText()
  const words = t.conversions.setUp
  const client = useQueryClient()
  const { may } = useMembership()
  const { mutate } = useChange(
    async (track_conversions: boolean) => {
      const saved = await saveConversionSettings({ track_conversions })
      client.setQueryData(conversionSettingsQuery.queryKey, saved)
    },
    { keys: [] },
  )
  return (
    <>
      {may('admin') && (
        <div>
          <SegmentedControl
            label={words.token}
            value={isOn ? 'all' : 'some'}
            choices={[
              ['all', words.allLinks],
              ['some', words.someLinks],
            ]}
            onChange={(chosen) => mutate(chosen === 'all')}
          />
        </div>
      )}
      {!isOn && (
        <p>
          {words.someHint}{' '}
          <Link to="/domains" className="link">
            {words.openDomains}
          </Link>
        </p>
      )}
    </>
  )
}

function ShopCode({ parameter }: { parameter: string }) {
  const t = useText()
  const words = t.conversions.setUp
  const [language, setLanguage] = useState<ShopLanguage>('JavaScript')
  const code = shopCode(language, { origin: location.origin, parameter }, words)
  return (
    <>
      <div>
        <SegmentedControl
          label={words.language}
          value={language}
          choices={SHOP_LANGUAGES.map((one) => [one, one] as const)}
          onChange={setLanguage}
        />
      </div>
      <div className="cmd">
        <pre className="term">
          {code.split(/(?<=\n)/).map((line, nth) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
            <span key={nth} className={/^(?:\/\/|#)/.test(line) ? 'dim' : ''}>
              {line}
            </span>
          ))}
        </pre>
        <CopyButton text={code} label={words.copy} />
      </div>
    </>
  )
}
