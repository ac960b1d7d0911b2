import type { NodeResource } from '../../../api/instance.ts'
import { Icon } from '../../../icons/Icon.tsx'
import { CheckIcon, WarningIcon } from '../../../icons/index.ts'
import { useFormats, useText } from '../../../text/use-text.ts'
import { Ago } from '../../../widgets/Time.tsx'
import { Section } from '../Section.tsx'

export function Nodes({ nodes }: { nodes: readonly NodeResource[] }) {
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
