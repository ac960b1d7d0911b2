import type { Conditions, QueryTest, Then, TimeSpan, When } from '@terse/contract/rules'
import { VALUE_END, VALUE_START } from '../../text/en/rules.ts'
import { type Kind, sharesOf } from './rule-draft.ts'
import type { RuleLanguage } from './rule-words.ts'

/** Marks a value in a sentence. */
function value(text: string): string {
  return VALUE_START + text + VALUE_END
}

type Part = { readonly text: string; readonly isValue: boolean }

/** Takes a sentence apart into its values and the words around them. */
export function partsOf(sentence: string): readonly Part[] {
  const parts = sentence.split(VALUE_START).flatMap((text, nth): readonly Part[] => {
    if (nth === 0) return [{ text, isValue: false }]
    const [inside = '', after = ''] = text.split(VALUE_END)
    return [
      { text: inside, isValue: true },
      { text: after, isValue: false },
    ]
  })
  return parts.filter(({ text }) => text !== '')
}

/** Whom a rule is for: "If the country is Germany or Austria, and the device is a phone". */
export function whenSentence({ not = {}, any, ...plain }: When, language: RuleLanguage): string {
  const groups = any?.map((group) => clausesOf(group, false, language)) ?? []
  const clauses = [
    ...clausesOf(plain, false, language),
    ...clausesOf(not, true, language),
    ...(groups.length > 0 ? [language.w.groups(groups)] : []),
  ]
  return clauses.length === 0 ? language.w.everyone : language.w.when(clauses)
}

/** The parts of a split with their shares: "split: A 40 %, B 60 %". */
export function splitSentence(split: NonNullable<Then['split']>, language: RuleLanguage): string {
  const shares = sharesOf(split)
  const parts = split.map(({ name }, nth) =>
    language.w.variantShare(name, language.share(shares[nth] ?? 0)),
  )
  return language.w.splits(value(language.allOf(parts)))
}

function clausesOf(group: Conditions, isNot: boolean, language: RuleLanguage): readonly string[] {
  return (Object.keys(group) as readonly Kind[]).map((kind) => {
    const { is, not } = language.w.says[kind]
    // A flag that must be false is the opposite of one that must be true.
    const isOpposite = isNot !== (group[kind] === false)
    return (isOpposite ? not : is)(valuesText(kind, group, language))
  })
}

/** The values of a condition, as they stand in a sentence. */
export function valuesText(kind: Kind, group: Conditions, language: RuleLanguage): string {
  if (kind === 'qr' || kind === 'bot') return ''
  if (kind === 'query') {
    return language.anyOf(group.query?.map((test) => testText(test, language)) ?? [])
  }
  if (kind === 'time') {
    return language.anyOf(group.time?.map((span) => value(spanText(span, language))) ?? [])
  }
  const names = group[kind]?.map((one) => language.valueName(kind, one)) ?? []
  return value(language.anyOf(names))
}

function testText(test: QueryTest, { w }: RuleLanguage): string {
  const name = value(test.name)
  if (test.equals !== undefined) return w.tests.equals(name, value(test.equals))
  if (test.contains !== undefined) return w.tests.contains(name, value(test.contains))
  return test.absent ? w.tests.absent(name) : w.tests.present(name)
}

function spanText({ from, until, weekdays, hours, zone }: TimeSpan, language: RuleLanguage) {
  const isZoned = zone !== undefined && (weekdays !== undefined || hours !== undefined)
  return language.w.span({
    ...(from !== undefined && { from: language.instant(from) }),
    ...(until !== undefined && { until: language.instant(until) }),
    ...(weekdays !== undefined && { days: language.anyOf(weekdays.map(language.weekday)) }),
    ...(hours !== undefined && { hours }),
    ...(isZoned && { zone: zone.replace(/^.*\//, '').replaceAll('_', ' ') }),
  })
}
