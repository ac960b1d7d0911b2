import type { DnsReportResource } from '../../api/domains.ts'
import { useText } from '../../text/use-text.ts'
import { stateOf } from './record-state.ts'

type Step = {
  readonly name: string
  readonly isDone: boolean
  /** Below the name. */
  readonly detail: string
}

/** How far a domain has come; nothing once all is done. */
export function DomainSteps({ report }: { report: DnsReportResource }) {
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
