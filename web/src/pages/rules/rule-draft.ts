import type { Conditions, Rule, RuleInput, Then, When } from '@terse/contract/rules'
import { randomId } from '../../state/random-id.ts'

/** A rule as it is being edited; `key` names it before it has an id. */
export type RuleDraft = { readonly key: string; readonly rule: RuleInput }

export type Kind = keyof Conditions
/** A condition of a rule: it must hold, or it must not. */
export type Condition = { readonly kind: Kind; readonly isNot: boolean }
export type Variant = NonNullable<Then['split']>[number]

/** What is wrong, by the path below a rule (`when.country.1`), for each rule by its key. */
export type RuleErrors = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>

export function draftsOf(rules: readonly Rule[]): readonly RuleDraft[] {
  return rules.map((rule) => ({ key: rule.id, rule }))
}

export function newRule(rule: RuleInput = { when: {}, then: { url: '' } }): RuleDraft {
  return { key: randomId(), rule }
}

/** The same rule again, which the service gives an id of its own. */
export function copyOfRule({ rule: { id: _, ...rule } }: RuleDraft): RuleDraft {
  return newRule(rule)
}

export function movedTo<T>(list: readonly T[], from: number, to: number): readonly T[] {
  const rest = list.toSpliced(from, 1)
  return rest.toSpliced(to, 0, ...list.slice(from, from + 1))
}

/** The conditions that have a chip; groups of `any` have rows of their own. */
export function conditionsOf({ not = {}, any: _, ...plain }: When): readonly Condition[] {
  const kinds = (group: Conditions) => Object.keys(group) as readonly Kind[]
  return [
    ...kinds(plain).map((kind) => ({ kind, isNot: false })),
    ...kinds(not).map((kind) => ({ kind, isNot: true })),
  ]
}

export function conditionIn<K extends Kind>(
  when: When,
  { kind, isNot }: { readonly kind: K; readonly isNot: boolean },
): Conditions[K] {
  return (isNot ? when.not : when)?.[kind]
}

/** @param value undefined removes the condition */
export function withCondition<K extends Kind>(
  { not = {}, ...when }: When,
  { kind, isNot }: { readonly kind: K; readonly isNot: boolean },
  value: Conditions[K] | undefined,
): When {
  const { [kind]: _, ...rest } = isNot ? not : when
  const group = value === undefined ? rest : { ...(isNot ? not : when), [kind]: value }
  const [must, mustNot] = isNot ? [when, group] : [group, not]
  return { ...must, ...(Object.keys(mustNot).length > 0 && { not: mustNot }) } as When
}

/** What a condition begins with. */
export function emptyCondition(kind: Kind): Conditions[Kind] {
  if (kind === 'qr' || kind === 'bot') return true
  if (kind === 'query') return [{ name: '', present: true }]
  return kind === 'time' ? [{}] : []
}

/** The letter of a variant: A to T. */
export function letterOf(nth: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + nth)
}

/** Returns each weight as a part of their sum; equal parts where all are 0. */
export function sharesOf(variants: readonly Variant[]): readonly number[] {
  const sum = variants.reduce((total, { weight }) => total + weight, 0)
  return variants.map(({ weight }) => (sum === 0 ? 1 / variants.length : weight / sum))
}

/** Weights of whole percents that differ by at most one. */
export function evenedOut(variants: readonly Variant[]): Variant[] {
  const each = Math.floor(100 / variants.length)
  const rest = 100 - each * variants.length
  return variants.map((variant, nth) => ({ ...variant, weight: each + (nth < rest ? 1 : 0) }))
}

/** Moves weight from the variant right of a handle to the one left of it; neither gets less than 0. */
export function shifted(variants: readonly Variant[], handle: number, by: number): Variant[] {
  const [left, right] = [variants[handle], variants[handle + 1]]
  if (left === undefined || right === undefined) return [...variants]
  const step = Math.max(-left.weight, Math.min(right.weight, by))
  return variants.map((variant, nth) => {
    if (nth === handle) return { ...variant, weight: variant.weight + step }
    return nth === handle + 1 ? { ...variant, weight: variant.weight - step } : variant
  })
}

/**
 * Whether each visitor whom the conditions of a later rule let in was let in by an earlier one. What cannot be told from
 * the values alone, such as that the EU has Germany in it, is taken for false.
 */
export function covers({ not = {}, any, ...must }: When, later: When): boolean {
  const kinds = (group: Conditions) => Object.keys(group) as readonly Kind[]
  return (
    kinds(must).every((kind) => isPartOf(later[kind], must[kind])) &&
    kinds(not).every((kind) => isPartOf(not[kind], later.not?.[kind])) &&
    (any === undefined || JSON.stringify(any) === JSON.stringify(later.any))
  )
}

/** Whether all values of a condition are among those of another one. */
function isPartOf(some: Conditions[Kind], all: Conditions[Kind]): boolean {
  if (!Array.isArray(some) || !Array.isArray(all)) return some !== undefined && some === all
  const texts = new Set(all.map((value) => JSON.stringify(value)))
  return some.length > 0 && some.every((value) => texts.has(JSON.stringify(value)))
}

const RULE_FIELD = /^rules\.(\d+)\.(.+)$/

/** Gives what is wrong, by the fields of the API, to the rules that were sent. */
export function errorsByRule(
  fields: Readonly<Record<string, readonly string[]>>,
  drafts: readonly RuleDraft[],
): RuleErrors {
  const errors: Record<string, Record<string, readonly string[]>> = {}
  for (const [field, texts] of Object.entries(fields)) {
    const [, place, path] = RULE_FIELD.exec(field) ?? []
    const key = drafts[Number(place)]?.key
    if (key === undefined || path === undefined) continue
    errors[key] = { ...errors[key], [path]: texts }
  }
  return errors
}

/** Drops what is wrong with values that were changed since. */
export function remainingErrors(
  errors: Readonly<Record<string, readonly string[]>>,
  before: RuleInput,
  after: RuleInput,
): Readonly<Record<string, readonly string[]>> {
  const isSame = (path: string) => valueAt(before, path) === valueAt(after, path)
  return Object.fromEntries(Object.entries(errors).filter(([path]) => isSame(path)))
}

function valueAt(rule: RuleInput, path: string): string | undefined {
  let value: unknown = rule
  for (const name of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[name]
  return JSON.stringify(value)
}
