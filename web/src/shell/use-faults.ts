import { ApiError } from '../api/api-error.ts'
import type { Catalogue } from '../text/en.ts'
import { useText } from '../text/use-text.ts'
import { SignInCancelled } from './sign-in-cancelled.ts'

export type Faults = {
  /** What is wrong with a field of the form. */
  of(field: string): readonly string[]
  /** What is wrong and belongs to no field of the form; undefined where nothing is. */
  readonly general: string | undefined
}

/**
 * Why a form was refused, in the language that is shown.
 *
 * @param fields the fields that show their own faults
 */
export function useFaults(error: Error | null, fields: readonly string[] = []): Faults {
  const t = useText()
  const byField = error instanceof ApiError ? error.fields : {}
  const others = Object.entries(byField).filter(([field]) => !fields.includes(field))
  const isPlaced = Object.keys(byField).length > others.length
  return {
    of: (field) => (byField[field] ?? []).map((text) => translated(text, t)),
    general: generalText(error, others, isPlaced, t),
  }
}

/** An error in words, for a toast or a note. */
export function errorText(error: Error, t: Catalogue): string {
  const others = error instanceof ApiError ? Object.entries(error.fields) : []
  return generalText(error, others, false, t) ?? t.common.unexpected
}

function generalText(
  error: Error | null,
  others: readonly (readonly [string, readonly string[]])[],
  isPlaced: boolean,
  t: Catalogue,
): string | undefined {
  if (error === null || error instanceof SignInCancelled) return undefined
  if (!(error instanceof ApiError)) return t.common.unexpected
  if (error.status === 0) return t.shell.offline
  if (error.isTemporary) return t.shell.unavailable
  if (error.code === 'rate_limited') return t.signIn.failures.rate_limited
  if (others.length > 0) {
    return others.map(([, texts]) => texts.map((text) => translated(text, t)).join(' ')).join(' ')
  }
  return isPlaced ? undefined : translated(error.message, t)
}

/** The API names no field in what it says about one: `must not be empty`. */
function translated(text: string, t: Catalogue): string {
  const words = t.faults[text] ?? text
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}
