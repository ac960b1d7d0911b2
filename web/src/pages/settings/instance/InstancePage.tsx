import { useQuery } from '@tanstack/react-query'
import { type InstanceResource, instanceQuery } from '../../../api/instance.ts'
import { Icon } from '../../../icons/Icon.tsx'
import { CheckIcon, WarningIcon } from '../../../icons/index.ts'
import { instanceProblems } from '../../../shell/instance-problems.ts'
import { LoadFailure } from '../../../shell/LoadFailure.tsx'
import { useFormats, useText } from '../../../text/use-text.ts'
import { Ago } from '../../../widgets/Time.tsx'
import { RowsSkeleton } from '../RowsSkeleton.tsx'
import { Section } from '../Section.tsx'
import { Diagnosis } from './Diagnosis.tsx'
import { Nodes } from './Nodes.tsx'

/** The state of the instance, for operators. */
export default function InstancePage() {
  const t = useText()
  const { data: instance, error } = useQuery(instanceQuery)
  return (
    <>
      <Section title={t.instance.title} hint={t.instance.hint} isFirst>
        {instance === undefined && error === null && <RowsSkeleton />}
        {instance === undefined && error !== null && <LoadFailure error={error} />}
        {instance && <Facts instance={instance} />}
      </Section>
      {instance && <Nodes nodes={instance.nodes} />}
      <Diagnosis />
    </>
  )
}

function Facts({ instance }: { instance: InstanceResource }) {
  const t = useText()
  return (
    <dl className="facts">
      <div>
        <dt>{t.instance.health}</dt>
        <dd>
          <Health instance={instance} />
        </dd>
      </div>
      <div>
        <dt>{t.instance.version}</dt>
        <dd>
          Terse {instance.version} · Node.js {instance.node_version}
        </dd>
      </div>
      <div>
        <dt>{t.instance.address}</dt>
        <dd className="mono">{instance.base_url}</dd>
      </div>
      <div>
        <dt>{t.instance.database}</dt>
        <dd>{instance.database}</dd>
      </div>
      <div>
        <dt>{t.instance.clicks}</dt>
        <dd>
          <Backlog instance={instance} />
        </dd>
      </div>
      <div>
        <dt>{t.instance.certificates}</dt>
        <dd>
          <Certificates instance={instance} />
        </dd>
      </div>
    </dl>
  )
}

function Health({ instance }: { instance: InstanceResource }) {
  const t = useText()
  const formats = useFormats()
  const { roles, lost_clicks: lost } = instance
  const problems = instanceProblems(instance, t, formats)
  const isWell = problems.length === 0
  const parts = Object.entries(roles).map(([role, state]) => {
    const name = t.instance.roles[role as keyof typeof t.instance.roles] ?? role
    return `${name}: ${t.instance.ready[state]}`
  })
  return (
    <div className="grid gap-1">
      <span className={isWell ? 'badge ok' : 'badge warn'}>
        <Icon of={isWell ? CheckIcon : WarningIcon} />
        {isWell ? t.instance.healthy : t.instance.degraded}
      </span>
      <p className="hint">{formats.list(parts)}</p>
      {problems.map((problem) => (
        <p key={problem} className="hint">
          {problem}
        </p>
      ))}
      {lost > 0 && <p className="hint">{t.instance.lost(lost)}</p>}
    </div>
  )
}

function Backlog({ instance: { nodes } }: { instance: InstanceResource }) {
  const t = useText()
  const formats = useFormats()
  const bytes = nodes.reduce((sum, node) => sum + node.backlog_bytes, 0)
  const oldest = nodes.flatMap(({ oldest_click_at: at }) => (at === null ? [] : [at])).sort()[0]
  if (bytes === 0) return t.instance.nothingWaits
  const size = t.instance.backlog(formats.bytes(bytes))
  if (oldest === undefined) return size
  return (
    <>
      {size}, <Ago instant={new Date(oldest)} text={t.instance.oldest} />
    </>
  )
}

function Certificates({ instance: { certificates } }: { instance: InstanceResource }) {
  const t = useText()
  const formats = useFormats()
  if (certificates === null) return t.instance.proxied
  const counts = (['valid', 'expiring', 'expired', 'failing'] as const).map((state) => ({
    state,
    count: certificates[state],
  }))
  return counts
    .filter(({ state, count }) => count > 0 || state === 'valid')
    .map(({ state, count }) => `${formats.number(count)} ${t.instance.certificateStates[state]}`)
    .join(', ')
}
