import { isDeepStrictEqual, styleText } from 'node:util'
import { plainText } from '../../platform/cli/terminal.ts'
import { type Change, type FieldChange, KINDS, type Kind, type Plan } from './plan.ts'

/** A longer value is cut: rules may have 64 KiB. */
const VALUE_LENGTH_MAX = 120

const HEADINGS: Readonly<Record<Kind, string>> = {
  rule_set: 'Rule sets',
  domain: 'Domains',
  utm_template: 'UTM templates',
  link: 'Links',
}

const SIGNS = { create: '+', update: '~', delete: '-' } as const
const COLORS = { create: 'green', update: 'yellow', delete: 'red' } as const

type Color = Parameters<typeof styleText>[0]

type Sums = { readonly create: number; readonly change: number; readonly delete: number }

function sumsOf({ changes }: Pick<Plan, 'changes'>): Sums {
  const count = (action: Change['action']) =>
    changes.filter((change) => change.action === action).length
  return { create: count('create'), change: count('update'), delete: count('delete') }
}

/** Formats a plan like a diff, for people. */
export function formatPlan(
  plan: Plan,
  { file, hasColors }: { readonly file: string; readonly hasColors: boolean },
): string {
  const paint = (color: Color, text: string) =>
    hasColors ? styleText(color, text, { validateStream: false }) : text
  const groups = KINDS.flatMap((kind) => {
    const changes = plan.changes.filter((change) => change.kind === kind)
    const problems = plan.problems.filter((problem) => problem.kind === kind)
    if (changes.length + problems.length === 0) return []
    const lines = [
      paint('bold', HEADINGS[kind]),
      ...changes.flatMap((change) => linesOf(change, paint)),
      ...problems.map(({ name, text, place }) => {
        const where = place === undefined ? '' : `${file}:${place.line}:${place.column} `
        return paint('magenta', plainText(`! ${name}  ${where}${text}`))
      }),
    ]
    return [lines.join('\n')]
  })
  const notes = plan.notes.map((note) => plainText(note)).join('\n')
  return [...groups, ...(notes === '' ? [] : [notes]), sumsText(plan)].join('\n\n')
}

function sumsText(plan: Plan): string {
  const sums = sumsOf(plan)
  if (plan.changes.length === 0) {
    return plan.problems.length === 0
      ? `No changes: the workspace is as the set ${plan.set} says.`
      : 'No other changes.'
  }
  return `${sums.create} to create, ${sums.change} to change, ${sums.delete} to delete.`
}

function linesOf(change: Change, paint: (color: Color, text: string) => string): string[] {
  const { action, name, fields, drift } = change
  const head = paint(COLORS[action], `${SIGNS[action]} ${plainText(name)}`)
  const deleted = drift.find(({ field }) => field === '')
  const lines = fields.flatMap((field) => {
    const author = drift.find((each) => each.field === field.field)
    const edited = author && `      edited by ${plainText(author.by)} at ${secondsOf(author.at)}`
    return [...fieldLines(field, action === 'create'), ...(edited ? [paint('dim', edited)] : [])]
  })
  const gone =
    deleted &&
    paint(
      'dim',
      `    deleted by ${plainText(deleted.by)} at ${secondsOf(deleted.at)}, created again`,
    )
  return [head, ...(gone ? [gone] : []), ...lines]
}

function secondsOf(instant: string): string {
  return `${instant.slice(0, 19)}Z`
}

function fieldLines({ field, from, to }: FieldChange, isNew: boolean): string[] {
  if (field === 'rules' || field === 'utm') return partLines(field, from, to, isNew)
  return [lineOf(field, from, to, isNew)]
}

/** Returns a line for each part of a list or object that differs. */
function partLines(field: string, from: unknown, to: unknown, isNew: boolean): string[] {
  const [before, after]: Readonly<Record<string, unknown>>[] = [Object(from), Object(to)]
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return names.flatMap((name) => {
    const [old = null, next = null] = [before?.[name], after?.[name]]
    if (isDeepStrictEqual(old, next)) return []
    const label = field === 'rules' ? `rules[${name}]` : `${field}.${name}`
    return [lineOf(label, old, next, isNew)]
  })
}

function lineOf(label: string, from: unknown, to: unknown, isNew: boolean): string {
  const text = isNew ? valueText(to) : `${valueText(from)} → ${valueText(to)}`
  return `    ${label}: ${text}`
}

function valueText(value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return '–'
  const isList = Array.isArray(value) && value.every((each) => typeof each === 'string')
  const text = plainText(
    typeof value === 'string' ? value : isList ? value.join(', ') : JSON.stringify(value),
  )
  return text.length <= VALUE_LENGTH_MAX ? text : `${text.slice(0, VALUE_LENGTH_MAX)}…`
}

/** Returns a plan as programs read it: docs/links-as-code.md has its fields. */
export function planAsJson(plan: Plan): Readonly<Record<string, unknown>> {
  return {
    set: plan.set,
    ...sumsOf(plan),
    changes: plan.changes.map(({ action, kind, name, id, fields, drift }) => ({
      ...{ action, kind, name, id, fields },
      edited: drift.map(({ field, at, by }) => ({ field: field || null, at, by })),
    })),
    problems: plan.problems.map(({ kind, name, text, place }) => ({
      ...{ kind, name, text },
      line: place?.line ?? null,
      column: place?.column ?? null,
    })),
    notes: plan.notes,
  }
}
