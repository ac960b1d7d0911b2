import type { Selectable, Updateable } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import type { ActiveChallenge, CertificateOrder } from '../certificate-order.ts'

export type OrderRow = Selectable<Schema['certificate_orders']>

/** Converts a row of the table `certificate_orders`. */
export function orderOf(row: OrderRow): CertificateOrder {
  const { host, workspace_id, queue, attempts, next_at, failure } = row
  const { directory, purpose, private_key, order_url } = row
  const ongoing =
    directory === null || purpose === null || private_key === null
      ? null
      : { directory, purpose, sealedKey: private_key, url: order_url }
  return {
    host,
    workspaceId: workspace_id,
    queue,
    ongoing,
    challenge: challengeOf(row),
    attempts,
    nextAt: next_at,
    failure,
  }
}

export function challengeOf(row: OrderRow): ActiveChallenge | null {
  const { challenge_type: type, challenge_token: token, challenge_answer: keyAuthorization } = row
  return type === null || token === null || keyAuthorization === null
    ? null
    : { type, token, keyAuthorization }
}

/** Returns the columns for the fields that are present. */
export function columnsOf(
  changes: Partial<Omit<CertificateOrder, 'host' | 'workspaceId'>>,
): Updateable<Schema['certificate_orders']> {
  const { queue, ongoing, challenge, attempts, nextAt, failure } = changes
  return {
    ...(queue !== undefined && { queue }),
    ...(ongoing !== undefined && {
      directory: ongoing?.directory ?? null,
      purpose: ongoing?.purpose ?? null,
      private_key: ongoing?.sealedKey ?? null,
      order_url: ongoing?.url ?? null,
    }),
    ...(challenge !== undefined && {
      challenge_type: challenge?.type ?? null,
      challenge_token: challenge?.token ?? null,
      challenge_answer: challenge?.keyAuthorization ?? null,
    }),
    ...(attempts !== undefined && { attempts }),
    ...(nextAt !== undefined && { next_at: nextAt }),
    ...(failure !== undefined && { failure }),
  }
}
