import { idParams, ifNoneMatchHeaders } from '@terse/contract/primitives'
import {
  compareVariantsQuery,
  type VariantComparisonResource,
  variantComparison,
} from '@terse/contract/variants'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { actorOf } from '../identity/index.ts'
import type { Clicks, VariantComparison } from './report/clicks.ts'
import { formatQuarters } from './report/period.ts'
import { type ComparedVariant, splitText, variantText } from './report/variants.ts'

type VariantRouteDependencies = {
  readonly clicks: Clicks
  /** The instant before which all clicks are counted; null while counting keeps up. */
  readonly countedUntil: () => Promise<string | null>
}

export const variantRoutes: FastifyPluginAsyncZod<VariantRouteDependencies> = async (app, deps) => {
  app.get(
    '/links/:id/variants',
    {
      config: { mayTakeLong: true },
      schema: {
        tags: ['Clicks'],
        operationId: 'links.compareVariants',
        summary: 'Compare the variants of a link',
        description:
          'Counts the visitors of each variant of the rules of the link and of the rule sets that it uses, and says what follows: whether they are divided as the weights say, and how many more visitors each variant has than the first one, for its weight. Reads the single clicks.',
        params: idParams,
        headers: ifNoneMatchHeaders,
        querystring: compareVariantsQuery,
        response: { 200: variantComparison },
      },
    },
    async (request): Promise<VariantComparisonResource> => {
      const { params, query, signal } = request
      const found = await deps.clicks.compareVariants(actorOf(request), params.id, query, {
        signal,
      })
      const { quarters, zone, splits } = found
      const [from = '', to = ''] = formatQuarters([quarters.from, quarters.to], zone)
      return { from, to, counted_until: await deps.countedUntil(), data: splits.map(presentSplit) }
    },
  )
}

type SplitResource = VariantComparisonResource['data'][number]

function presentSplit({
  rule,
  ruleSet,
  variants,
  ...split
}: VariantComparison['splits'][number]): SplitResource {
  const base = variants.find(({ verdict }) => verdict === 'base')?.name ?? ''
  return {
    ...{ rule: rule.id, name: rule.name ?? null, rule_set: ruleSet },
    ...{ ...split, text: splitText(split.verdict) },
    variants: variants.map((variant) => presentVariant(variant, base)),
  }
}

function presentVariant(variant: ComparedVariant, base: string): SplitResource['variants'][number] {
  const { expectedShare, more, rate, ...rest } = variant
  return {
    ...rest,
    rate: rate && {
      value: percentOf(rate.value),
      ...{ low: percentOf(rate.low), high: percentOf(rate.high) },
    },
    expected_share: expectedShare,
    more: more && { low: percentOf(more.low), high: percentOf(more.high) },
    text: variantText(variant, base),
  }
}

/** With one decimal. */
function percentOf(share: number): number {
  return Math.round(share * 1_000) / 10
}
