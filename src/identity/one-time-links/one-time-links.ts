import type { Random } from '../../platform/crypto/random.ts'
import { uuidV7 } from '../../platform/crypto/uuid.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { generateCode, hashCode } from './one-time-code.ts'
import type { OneTimeLink } from './one-time-link.ts'
import type { OneTimeLinkStore } from './store/one-time-link-store.ts'

type NewLink = Omit<OneTimeLink, 'id' | 'created_at' | 'expires_at' | 'used_at'>

/** Makes a one-time link within a transaction. The code is returned here and kept nowhere. */
export async function createOneTimeLink(
  { clock, random }: { readonly clock: Clock; readonly random: Random },
  store: OneTimeLinkStore,
  link: NewLink,
  lifetimeMicros: number,
): Promise<{ readonly link: OneTimeLink; readonly code: string }> {
  const now = clock.nowMicros()
  const code = generateCode(random)
  const made: OneTimeLink = {
    ...link,
    id: uuidV7(clock, random),
    created_at: now,
    expires_at: now + lifetimeMicros,
    used_at: null,
  }
  await store.insert(made, hashCode(code))
  return { link: made, code }
}
