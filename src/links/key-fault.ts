import type { Fault } from '@terse/contract/faults'
import { Failure } from '../platform/failure.ts'
import { TooManyVariants, UniqueViolation } from '../storage/store.ts'
import { KEY_VARIANTS_MAX, keyTaken } from './key.ts'

export const TOO_MANY_VARIANTS: Fault = { code: 'too_many_variants', max: KEY_VARIANTS_MAX }

/** Converts the store's errors about a link's key into a `validation_failed` of the field `key`. */
export function keyFaultOf(error: unknown): unknown {
  if (error instanceof UniqueViolation) return keyTaken()
  if (!(error instanceof TooManyVariants)) return error
  return tooManyVariants()
}

export function tooManyVariants(): Failure {
  return Failure.invalid({ key: [TOO_MANY_VARIANTS] })
}
