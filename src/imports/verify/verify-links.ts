import { compareAnswers } from './compare-answers.ts'
import type { LinkAnswer } from './link-answer.ts'

/** A link of the old service, and the one that an import made of it. */
export type LinkPair = { readonly oldLink: URL; readonly link: URL }

export type VerifiedPair = LinkPair & {
  readonly verdict: 'same' | 'different' | 'unknown'
  /** A sentence; '' for links that are the same. */
  readonly reason: string
  readonly before: LinkAnswer
  readonly now: LinkAnswer
}

type Ask = (link: URL) => Promise<LinkAnswer>

/** Compares pair after pair, in their order. Some are asked for at once, so that slow answers do not add up. */
export async function* verifyLinks(
  pairs: AsyncIterable<LinkPair>,
  options: {
    readonly askOld: Ask
    readonly askTerse: Ask
    readonly atOnce: number
  },
): AsyncGenerator<VerifiedPair, void, void> {
  const { askOld, askTerse, atOnce } = options
  const verify = async (pair: LinkPair): Promise<VerifiedPair> => {
    const [before, now] = await Promise.all([askOld(pair.oldLink), askTerse(pair.link)])
    return { reason: '', ...pair, before, now, ...compareAnswers(before, now) }
  }
  const asked: Promise<VerifiedPair>[] = []
  for await (const pair of pairs) {
    const verifying = verify(pair)
    // Its failure is reported when its turn comes.
    verifying.catch(() => {})
    asked.push(verifying)
    const [first] = asked
    if (asked.length < atOnce || first === undefined) continue
    yield await first
    asked.shift()
  }
  for (const verifying of asked) yield await verifying
}
