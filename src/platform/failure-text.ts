import { detailsText, faultText } from '@terse/contract/faults'
import type { Failure } from './failure.ts'

/** What a failure says to people. `Failure` itself has only codes: redirects load it, and no texts. */
export function failureText({ fields, details, message, code }: Failure): string {
  if (details !== undefined) return detailsText(details)
  const [field, [fault] = []] = Object.entries(fields ?? {})[0] ?? []
  if (code !== 'validation_failed' || fault === undefined) return message
  return `${field} ${faultText(fault)}`
}
