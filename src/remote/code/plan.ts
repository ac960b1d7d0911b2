import { isDeepStrictEqual } from 'node:util'
import type { Rule, RuleInput } from '@terse/contract/rules'
import {
  DOMAIN_DEFAULTS,
  foldName,
  LINK_DEFAULTS,
  type LinkFile,
  TEMPLATE_DEFAULTS,
  type Values,
  type Wanted,
  type WantedLink,
} from './link-file.ts'
import type { Place } from './source-text.ts'
import type { Found, FoundLink, WorkspaceState } from './workspace-state.ts'

/** In the order in which they are shown and made; deletions go the other way. */
export const KINDS = ['rule_set', 'domain', 'utm_template', 'link'] as const
export type Kind = (typeof KINDS)[number]

/** A value before and after; null where there is none. */
export type FieldChange = { readonly field: string; readonly from: unknown; readonly to: unknown }

/** Who changed a field by other means since the set was last applied; or deleted the link, for an empty field. */
export type Drift = { readonly field: string; readonly at: string; readonly by: string }

export type Change = {
  readonly action: 'create' | 'update' | 'delete'
  readonly kind: Kind
  readonly name: string
  /** Null before it is created. */
  readonly id: string | null
  readonly fields: readonly FieldChange[]
  readonly drift: readonly Drift[]
  readonly wanted: Wanted | WantedLink | undefined
  readonly found: Found | undefined
}

/** What keeps the plan from being applied. */
type Problem = {
  readonly kind: Kind
  readonly name: string
  readonly text: string
  /** Where the file has it; undefined for what it does not have. */
  readonly place: Place | undefined
}

export type Plan = {
  readonly set: string
  readonly changes: readonly Change[]
  readonly problems: readonly Problem[]
  /** Facts for people that change nothing. */
  readonly notes: readonly string[]
  /** What is as the file has it, and was written by other means since it was last applied. */
  readonly unconfirmed: readonly Unconfirmed[]
}

export type Unconfirmed = { readonly kind: Kind; readonly id: string }

export type PlanOptions = {
  /** Whether things without a mark are taken into the set. */
  readonly adopt: boolean
  /** Whether to write all passwords: the service does not show whether one has changed. */
  readonly setPasswords: boolean
}

type Lists = { readonly wanted: readonly Wanted[]; readonly found: readonly Found[] }

/** Compares a file with the workspace. Each kind is compared by name, which is unique in it. */
export function planChanges(file: LinkFile, state: WorkspaceState, options: PlanOptions): Plan {
  const planner = new Planner(file, state, options)
  const lists: Readonly<Record<Kind, Lists>> = {
    rule_set: { wanted: file.ruleSets, found: state.ruleSets },
    domain: { wanted: file.domains, found: state.domains ?? [] },
    utm_template: { wanted: file.templates, found: state.templates },
    link: { wanted: file.links, found: state.links },
  }
  for (const kind of KINDS) planner.compare(kind, lists[kind])
  return planner.plan
}

class Planner {
  readonly #file: LinkFile
  readonly #options: PlanOptions
  /** The ids of rule sets by their folded names; null for one that is yet to be created. */
  readonly #setIds: ReadonlyMap<string, string | null>
  readonly #setNames: ReadonlyMap<string, string>
  readonly #changes: Change[] = []
  readonly #problems: Problem[] = []
  readonly #unconfirmed: Unconfirmed[] = []

  constructor(file: LinkFile, state: WorkspaceState, options: PlanOptions) {
    this.#file = file
    this.#options = options
    this.#setIds = new Map([
      ...file.ruleSets.map(({ name }) => [foldName(name), null] as const),
      ...state.ruleSets.map(({ name, id }) => [foldName(name), id] as const),
    ])
    this.#setNames = new Map(state.ruleSets.map(({ id, name }) => [id, name]))
  }

  get plan(): Plan {
    return {
      set: this.#file.set,
      changes: this.#changes,
      problems: this.#problems,
      notes: [],
      unconfirmed: this.#unconfirmed,
    }
  }

  compare(kind: Kind, { wanted, found }: Lists): void {
    const fold = kind === 'rule_set' || kind === 'utm_template' ? foldName : String
    const rest = new Map(found.map((thing) => [fold(thing.name), thing]))
    for (const thing of wanted) {
      const name = fold(thing.name)
      const existing = rest.get(name)
      rest.delete(name)
      this.#requireRuleSet(kind, thing)
      if (existing === undefined) this.#create(kind, thing)
      else this.#update(kind, thing, existing)
    }
    const left = [...rest.values()].filter(({ managed_by }) => managed_by === this.#file.set)
    for (const thing of left.sort(byName)) this.#delete(kind, thing)
  }

  #create(kind: Kind, wanted: Wanted): void {
    const fields = Object.entries(DEFAULTS[kind]).flatMap(([field, usual]) =>
      changeOf(field, usual, wanted.values[field]),
    )
    if (wanted.ruleSet !== null) fields.push({ field: 'rule_set', from: null, to: wanted.ruleSet })
    if (wanted.rules.length > 0) fields.push({ field: 'rules', from: [], to: wanted.rules })
    fields.push(...this.#passwordChange(wanted, undefined))
    this.#add({ action: 'create', kind, name: wanted.name, id: null, fields, wanted })
  }

  #update(kind: Kind, wanted: Wanted, found: Found): void {
    const { set } = this.#file
    const { name } = wanted
    if (found.managed_by !== null && found.managed_by !== set) {
      this.#refuse(kind, wanted, `belongs to the set ${found.managed_by}`)
      return
    }
    const fields = [
      ...addressChange(wanted, found),
      ...Object.keys(DEFAULTS[kind]).flatMap((field) =>
        changeOf(field, found.values[field], wanted.values[field]),
      ),
      ...this.#ruleSetChange(wanted, found),
      ...rulesChange(wanted, found),
      ...this.#passwordChange(wanted, found),
      ...(kind === 'rule_set' ? changeOf('name', found.name, name) : []),
    ]
    const isAdopted = found.managed_by === null
    // A domain that an apply has created gets its mark by a second request, which a kill can prevent.
    const isHalfMade =
      kind === 'domain' &&
      fields.every(({ field, from }) => isDeepStrictEqual(from, DOMAIN_DEFAULTS[field] ?? null))
    if (isAdopted && !this.#options.adopt && !isHalfMade) {
      this.#refuse(kind, wanted, `exists, and belongs to no set. With --adopt, ${set} takes it.`)
      return
    }
    if (isAdopted) fields.unshift({ field: 'managed_by', from: null, to: set })
    if (fields.length > 0) {
      this.#add({ action: 'update', kind, name, id: found.id, fields, wanted, found })
    } else if (isEdited(found)) this.#unconfirmed.push({ kind, id: found.id })
  }

  #delete(kind: Kind, found: Found): void {
    const { name, id, values } = found
    const isKept = values.prevent_delete === true
    if (isKept || this.#file.prevent_delete) {
      const whose = isKept ? 'the link has' : 'the file has'
      const text = `kept: prevent_delete. The file no longer has it, and ${whose} prevent_delete.`
      this.#problems.push({ kind, name, text, place: undefined })
      return
    }
    this.#add({ action: 'delete', kind, name, id, fields: [], wanted: undefined, found })
  }

  #add(change: Omit<Change, 'drift' | 'found'> & { readonly found?: Found }): void {
    this.#changes.push({ ...change, drift: [], found: change.found })
  }

  #refuse(kind: Kind, { name, path }: Wanted, text: string): void {
    this.#problems.push({ kind, name, text, place: this.#file.placeOf(path) })
  }

  #requireRuleSet(kind: Kind, { name, ruleSet, path }: Wanted): void {
    if (ruleSet === null || this.#setIds.has(foldName(ruleSet))) return
    const place = this.#file.placeOf([...path, 'rule_set'])
    const text = `there is no rule set ${ruleSet}, neither in the file nor in the workspace`
    this.#problems.push({ kind, name, text, place })
  }

  #ruleSetChange(wanted: Wanted, found: Found): FieldChange[] {
    const id = wanted.ruleSet === null ? null : this.#setIds.get(foldName(wanted.ruleSet))
    const isSame = id === found.ruleSet && (id !== null || wanted.ruleSet === null)
    if (isSame) return []
    const from = found.ruleSet && (this.#setNames.get(found.ruleSet) ?? found.ruleSet)
    return [{ field: 'rule_set', from, to: wanted.ruleSet }]
  }

  #passwordChange(wanted: Wanted, found: Found | undefined): FieldChange[] {
    const variable = 'passwordFrom' in wanted ? wanted.passwordFrom : null
    const has = (found as FoundLink | undefined)?.hasPassword ?? false
    const from = has ? 'set' : null
    if (variable === null) return has ? [{ field: 'password', from, to: null }] : []
    if (has && !this.#options.setPasswords) return []
    return [{ field: 'password', from, to: `from ${variable}` }]
  }
}

const DEFAULTS: Readonly<Record<Kind, Values>> = {
  rule_set: {},
  domain: DOMAIN_DEFAULTS,
  utm_template: TEMPLATE_DEFAULTS,
  link: LINK_DEFAULTS,
}

/** The same order on every machine. */
export function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0
}

/** Whether it was written by other means since the set was last applied. */
export function isEdited({ managed_at, updated_at }: Found): boolean {
  return managed_at !== null && updated_at > managed_at
}

function changeOf(field: string, from: unknown, to: unknown): FieldChange[] {
  return isDeepStrictEqual(from, to) ? [] : [{ field, from, to }]
}

/** Returns the changes of the address of a link that was moved by hand. */
function addressChange(wanted: Wanted, found: Found): FieldChange[] {
  if (!('key' in wanted && 'key' in found)) return []
  const [to, from] = [wanted as WantedLink, found as FoundLink]
  return [...changeOf('domain', from.domain, to.domain), ...changeOf('key', from.key, to.key)]
}

function rulesChange({ rules }: Wanted, found: Found): FieldChange[] {
  const to = withFoundIds(rules, found.rules)
  return changeOf('rules', found.rules, to)
}

/**
 * Gives rules without an id that of the rule which they replace, so that its clicks go on being counted: the same
 * rule, else one of the same name, else the one in its place.
 */
export function withFoundIds(
  rules: readonly RuleInput[],
  found: readonly Rule[],
): readonly RuleInput[] {
  const given = new Set(rules.flatMap(({ id }) => id ?? []))
  const free = found.filter(({ id }) => !given.has(id))
  const ids = new Map<RuleInput, string>()
  const matches: ((rule: RuleInput, old: Rule, index: number) => boolean)[] = [
    (rule, { id: _, ...old }) => isDeepStrictEqual(rule, old),
    (rule, old) => rule.name !== undefined && rule.name === old.name,
    (_, old, index) => found[index] === old,
  ]
  for (const isMatch of matches) {
    for (const [index, rule] of rules.entries()) {
      if (rule.id !== undefined || ids.has(rule)) continue
      const at = free.findIndex((old) => isMatch(rule, old, index))
      const [old] = at < 0 ? [] : free.splice(at, 1)
      if (old !== undefined) ids.set(rule, old.id)
    }
  }
  return rules.map((rule) => {
    const id = rule.id ?? ids.get(rule)
    return id === undefined ? rule : { id, ...rule }
  })
}
