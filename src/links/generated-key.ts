import type { Fault } from '@terse/contract/faults'
import type { Random } from '../platform/crypto/random.ts'
import { Failure } from '../platform/failure.ts'
import { generateKey } from './key.ts'

/** When so many generated keys in a row are taken, the cause is a defect, not chance. */
export const GENERATE_ATTEMPTS_MAX = 8

export const KEY_TAKEN: Fault = { code: 'taken', reason: 'link' }

export function keyTaken(): Failure {
  return Failure.invalid({ key: [KEY_TAKEN] })
}

/** Calls `work` with a generated key, and again with another one while the key is taken. */
export async function withGeneratedKey<T>(
  random: Random,
  work: (key: string) => Promise<T>,
): Promise<T> {
  for (let attempt = 0; attempt < GENERATE_ATTEMPTS_MAX; attempt += 1) {
    try {
      return await work(generateKey(random))
    } catch (error) {
      if (!isKeyTaken(error)) throw error
    }
  }
  throw new Error(`${GENERATE_ATTEMPTS_MAX} generated keys in a row were taken`)
}

function isKeyTaken(error: unknown): boolean {
  return (
    error instanceof Failure && error.fields?.key?.some(({ code }) => code === 'taken') === true
  )
}
