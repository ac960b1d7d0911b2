import { escapeHtml } from '../../../platform/text/escape-html.ts'
import { nameOf, type Parameter, type Schema } from './description.ts'

/** Formats and patterns that the type of a field says already, or that say nothing to a reader. */
const SAFE_INTEGER = Number.MAX_SAFE_INTEGER
const PATTERN_CHARACTERS_MAX = 60

/** Returns a text of the document as HTML: its code, and its paragraphs. */
export function prose(text: string | undefined): string {
  if (text === undefined) return ''
  return text
    .split('\n\n')
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join('')
}

export function inline(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
}

/** Returns the fields of an object, or what else a schema is, as HTML. */
export function schemaHtml(schema: Schema): string {
  const { properties, anyOf, oneOf, items, additionalProperties } = schema
  if (properties !== undefined) {
    const isRequired = new Set(schema.required)
    const fields = Object.entries(properties).map(([name, field]) =>
      fieldHtml(name, field, isRequired.has(name)),
    )
    return fields.length === 0 ? '' : `<dl class="fields">${fields.join('')}</dl>`
  }
  if (typeof additionalProperties === 'object') return schemaHtml(additionalProperties)
  if (items !== undefined) return schemaHtml(items)
  return (anyOf ?? oneOf ?? []).map(schemaHtml).join('')
}

export function parameterHtml({ name, required, description, schema }: Parameter): string {
  const described = description === undefined ? schema : { ...schema, description }
  return fieldHtml(name, described, required === true)
}

function fieldHtml(name: string, schema: Schema, isRequired: boolean): string {
  const marks = [
    `<span class="type">${typeHtml(schema)}</span>`,
    ...(isRequired ? ['<span class="must">required</span>'] : []),
    ...(schema.deprecated === true ? ['<span class="old">deprecated</span>'] : []),
  ]
  const texts = [...descriptionsOf(schema)].map(inline).join(' ')
  const notes = [...limitsOf(schema)].join(' · ')
  return (
    `<div><dt><code>${escapeHtml(name)}</code> ${marks.join(' ')}</dt><dd>` +
    (texts && `<p>${texts}</p>`) +
    (notes && `<p class="limits">${notes}</p>`) +
    `${schemaHtml(schema)}</dd></div>`
  )
}

/** Yields what is said of a value, and of the forms that it may have. */
function* descriptionsOf(schema: Schema): Generator<string> {
  if (schema.description !== undefined) yield schema.description
  for (const form of schema.anyOf ?? schema.oneOf ?? []) yield* descriptionsOf(form)
}

/** Returns the type of a value in a few words, with links to the schemas that have names. */
export function typeHtml(schema: Schema): string {
  const name = nameOf(schema)
  if (name !== undefined) return `<a href="#schema/${name}">${name}</a>`
  const forms = schema.anyOf ?? schema.oneOf
  if (forms !== undefined) return [...new Set(forms.map(typeHtml))].join(' or ')
  if ('const' in schema) return `<code>${escapeHtml(JSON.stringify(schema.const))}</code>`
  if (schema.enum !== undefined) return schema.enum.map(valueHtml).join(' or ')
  if (schema.items !== undefined) return `list of ${typeHtml(schema.items)}`
  if (typeof schema.additionalProperties === 'object') {
    return `object of ${typeHtml(schema.additionalProperties)}`
  }
  const types = [schema.type ?? 'any value'].flat()
  return types.map((type) => (type === 'string' ? (schema.format ?? type) : type)).join(' or ')
}

function valueHtml(value: unknown): string {
  return `<code>${escapeHtml(String(value))}</code>`
}

/** Yields what bounds a value, and the values of the forms that it may have. */
function* limitsOf(schema: Schema): Generator<string> {
  const { minLength, maxLength, minItems, maxItems, pattern, format } = schema
  yield* rangeOf(minLength, maxLength, 'characters')
  yield* rangeOf(minItems, maxItems, 'items')
  yield* rangeOf(bounded(schema.minimum), bounded(schema.maximum), '')
  if (pattern !== undefined && format === undefined && pattern.length <= PATTERN_CHARACTERS_MAX) {
    yield `matches <code>${escapeHtml(pattern)}</code>`
  }
  if (schema.default !== undefined) {
    yield `default <code>${escapeHtml(JSON.stringify(schema.default))}</code>`
  }
  const [example] = schema.examples ?? []
  if (example !== undefined) yield `such as <code>${escapeHtml(JSON.stringify(example))}</code>`
  for (const form of schema.anyOf ?? schema.oneOf ?? []) yield* limitsOf(form)
  if (schema.items !== undefined) {
    const ofItems = [...limitsOf(schema.items)]
    if (ofItems.length > 0) yield `each: ${ofItems.join(' · ')}`
  }
}

function bounded(limit: number | undefined): number | undefined {
  return limit === undefined || Math.abs(limit) >= SAFE_INTEGER ? undefined : limit
}

function* rangeOf(
  min: number | undefined,
  max: number | undefined,
  unit: string,
): Generator<string> {
  const number = (value: number) => value.toLocaleString('en')
  const after = unit && ` ${unit}`
  if (min !== undefined && max !== undefined) yield `${number(min)} to ${number(max)}${after}`
  else if (max !== undefined) yield `at most ${number(max)}${after}`
  else if (min === 1 && unit !== '') yield 'not empty'
  else if (min !== undefined) yield `at least ${number(min)}${after}`
}
