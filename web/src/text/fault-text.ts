import type { ErrorCode } from '@terse/contract/errors'
import { type ERROR_DETAILS, type FAULTS, type Translated, textIn } from '@terse/contract/faults'

/** The messages of the API in a language, by their codes. */
export type FaultTexts = {
  readonly fields: Translated<typeof FAULTS>
  readonly details: Translated<typeof ERROR_DETAILS>
  /** Texts of errors as a whole; `unknown_answer` is no code of the API. */
  readonly errors: Readonly<Record<ErrorCode | 'unknown_answer', string>>
}

type Fault = { readonly code: string; readonly message: string }

/** A fault of a field in a language; as the API words it where `texts` is null or does not have its code. */
export function faultText(fault: Fault, texts: FaultTexts | null): string {
  return (texts && textIn(texts.fields, fault)) ?? fault.message
}

/** Words an error as a whole in the same way, as closely as its codes tell. */
export function wholeText(
  error: Fault & { readonly details: { readonly code: string } | undefined },
  texts: FaultTexts | null,
): string {
  if (texts === null) return error.message
  const { details } = error
  const closer = details && textIn(texts.details, details)
  return closer ?? textIn(texts.errors, error) ?? error.message
}
