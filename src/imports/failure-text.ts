import { faultText } from '@terse/contract/faults'
import type { Failure } from '../platform/failure.ts'
import { failureText } from '../platform/failure-text.ts'

/** What is wrong with each field, as sentences. */
export function reasonOf(failure: Failure): string {
  const sentences = Object.entries(failure.fields ?? {}).flatMap(([field, faults]) =>
    faults.map((fault) => `${field} ${faultText(fault)}.`),
  )
  return sentences.length === 0 ? failureText(failure) : sentences.join(' ')
}
