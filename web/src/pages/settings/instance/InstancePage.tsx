import { useQuery } from '@tanstack/react-query'
import {
  diagnosisQuery,
  type FindingResource,
  type InstanceResource,
  instanceQuery,
  type NodeResource,
} from '../../../api/instance.ts'
import { Icon, type IconNode } from '../../../icons/Icon.tsx'
import { AlertIcon, CheckIcon, InfoIcon, ReloadIcon, WarningIcon } from '../../../icons/index.ts'
import { instanceProblems } from '../../../shell/instance-problems.ts'
import { LoadFailure } from '../../../shell/LoadFailure.tsx'
import { errorText } from '../../../shell/use-faults.ts'
import { useFormats, useText } from '../../../text/use-text.ts'
import { Button } from '../../../widgets/Button.tsx'
import { FormNote } from '../../../widgets/Field.tsx'
import { Ago } from '../../../widgets/Time.tsx'
import { RowsSkeleton, Section } from '../Section.tsx'

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

const LOOKS: Readonly<Record<FindingResource['state'], readonly [string, IconNode]>> = {
  ok: ['badge ok', CheckIcon],
  warning: ['badge warn', WarningIcon],
  problem: ['badge bad', AlertIcon],
  skipped: ['badge off', InfoIcon],
}

/** What `terse doctor` says about the node that answers. */
function Diagnosis() {
  const t = useText()
  const { data, error, isFetching, refetch } = useQuery(diagnosisQuery)
  return (
    <Section
      title={t.instance.doctor}
      hint={t.instance.doctorHint}
      actions={
        <Button icon={ReloadIcon} isBusy={isFetching} onClick={() => refetch()}>
          {t.instance.checkAgain}
        </Button>
      }
    >
      <FormNote text={error === null ? undefined : errorText(error, t)} />
      {data === undefined && error === null && <RowsSkeleton />}
      {data && (
        <ul className="rows findings">
          {data.findings.map((finding) => (
            <Finding key={`${finding.subject} ${finding.text}`} finding={finding} />
          ))}
        </ul>
      )}
    </Section>
  )
}

function Finding({ finding }: { finding: FindingResource }) {
  const t = useText()
  const [look, icon] = LOOKS[finding.state]
  return (
    <li>
      <span className={look}>
        <Icon of={icon} />
        {t.instance.doctorStates[finding.state]}
      </span>
      <span className="who" lang="en">
        <b>{finding.subject}</b>
        <span className="wrap">{finding.text}</span>
        {finding.advice !== null && <span className="wrap advice">{finding.advice}</span>}
      </span>
    </li>
  )
}

function Nodes({ nodes }: { nodes: readonly NodeResource[] }) {
  const t = useText()
  return (
    <Section title={t.instance.nodes} hint={t.instance.nodesHint}>
      <ul className="rows">
        {nodes.map((node) => (
          <NodeRow key={node.id} node={node} />
        ))}
      </ul>
    </Section>
  )
}

function NodeRow({ node }: { node: NodeResource }) {
  const t = useText()
  const formats = useFormats()
  const isUp = node.state === 'up'
  return (
    <li>
      <span className="who">
        <b>
          {node.name} · {t.instance.nodeProcess(node.process)}
        </b>
        <span>
          {node.version} · <Ago instant={new Date(node.started_at)} text={t.instance.started} />
        </span>
      </span>
      <span className="col w-40">
        {node.backlog_bytes === 0
          ? t.instance.nothingWaits
          : t.instance.backlog(formats.bytes(node.backlog_bytes))}
      </span>
      <span className="col w-40">
        <span className={isUp ? 'badge ok' : 'badge bad'}>
          <Icon of={isUp ? CheckIcon : WarningIcon} />
          {t.instance.nodeStates[node.state]}
        </span>
        {!isUp && (
          <span className="hint block">
            <Ago instant={new Date(node.heard_at)} text={t.instance.heard} />
          </span>
        )}
      </span>
    </li>
  )
}
