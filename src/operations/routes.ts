import { diagnosisSchema, type InstanceResource, instanceSchema } from '@terse/contract/instance'
import { ifNoneMatchHeaders } from '@terse/contract/primitives'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { formatInstant } from '../platform/time/clock.ts'
import type { Finding } from './doctor/host-findings.ts'
import type { ListedNode } from './nodes.ts'

/** The result of the doctor, and when it ended in microseconds since the epoch. */
export type Diagnosis = {
  readonly checkedAt: number
  readonly findings: readonly Finding[]
}

/** All but the nodes as the API shows it. */
export type InstanceState = Omit<InstanceResource, 'nodes'> & {
  readonly nodes: readonly ListedNode[]
}

export type InstanceRouteDependencies = {
  readonly instanceState: () => Promise<InstanceState>
  /** @throws {Failure} `unavailable` when the checks take too long */
  readonly diagnose: () => Promise<Diagnosis>
}

const tags = ['Instance']

export const instanceRoutes: FastifyPluginAsyncZod<InstanceRouteDependencies> = async (
  app,
  { instanceState, diagnose },
) => {
  app.get(
    '/instance',
    {
      schema: {
        tags,
        operationId: 'instance.get',
        summary: 'Show the state of the instance',
        description:
          'Returns what the node that answers and the database know: version, roles, nodes, waiting clicks and certificates. For operators of the instance.',
        headers: ifNoneMatchHeaders,
        response: { 200: instanceSchema },
      },
    },
    async () => {
      const state = await instanceState()
      return { ...state, nodes: state.nodes.map(presentNode) }
    },
  )

  app.get(
    '/instance/diagnosis',
    {
      config: { mayTakeLong: true },
      schema: {
        tags,
        operationId: 'instance.diagnose',
        summary: 'Check the instance',
        description:
          'Returns what `terse doctor` reports on the node that answers, within ten seconds. Files are not read again: their last check is reported. Results are at most ten seconds old. For operators of the instance.',
        headers: ifNoneMatchHeaders,
        response: { 200: diagnosisSchema },
      },
    },
    async () => {
      const { checkedAt, findings } = await diagnose()
      return {
        checked_at: formatInstant(checkedAt),
        findings: findings.map(({ advice, ...finding }) => ({
          ...finding,
          advice: advice ?? null,
        })),
      }
    },
  )
}

function presentNode(node: ListedNode): InstanceResource['nodes'][number] {
  const { started_at, beat_at, oldest_click_at, ...shown } = node
  return {
    ...shown,
    started_at: formatInstant(started_at),
    heard_at: formatInstant(beat_at),
    oldest_click_at: oldest_click_at === null ? null : formatInstant(oldest_click_at),
  }
}
