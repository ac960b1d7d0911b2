import { type Random, uuidV7 } from '../../platform/crypto/random.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { generateCode, hashCode } from './one-time-code.ts'
import type { OneTimeLink } from './one-time-link.ts'
import type { OneTimeLinkStore } from './store/one-time-link-store.ts'

type NewLink = Omit<OneTimeLink, 'id' | 'created_at' | 'expires_at' | 'used_at'>

/**
 * Makes a one-time link within a transaction. The codes are returned here and kept nowhere: one to show to whoever makes
 * the link, and one for a mail to its person, which shows whoever sends it that they read mail to the address.
 */
export async function createOneTimeLink(
  { clock, random }: { readonly clock: Clock; readonly random: Random },
  store: OneTimeLinkStore,
  link: NewLink,
  lifetimeMicros: number,
): Promise<{ readonly link: OneTimeLink; readonly code: string; readonly mailedCode: string }> {
  const now = clock.nowMicros()
  const code = generateCode(random)
  const made: OneTimeLink = {
    ...link,
    id: uuidV7(clock, random),
    created_at: now,
    expires_at: now + lifetimeMicros,
    used_at: null,
  }
  const mailedCode = generateCode(random)
  await store.insert(made, { shown: hashCode(code), mailed: hashCode(mailedCode) })
  return { link: made, code, mailedCode }
}
