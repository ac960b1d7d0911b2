import type { Example, ExampleInput, ExampleResult, MadeUpVisitor } from '@terse/contract/explain'
import type { Rule } from '@terse/contract/rules'
import { Failure, type FaultList } from '../platform/failure.ts'
import { bytesOfAddress } from '../platform/network/ip-address.ts'
import { canonicalInstant } from '../platform/time/clock.ts'
import type { LinkAttributes, UncountedLink } from './link.ts'

/** Bytes of one link's examples, in their stored form. */
const EXAMPLES_BYTES_MAX = 32 * 1024

/** Returns where a link sends visitors, as a redirect decides it; the fallbacks of its domain do not count. */
export type TryExamples = (
  link: Omit<UncountedLink, 'keyspace_id' | 'updated_at' | 'managed_at'>,
  on: {
    /** The rules of the sets that it uses. */
    readonly sets: readonly (readonly Rule[])[]
    /** The parameter that has the label; null where the workspace has no labels. */
    readonly labelParameter: string | null
    readonly nowMicros: number
  },
) => (visitor: MadeUpVisitor) => ExampleResult

/** The fields of a link whose change may send its visitors elsewhere without its owner meaning all of them. */
const ROUTING_FIELDS = ['url', 'ios', 'android', 'rules', 'path', 'query', 'rule_set'] as const

/** Returns examples in the form that is stored, with what was expected of them, which may be nothing yet. */
export function parseExamples(
  input: readonly ExampleInput[],
  faults: FaultList,
): readonly Example[] | null {
  for (const [nth, { visitor }] of input.entries()) {
    const at = `examples.${nth}.visitor`
    if (visitor.address !== undefined && bytesOfAddress(visitor.address) === undefined) {
      faults.add(`${at}.address`, { code: 'invalid_address' })
    }
    if (visitor.at !== undefined && canonicalInstant(visitor.at) === undefined) {
      faults.add(`${at}.at`, { code: 'invalid_instant' })
    }
  }
  const examples = input.map((example) => ({ ...example, expected: example.expected ?? {} }))
  if (Buffer.byteLength(JSON.stringify(examples)) > EXAMPLES_BYTES_MAX) {
    faults.add('examples', { code: 'examples_too_large', max: EXAMPLES_BYTES_MAX })
  }
  return examples.length === 0 ? null : examples
}

type Change = {
  readonly changes: Partial<LinkAttributes>
  readonly current: UncountedLink
  readonly next: Parameters<TryExamples>[0]
  /** Whether results may change without a question. */
  readonly acceptsChanges: boolean
}

/**
 * Tries the examples of a link before it is changed, and returns them with what is expected of them then.
 *
 * @throws {Failure} `examples_changed` when a result would be another, and that is not accepted
 */
export function triedExamples(
  { changes, current, next, acceptsChanges }: Change,
  resultsOf: (link: Change['next']) => (visitor: MadeUpVisitor) => ExampleResult,
): readonly Example[] | null {
  const { examples } = next
  if (examples === null) return null
  const resultNow = resultsOf(next)
  if (changes.examples !== undefined) {
    return examples.map((example) => {
      const expected = { ...resultNow(example.visitor), ...example.expected }
      return { ...example, expected }
    })
  }
  const isAsked = !acceptsChanges && ROUTING_FIELDS.some((field) => changes[field] !== undefined)
  const resultBefore = resultsOf(current)
  const ruleIds = new Set(next.rules?.map(({ id }) => id))
  const tried = examples.map((example) => ({
    example,
    before: resultBefore(example.visitor),
    after: resultNow(example.visitor),
  }))
  const changed = tried.filter(
    ({ example: { expected }, before, after }) =>
      !isSame(before, after, ruleIds) && !isAsExpected(expected, after, ruleIds),
  )
  if (isAsked && changed.length > 0) {
    throw Failure.examplesChanged(
      changed.map(({ example: { name }, before, after }) => ({ name, before, after })),
    )
  }
  return tried.map(({ example, before, after }) => {
    // What the change leaves alone stays expected, also where it is not what the visitor gets.
    const isUntouched = before.rule === after.rule && isSame(before, after, ruleIds)
    return isUntouched && !acceptsChanges ? example : { ...example, expected: after }
  })
}

/** Whether a result has what is expected; what is left out may be anything. */
export function isAsExpected(
  expected: Example['expected'],
  result: ExampleResult,
  ruleIds: ReadonlySet<string>,
): boolean {
  const { kind = result.kind, location = result.location } = expected
  const { rule = result.rule, variant = result.variant } = expected
  return isSame({ kind, location, rule, variant }, result, ruleIds)
}

/** A rule that is gone may have got another id: then only where the visitor goes counts. */
function isSame(
  before: ExampleResult,
  after: ExampleResult,
  ruleIds: ReadonlySet<string>,
): boolean {
  const isOfGoneRule = before.rule !== null && !ruleIds.has(before.rule)
  return (
    before.kind === after.kind &&
    before.location === after.location &&
    before.variant === after.variant &&
    (before.rule === after.rule || isOfGoneRule)
  )
}
