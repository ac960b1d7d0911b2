import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import type { FaultResource, Problem } from '@terse/contract/errors'
import { ApiError } from '../api/api-error.ts'
import type { Catalogue } from '../text/en.ts'
import { faultText, wholeText } from '../text/fault-text.ts'
import { useText } from '../text/use-text.ts'
import { showError, showMessage } from '../widgets/Toasts.tsx'

/** The status of a bulk answer, whose items have none of their own. */
const ITEM_STATUS = 200

type Faults = {
  /** What is wrong with a field of the form. */
  of(field: string): readonly string[]
  /** The same, then what belongs to no field: for a form that has no other place for it. */
  withGeneral(field: string): readonly string[]
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
  const of = (field: string) => (byField[field] ?? []).map((fault) => translated(fault, t))
  const general = generalText(error, others, isPlaced, t)
  return {
    of,
    withGeneral: (field) => (general === undefined ? of(field) : [...of(field), general]),
    general,
  }
}

/** What is wrong with each of these fields, for a form that keeps it until the field is mended. */
export function faultsByField(
  error: Error,
  fields: readonly string[],
  t: Catalogue,
): Readonly<Record<string, readonly string[]>> {
  if (!(error instanceof ApiError)) return {}
  const placed = Object.entries(error.fields).filter(([field]) => fields.includes(field))
  return Object.fromEntries(
    placed.map(([field, faults]) => [field, faults.map((fault) => translated(fault, t))]),
  )
}

/** An error in words, for a toast or a note. */
export function errorText(error: Error, t: Catalogue): string {
  const others = error instanceof ApiError ? Object.entries(error.fields) : []
  return generalText(error, others, false, t) ?? t.common.unexpected
}

/** Why one item of a bulk request failed, in words. */
export function problemText(problem: Problem, t: Catalogue): string {
  return errorText(new ApiError(ITEM_STATUS, problem), t)
}

function generalText(
  error: Error | null,
  others: readonly (readonly [string, readonly FaultResource[]])[],
  isPlaced: boolean,
  t: Catalogue,
): string | undefined {
  if (error === null || error instanceof SignInCancelled) return undefined
  if (!(error instanceof ApiError)) return t.common.unexpected
  if (error.status === 0) return t.shell.offline
  if (error.isTemporary || error.code === 'unavailable') return t.shell.unavailable
  if (error.code === 'rate_limited') return t.signIn.failures.rate_limited
  if (error.code === 'precondition_failed') return t.common.changedMeanwhile
  if (error.code === 'too_many_attempts') return t.signIn.failures.too_many_attempts
  if (others.length > 0) {
    return others.flatMap(([, faults]) => faults.map((fault) => translated(fault, t))).join(' ')
  }
  return isPlaced ? undefined : capitalized(wholeText(error, t.faults))
}

/** The API names no field in what it says about one: `must not be empty`. */
function translated(fault: FaultResource, t: Catalogue): string {
  return capitalized(faultText(fault, t.faults))
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

type ChangeOptions<V> = {
  /** Queries that show something else afterwards. */
  readonly keys: readonly QueryKey[]
  readonly message?: (given: V) => string
}

/** A change without a form: a message says that it was made, or why not. */
export function useChange<V, R>(
  change: (given: V) => Promise<R>,
  { keys, message }: ChangeOptions<V>,
) {
  const t = useText()
  const client = useQueryClient()
  return useMutation({
    mutationFn: change,
    async onSuccess(_result, given) {
      if (message !== undefined) showMessage(message(given))
      await Promise.all(keys.map((queryKey) => client.invalidateQueries({ queryKey })))
    },
    onError(error) {
      if (!(error instanceof SignInCancelled)) showError(errorText(error, t))
    },
  })
}

/** Thrown to a request for which the person was asked to sign in, and closed the dialog. */
export class SignInCancelled extends Error {}
