import { isDeepStrictEqual } from 'node:util'
import type { Rule } from '@terse/contract/rules'
import { stringify } from 'yaml'
import { DOMAIN_DEFAULTS, LINK_DEFAULTS, TEMPLATE_DEFAULTS, type Values } from './link-file.ts'
import { byName } from './plan.ts'
import type { Found, FoundLink, WorkspaceState } from './workspace-state.ts'

/** The ids that the service generates for rules. A file leaves them out: an apply keeps those that are there. */
const MADE_RULE_ID = /^(?:[0-9a-f]{10}|set-[0-9a-f]{20})$/

/** Returns a file that describes the things of a workspace, in a stable order and without default values. */
export function describeWorkspace(
  set: string,
  { domains = [], ruleSets, templates, links }: WorkspaceState,
  /** The names of all rule sets of the workspace, by their ids. */
  ruleSetNames: ReadonlyMap<string, string>,
): Values {
  const nameOf = (id: string | null) => (id === null ? undefined : ruleSetNames.get(id))
  const file = {
    domains: domains.map((domain) => ({
      domain: domain.name,
      ...changedValues(domain, DOMAIN_DEFAULTS),
      rule_set: nameOf(domain.ruleSet),
    })),
    rule_sets: ruleSets.map(({ name, rules }) => ({ name, rules: rules.map(describeRule) })),
    utm_templates: templates.map((template) => ({
      name: template.name,
      ...changedValues(template, TEMPLATE_DEFAULTS),
    })),
    links: links.map((link) => ({
      link: link.name,
      ...changedValues(link, LINK_DEFAULTS),
      password: link.hasPassword ? { env: variableOf(link) } : undefined,
      rule_set: nameOf(link.ruleSet),
      rules: link.rules.length === 0 ? undefined : link.rules.map(describeRule),
    })),
  }
  const lists = Object.entries(file).filter(([, list]) => list.length > 0)
  return withoutUndefined({ version: 1, set, ...Object.fromEntries(lists) }) as Values
}

/** @param name of the file: its ending says in which format */
export function formatFile(file: Values, name: string): string {
  if (/\.json$/i.test(name)) return `${JSON.stringify(file, null, 2)}\n`
  // Long lines stay lines: an address that is folded cannot be searched for.
  return stringify(file, { lineWidth: 0 })
}

/** Returns the things that a file of a set has: those of the set, and with `adopt` those of no set. */
export function selectThings(
  state: WorkspaceState,
  { set, adopt, domains }: { set: string; adopt: boolean; domains: readonly string[] },
): WorkspaceState {
  const isOurs = ({ managed_by }: Found) => managed_by === set || (adopt && managed_by === null)
  const isOn = (host: string) => domains.length === 0 || domains.includes(host)
  const links = state.links.filter((link) => isOurs(link) && isOn(hostOf(link)))
  const hosts = (state.domains ?? []).filter((domain) => isOurs(domain) && isOn(domain.name))
  const used = new Set([...links, ...hosts].map(({ ruleSet }) => ruleSet))
  const isWhole = domains.length === 0
  return {
    links: links.sort(byName),
    domains: hosts.sort(byName),
    ruleSets: state.ruleSets
      .filter((each) => isOurs(each) && (isWhole || used.has(each.id)))
      .sort(byName),
    templates: isWhole ? state.templates.filter(isOurs).sort(byName) : [],
  }
}

function hostOf({ name }: FoundLink): string {
  return name.slice(0, name.indexOf('/'))
}

function changedValues({ values }: Found, defaults: Values): Values {
  return Object.fromEntries(
    Object.entries(defaults).flatMap(([field, usual]) => {
      const value = values[field]
      if (isDeepStrictEqual(value, usual)) return []
      return [[field, field === 'utm' ? withoutNull(value) : value]]
    }),
  )
}

function withoutNull(values: unknown): unknown {
  return Object.fromEntries(Object.entries(Object(values)).filter(([, value]) => value !== null))
}

function describeRule({ id, when, ...rest }: Rule): Values {
  return {
    ...(!MADE_RULE_ID.test(id) && { id }),
    ...(rest.name !== undefined && { name: rest.name }),
    ...(Object.keys(when).length > 0 && { when }),
    then: rest.then,
  }
}

/** The name of a variable that nothing sets: a file has to name one for the password that the link has. */
function variableOf({ name }: FoundLink): string {
  return `PASSWORD_${name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}`
}

function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      inner === undefined ? [] : [[name, withoutUndefined(inner)]],
    ),
  )
}
