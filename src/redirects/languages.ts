import { memoize } from '../platform/cache/memoize.ts'

/** More than any browser sends. What a header has beyond is not read. */
const HEADER_LENGTH_MAX = 512
const RANGES_MAX = 32
/** A language range with its weight (RFC 9110, sections 12.4.2 and 12.5.4). */
const RANGE =
  /^[ \t]*([a-z]{2,3}(?:[-_][a-z0-9]{1,8})*)[ \t]*(?:;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[ \t]*)?$/i

/**
 * The share of the highest weight from which on a language counts as one that the visitor prefers. Chrome sends a
 * list of languages as 1, 0.9, 0.8, so this is its first two. Further ones are what the visitor can put up with: a
 * German browser that also takes English must not get the English page of a link whose other page is German.
 */
const PREFERRED_SHARE = 0.9

/** A language of a rule, or one that a visitor prefers. */
export type Language = {
  readonly text: string
  readonly language: string
  /** With the likely one where the text has none, such as `Hant` of `zh-TW`. */
  readonly script: string
  readonly hasScript: boolean
  /** '' if none. */
  readonly region: string
}

/** Parses a language tag (RFC 5646) of language, script and region; undefined for other text. */
function parseLanguage(text: string): Language | undefined {
  try {
    const locale = new Intl.Locale(text.replaceAll('_', '-'))
    const { language, region = '', script } = locale
    return {
      text,
      // Browsers send Bokmål, which people call Norwegian.
      language: language === 'nb' ? 'no' : language,
      script: locale.maximize().script ?? '',
      hasScript: script !== undefined,
      region,
    }
  } catch {
    return undefined
  }
}

/** Languages by their `language`, of which a link may have thousands. */
export type OfferedLanguages = ReadonlyMap<string, readonly Language[]>

export function offeredLanguages(tags: readonly string[]): OfferedLanguages {
  return Map.groupBy(
    tags.flatMap((tag) => parseLanguage(tag) ?? []),
    ({ language }) => language,
  )
}

/**
 * Returns the one of some languages that an `Accept-Language` header prefers: for each preferred range, in their
 * order, the closest language that covers it, as in a look-up (RFC 4647, section 3.4). `en` covers `en-GB`; `fr-FR`
 * does not cover `fr`; `zh-TW` covers `zh-Hant-TW`. Undefined where none does.
 */
export function bestLanguage(
  offered: OfferedLanguages,
  header: string | undefined,
): Language | undefined {
  if (header === undefined) return undefined
  for (const range of preferredRanges(header)) {
    let best: Language | undefined
    for (const language of offered.get(range.language) ?? []) {
      if (!covers(language, range)) continue
      if (best === undefined || closeness(language) > closeness(best)) best = language
    }
    if (best !== undefined) return best
  }
  return undefined
}

/** Both have the same `language`. */
function covers(language: Language, range: Language): boolean {
  return (
    (!language.hasScript || language.script === range.script) &&
    (language.region === '' || language.region === range.region)
  )
}

function closeness({ hasScript, region }: Language): number {
  return (region === '' ? 0 : 2) + (hasScript ? 1 : 0)
}

const preferredRanges = memoize(readRanges, { countMax: 4096, lengthMax: 128 })

function readRanges(header: string): readonly Language[] {
  const texts = header.slice(0, HEADER_LENGTH_MAX).split(',', RANGES_MAX)
  // The last one may have been cut within a word.
  if (header.length > HEADER_LENGTH_MAX) texts.pop()
  const ranges = texts.flatMap((text) => {
    const [, tag = '', weight = '1'] = RANGE.exec(text) ?? []
    const language = tag === '' ? undefined : parseLanguage(tag)
    return language === undefined ? [] : [{ language, weight: Number(weight) }]
  })
  const highest = Math.max(0, ...ranges.map(({ weight }) => weight))
  return ranges
    .filter(({ weight }) => weight > 0 && weight >= highest * PREFERRED_SHARE)
    .sort((one, other) => other.weight - one.weight)
    .map(({ language }) => language)
}
