import type { DnsReportResource } from '../../api/domains.ts'
import { Icon } from '../../icons/Icon.tsx'
import { BadIcon, GoodIcon, PendingIcon } from '../../icons/index.ts'
import { useText } from '../../text/use-text.ts'
import { CopyButton } from '../../widgets/CopyButton.tsx'
import {
  type DifferenceCode,
  differencesOf,
  foundTextOf,
  type RecordState,
  recordStateOf,
} from './record-state.ts'

type DnsRecord = DnsReportResource['records'][number]

/** The records to set, each with its state; what is wrong stands under its own record. */
export function DnsRecords({ report }: { report: DnsReportResource }) {
  const t = useText()
  const { records } = report
  const words = t.domains.record
  // Without addresses of the service there is no record that this advice could stand under.
  const loose = (['ownership', 'routing'] as const)
    .filter((purpose) => records.every((record) => record.purpose !== purpose))
    .flatMap((purpose) => differencesOf(report, purpose))
  if (records.length === 0 && loose.length === 0) {
    return <p className="muted">{t.domains.noRecords}</p>
  }
  return (
    <>
      {records.length > 0 && (
        // biome-ignore lint/a11y/useSemanticElements: the group is no set of fields
        <div className="rec" role="group" aria-label={t.domains.records(report.unicode_domain)}>
          <div className="rec-r hd" aria-hidden>
            <span>{words.state}</span>
            <span>{words.type}</span>
            <span>{words.name}</span>
            <span>{words.value}</span>
          </div>
          {records.map((record) => (
            <Row key={`${record.type} ${record.value}`} record={record} report={report} />
          ))}
        </div>
      )}
      {loose.map((code) => (
        <Advice key={code} code={code} report={report} look="warn" />
      ))}
    </>
  )
}

function Row({ record, report }: { record: DnsRecord; report: DnsReportResource }) {
  const state = recordStateOf(report, record)
  const same = report.records.filter(({ purpose }) => purpose === record.purpose)
  const advice = record === same.at(-1) ? differencesOf(report, record.purpose) : []
  return (
    <div className="rec-r">
      <StateBadge state={state} />
      <span className="ty mono">{record.type}</span>
      <Value text={record.name} />
      <Value text={record.value} />
      {advice.map((code) => (
        <Advice key={code} code={code} report={report} look={state === 'wrong' ? 'bad' : 'warn'} />
      ))}
    </div>
  )
}

type AdviceProps = {
  readonly code: DifferenceCode
  readonly report: DnsReportResource
  readonly look: 'bad' | 'warn'
}

function Advice({ code, report, look }: AdviceProps) {
  const t = useText()
  const facts = { host: report.unicode_domain, found: foundTextOf(report) }
  return (
    <div className={`what ${look}`}>
      <span>{t.domains.advice[code](facts)}</span>
    </div>
  )
}

function Value({ text }: { text: string }) {
  const t = useText()
  return (
    <span className="val">
      <span className="mono cut" title={text}>
        {text}
      </span>
      <CopyButton text={text} label={t.domains.copyValue(text)} />
    </span>
  )
}

function StateBadge({ state }: { state: RecordState }) {
  const t = useText()
  const looks = {
    found: ['ok', GoodIcon],
    missing: ['warn', PendingIcon],
    wrong: ['bad', BadIcon],
    unknown: ['off', PendingIcon],
    alternative: ['off', PendingIcon],
  } as const
  const [look, icon] = looks[state]
  return (
    <span className={`badge ${look}`}>
      <Icon of={icon} />
      {t.domains[state]}
    </span>
  )
}
