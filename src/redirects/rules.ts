import type { Rule, Then } from '@terse/contract/rules'
import type { Parameter } from './destination-query.ts'
import { compileTemplate, type Template } from './destination-template.ts'
import { type Condition, compileWhen, ruleContext } from './rule-conditions.ts'
import type { RuleVisitor } from './rule-visitor.ts'
import { divider } from './split.ts'

/** What a rule gives a visitor. */
export type Outcome = {
  readonly rule: string
  /** The name of the variant of a split; '' for a rule with one destination. */
  readonly variant: string
  readonly template: Template
  /** Days for which a cookie is to keep the variant from now on; 0 for no cookie. */
  readonly keepDays: number
  /** What chose the variant; the rule alone where there is none. */
  readonly by: 'rule' | 'weight' | 'cookie' | 'end'
}

/** A rule, made ready for visits when its link is loaded. */
type CompiledRule = {
  readonly id: string
  readonly conditions: readonly Condition[]
  readonly outcomeFor: (visitor: RuleVisitor) => Outcome
  /** All destinations that it may have. */
  readonly templates: readonly Template[]
}

/** Follows a decision step by step, for explanations. Visits have none, and pay for one comparison with undefined a step. */
export type Trace = {
  /** Called for each rule that is tried, with the first condition that does not hold; undefined for the rule that decides. */
  rule(rule: CompiledRule, failed: Condition | undefined): void
  /** Called where no rule decides. */
  destination(field: 'url' | 'ios' | 'android'): void
  /** Called before parameters of the visitor's query are set on a destination. */
  query(destination: string, added: readonly Parameter[]): void
  /** Called for each parameter of the destination that one of the visitor replaces. */
  replaced(text: string): void
  /** Called before UTM values of the domain are added, with those. */
  defaults(added: readonly Parameter[]): void
}

/** The rules of a link that has some, or of a set. */
export type PreparedRules = {
  /** What was compiled, for a warm start. */
  readonly source: readonly Rule[]
  readonly compiled: readonly CompiledRule[]
  /** Memory that they take, estimated. */
  readonly bytes: number
}

/** The rules of a set, compiled once for all links that use it: their destinations lack the UTM values of the link. */
export type SharedRules = {
  readonly rules: PreparedRules
  /** As of a link: see `PreparedLink.elsewhereAt`. */
  elsewhereAt: number
}

export const NO_SETS: readonly SharedRules[] = []

/** @param source rules in the form that is stored */
export function shareRules(source: readonly Rule[]): SharedRules {
  return { rules: compileRules(source), elsewhereAt: -1 }
}

/** Memory of a compiled rule for each character of its JSON. */
const BYTES_PER_CHARACTER = 8

/** @param source rules in the form that is stored */
export function compileRules(source: readonly Rule[]): PreparedRules {
  const context = ruleContext(source)
  const compiled = source.map(({ id, when, then }) => ({
    id,
    conditions: compileWhen(when, context),
    ...compileTarget(id, then),
  }))
  const bytes = JSON.stringify(source).length * BYTES_PER_CHARACTER
  return { source, compiled, bytes }
}

/** Returns what the first rule that matches gives the visitor; undefined where none does. */
export function evaluate(
  { compiled }: PreparedRules,
  visitor: RuleVisitor,
  trace?: Trace,
): Outcome | undefined {
  for (const rule of compiled) {
    const failed = firstThatFails(rule.conditions, visitor)
    trace?.rule(rule, failed)
    if (failed === undefined) return rule.outcomeFor(visitor)
  }
  return undefined
}

function firstThatFails(
  conditions: readonly Condition[],
  visitor: RuleVisitor,
): Condition | undefined {
  for (const condition of conditions) if (!condition.holds(visitor)) return condition
  return undefined
}

type Target = Pick<CompiledRule, 'outcomeFor' | 'templates'>

function compileTarget(rule: string, { url, split = [], end, remember_days = 0 }: Then): Target {
  if (url !== undefined) {
    const template = compileTemplate(url)
    const outcome: Outcome = { rule, variant: '', template, keepDays: 0, by: 'rule' }
    return { outcomeFor: () => outcome, templates: [template] }
  }
  const outcomes = split.map(
    (variant): Outcome => ({
      ...{ rule, variant: variant.name, keepDays: 0, by: 'weight' },
      template: compileTemplate(variant.url),
    }),
  )
  const remembered = outcomes.map((outcome) => ({ ...outcome, keepDays: remember_days }))
  const byName = (by: Outcome['by']) =>
    new Map(outcomes.map((outcome) => [outcome.variant, { ...outcome, by }]))
  const byCookie = byName('cookie')
  const draw = divider(rule, split)
  const endMs = end === undefined ? Number.POSITIVE_INFINITY : Date.parse(end.at)
  const last = end && byName('end').get(end.variant)
  return {
    templates: outcomes.map(({ template }) => template),
    outcomeFor(visitor) {
      const { source } = visitor
      if (last !== undefined && source.atMs >= endMs) return last
      if (remember_days === 0) return outcomes[draw(source.visitor())] as Outcome
      const kept = byCookie.get(source.keptVariant(rule) ?? '')
      return kept ?? (remembered[draw(source.visitor())] as Outcome)
    },
  }
}
