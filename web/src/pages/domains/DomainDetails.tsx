import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import {
  type DnsReportResource,
  DOMAIN_LISTS_KEY,
  type DomainResource,
  dnsQuery,
  httpsQuery,
  verifyDomain,
} from '../../api/domains.ts'
import { usageQuery } from '../../api/workspaces.ts'
import { Icon } from '../../icons/Icon.tsx'
import { AlertIcon, BadIcon, GoodIcon, PendingIcon, ReloadIcon } from '../../icons/index.ts'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { useDomainActs } from '../../shell/use-domains.ts'
import { useMembership } from '../../shell/use-membership.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { CopyButton } from '../../widgets/CopyButton.tsx'
import { AfterAMoment, Skeleton } from '../../widgets/Loading.tsx'
import { Ago, Until } from '../../widgets/Time.tsx'
import { showMessage } from '../../widgets/Toasts.tsx'
import {
  type DifferenceCode,
  differencesOf,
  foundTextOf,
  type RecordState,
  recordStateOf,
  stateOf,
} from './record-state.ts'

/** The service checks a domain on demand at most this often. */
const VERIFY_MS = 60_000

/** What DNS says about a domain, and what to do. Follows DNS while the domain is being proved. */
export function DomainDetails({ domain }: { domain: DomainResource }) {
  const { data: report, error } = useQuery(dnsQuery(domain.id))
  useProgress(domain, report)
  if (report === undefined) {
    if (error !== null) return <LoadFailure error={error} />
    return (
      <div className="dom-b loading" aria-busy>
        <AfterAMoment>
          <Skeleton width={320} />
        </AfterAMoment>
      </div>
    )
  }
  return (
    <div className="dom-b">
      <DomainSteps report={report} />
      <Standing report={report} />
      <DnsRecords report={report} />
      <CertificateNote report={report} />
      <Checks domain={domain} report={report} />
    </div>
  )
}

/**
 * Brings the list up to date when the status has changed, and has a domain that DNS proves checked at once
 * instead of at the next turn.
 */
function useProgress(domain: DomainResource, report: DnsReportResource | undefined): void {
  const t = useText()
  const client = useQueryClient()
  const { may } = useMembership()
  const verifiedAtMs = useRef(Number.NEGATIVE_INFINITY)
  const status = report?.status
  const isProved =
    report?.status === 'pending' && report.verdict === 'proved' && report.differences.length === 0
  const mayVerify = may('admin')

  useEffect(() => {
    if (status === undefined || status === domain.status) return
    if (status === 'active') showMessage(t.domains.activated(domain.domain), { icon: GoodIcon })
    void client.invalidateQueries({ queryKey: DOMAIN_LISTS_KEY })
    void client.invalidateQueries({ queryKey: usageQuery.queryKey })
    void client.invalidateQueries({ queryKey: httpsQuery(domain.id).queryKey })
  }, [status, domain, client, t])

  useEffect(() => {
    if (!isProved || !mayVerify || Date.now() - verifiedAtMs.current < VERIFY_MS) return
    verifiedAtMs.current = Date.now()
    verifyDomain(domain.id).then(
      (verified) => client.setQueryData(dnsQuery(domain.id).queryKey, verified),
      // It was checked a moment ago, or cannot be now: its next turn is soon.
      () => {},
    )
  }, [isProved, mayVerify, domain.id, client])
}

/** Above the records: a proof that is lost, or a domain that another workspace has. */
function Standing({ report }: { report: DnsReportResource }) {
  const t = useText()
  const formats = useFormats()
  const facts = { host: report.unicode_domain, found: '' }
  const { missing_since: since, pending_from: until } = report
  const isLost = report.status === 'active' && (since !== null || report.verdict === 'unproved')
  return (
    <>
      {isLost && (
        <p className="note warn">
          <Icon of={AlertIcon} />
          <span>
            {since !== null && until !== null
              ? t.domains.lost(formats.minute(new Date(since)), formats.minute(new Date(until)))
              : t.domains.lostNow}
          </span>
        </p>
      )}
      {differencesOf(report, 'other').map((code) => (
        <p className="note warn" key={code}>
          <Icon of={AlertIcon} />
          <span>{t.domains.advice[code](facts)}</span>
        </p>
      ))}
    </>
  )
}

function CertificateNote({ report }: { report: DnsReportResource }) {
  const t = useText()
  if (report.certificate === null || report.certificate.problem === null) return null
  const { problem, next_attempt_at: next } = report.certificate
  return (
    <p className="note bad">
      <Icon of={AlertIcon} />
      <span>
        {t.domains.certificateProblem(problem)}{' '}
        {next !== null && <Until instant={new Date(next)} text={t.domains.nextAttempt} />}
      </span>
    </p>
  )
}

type ChecksProps = {
  readonly domain: DomainResource
  readonly report: DnsReportResource
}

function Checks({ domain, report }: ChecksProps) {
  const t = useText()
  const { may } = useMembership()
  const { verify, copyRecords } = useDomainActs()
  const { mutate, isPending } = useMutation({ mutationFn: () => verify(domain.id) })
  const { next_check_at: next, last_check_at: last } = report

  return (
    <div className="meta">
      {may('admin') && (
        <Button icon={ReloadIcon} isBusy={isPending} onClick={() => mutate()}>
          {t.domains.check}
        </Button>
      )}
      <span>
        {next === null ? (
          t.domains.noNextCheck
        ) : (
          <Until instant={new Date(next)} text={t.domains.nextCheck} />
        )}
      </span>
      {last !== null && (
        <span>
          <Ago instant={new Date(last)} text={t.domains.lastCheck} />
        </span>
      )}
      {report.records.length > 0 && (
        <button type="button" className="link" onClick={() => void copyRecords(domain.id)}>
          {t.domains.copyInstructions}
        </button>
      )}
    </div>
  )
}

type Step = {
  readonly name: string
  readonly isDone: boolean
  /** Below the name. */
  readonly detail: string
}

/** How far a domain has come; nothing once all is done. */
function DomainSteps({ report }: { report: DnsReportResource }) {
  const t = useText()
  const steps = useSteps(report)
  const at = steps.findIndex(({ isDone }) => !isDone)
  // A domain that lost its proof has been through this; its records say what is missing.
  const isLost = report.status === 'active' && report.verdict !== 'proved'
  if (at === -1 || isLost) return null
  return (
    <ol className="steps" aria-label={t.domains.steps.label(report.unicode_domain)}>
      {steps.map(({ name, isDone, detail }, nth) => (
        <li
          key={name}
          className={isDone ? 'done' : nth === at ? 'at' : ''}
          aria-current={nth === at ? 'step' : undefined}
        >
          {name}
          <span>{detail}</span>
        </li>
      ))}
    </ol>
  )
}

function useSteps(report: DnsReportResource): readonly Step[] {
  const words = useText().domains.steps
  const ownership = stateOf(report, 'ownership')
  const routing = stateOf(report, 'routing')
  const details = {
    found: words.proved,
    alternative: words.proved,
    missing: words.waiting,
    unknown: words.waiting,
    wrong: words.elsewhere,
  }
  const steps: Step[] = [
    {
      name: words.ownership,
      isDone: ownership === 'found',
      detail:
        report.proof !== 'dns'
          ? words.notRequired
          : ownership === 'wrong'
            ? words.waiting
            : details[ownership],
    },
    { name: words.routing, isDone: routing === 'found', detail: details[routing] },
    { name: words.active, isDone: report.status === 'active', detail: words.soon },
  ]
  if (report.certificate !== null) {
    steps.push({
      name: words.certificate,
      isDone: report.certificate.valid_until !== null,
      detail: words.requested,
    })
  }
  return steps
}

type DnsRecord = DnsReportResource['records'][number]

/** The records to set, each with its state; what is wrong stands under its own record. */
function DnsRecords({ report }: { report: DnsReportResource }) {
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
