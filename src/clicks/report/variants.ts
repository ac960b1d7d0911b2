import { type Bounds, conversionRate, type Rate, VISITORS_MIN } from '@terse/contract/rates'
import type { Rule } from '@terse/contract/rules'
import type { SplitVerdict, VariantVerdict } from '@terse/contract/variants'
import { UNKNOWN_VISITOR } from '../click.ts'
import { dayOf } from '../tally/click-day.ts'
import type { RawClick } from './day-of-clicks.ts'
import { criticalZ, moreThan, sampleRatio, type WeighedCount } from './split-statistics.ts'

/** A less probable difference between shares and weights is no chance. */
const PROBABILITY_MIN = 0.001

export type ComparedVariant = WeighedCount & {
  readonly name: string
  /** Null without visitors of the split. */
  readonly share: number | null
  readonly expectedShare: number
  /** Visits that led to a conversion; null where the actor may not know. */
  readonly conversions: number | null
  /** Of conversions among visitors, from 0 to 1; null where there are too few. */
  readonly rate: Rate | null
  /** How many more visitors than the base, for their weights: 0.05 is 5 %. Null where nothing can be said. */
  readonly more: Bounds | null
  readonly verdict: VariantVerdict
}

/** Visits that led to a conversion, by `variantKey`; null where the actor may not know. */
type ConvertedVisits = ReadonlyMap<string, number> | null

export type ComparedSplit = {
  readonly rule: Rule
  readonly visitors: number
  readonly probability: number | null
  readonly verdict: SplitVerdict
  readonly variants: readonly ComparedVariant[]
}

/** Counts the people of each variant, each once a UTC day. Holds the visitors of one day at a time. */
export class VariantVisitors {
  /** How many visits were added, of bots too. */
  visits = 0
  readonly #counts = new Map<string, number>()
  readonly #seen = new Map<string, Set<number>>()
  #seenDay: number | undefined

  /** @param clicks of the same day as those before, or of a later one */
  add(clicks: readonly RawClick[]): void {
    for (const { at, count, flags, rule, variant, visitor } of clicks) {
      this.visits += count
      if (flags !== 0 || variant === '' || visitor === UNKNOWN_VISITOR) continue
      const day = dayOf(at)
      if (day !== this.#seenDay) {
        this.#seen.clear()
        this.#seenDay = day
      }
      const key = variantKey(rule, variant)
      const seen = this.#seen.getOrInsertComputed(key, () => new Set())
      if (seen.has(visitor)) continue
      seen.add(visitor)
      this.#counts.set(key, this.of(rule, variant) + 1)
    }
  }

  of(rule: string, variant: string): number {
    return this.#counts.get(variantKey(rule, variant)) ?? 0
  }
}

export function variantKey(rule: string, variant: string): string {
  return `${rule}\n${variant}`
}

/**
 * Compares the variants of each rule that splits visitors: whether their shares agree with the weights, and each with the
 * first one.
 *
 * @param toMicros the end of the period
 */
export function compareVariants(
  rules: readonly Rule[],
  visitors: Pick<VariantVisitors, 'of'>,
  converted: ConvertedVisits,
  toMicros: number,
): readonly ComparedSplit[] {
  return rules.flatMap((rule) => {
    const { split, end } = rule.then
    if (split === undefined) return []
    const counts = split.map(({ name, weight }) => ({
      ...{ name, weight, visitors: visitors.of(rule.id, name) },
      conversions: converted?.get(variantKey(rule.id, name)) ?? (converted && 0),
    }))
    const isEnded = end !== undefined && Date.parse(end.at) * 1_000 < toMicros
    return [compareSplit(rule, counts, isEnded)]
  })
}

type Count = WeighedCount & { readonly name: string; readonly conversions: number | null }

function compareSplit(rule: Rule, counts: readonly Count[], isEnded: boolean): ComparedSplit {
  const total = counts.reduce((sum, { visitors }) => sum + visitors, 0)
  const weights = counts.reduce((sum, { weight }) => sum + weight, 0)
  const divided = counts.filter(({ weight }) => weight > 0)
  const [base] = divided
  const z = criticalZ(Math.max(1, divided.length - 1))
  const isTested = !isEnded && divided.length > 1 && divided.every(hasEnough)
  const probability = isTested ? (sampleRatio(divided) ?? null) : null
  const variants = counts.map((count) => {
    const isComparable = !isEnded && base !== undefined && count !== base && count.weight > 0
    const more =
      isComparable && hasEnough(count) && hasEnough(base) ? moreThan(count, base, z) : null
    return {
      ...count,
      rate: count.conversions === null ? null : conversionRate(count.conversions, count.visitors),
      share: total === 0 ? null : count.visitors / total,
      expectedShare: weights === 0 ? 0 : count.weight / weights,
      more,
      verdict: count === base ? 'base' : count.weight === 0 ? 'paused' : verdictOf(more),
    } satisfies ComparedVariant
  })
  const verdict = isEnded ? 'ended' : splitVerdict(probability)
  return { rule, visitors: total, probability, verdict, variants }
}

/** Says in words what is known of a variant. */
export function variantText({ name, more, verdict }: ComparedVariant, base: string): string {
  switch (verdict) {
    case 'base':
      return `${name}: the others are compared with it.`
    case 'paused':
      return `${name}: paused.`
    case 'too_few':
      return `${name}: not enough data to say.`
    case 'no_difference':
      return `${name}: not enough data to say: ${rangeText(more)} more visitors than ${base}.`
    case 'more':
      return `${name}: ${rangeText(more)} more visitors than ${base}.`
    case 'fewer':
      return `${name}: ${rangeText(more && { low: -more.high, high: -more.low })} fewer visitors than ${base}.`
  }
}

/** Says in words what is known of a split. */
export function splitText(verdict: SplitVerdict): string {
  switch (verdict) {
    case 'too_few':
      return `Not enough data to say: each variant needs ${VISITORS_MIN} visitors.`
    case 'ended':
      return 'The split has ended in this period: from then on everybody gets one variant.'
    case 'as_weighted':
      return 'The visitors are divided as the weights say.'
    case 'weights_disagree':
      return 'The visitors are not divided as the weights say. Were the weights changed in this period?'
  }
}

/** In percent, with one decimal. */
function rangeText(bounds: Bounds | null): string {
  if (bounds === null) return ''
  const [low, high] = [bounds.low, bounds.high].map((share) => (share * 100).toFixed(1))
  return `${low} to ${high} %`
}

function hasEnough({ visitors }: WeighedCount): boolean {
  return visitors >= VISITORS_MIN
}

function verdictOf(more: Bounds | null): VariantVerdict {
  if (more === null) return 'too_few'
  if (more.low > 0) return 'more'
  return more.high < 0 ? 'fewer' : 'no_difference'
}

function splitVerdict(probability: number | null): SplitVerdict {
  if (probability === null) return 'too_few'
  return probability < PROBABILITY_MIN ? 'weights_disagree' : 'as_weighted'
}
