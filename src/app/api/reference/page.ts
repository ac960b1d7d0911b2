import { setImmediate } from 'node:timers/promises'
import { escapeHtml } from '../../../platform/text/escape-html.ts'
import { CLIENT_START, clientCall, curlCall, SHELL_START } from './calls.ts'
import {
  type Answer,
  type ApiDescription,
  type Operation,
  operationsOf,
  resolved,
  type Schema,
} from './description.ts'
import { inline, parameterHtml, prose, schemaHtml, typeHtml } from './schemas.ts'

/** Files that the page loads, by their paths; none where the dashboard is not built. */
export type PageFiles = Readonly<Record<'scripts' | 'styles' | 'icons', readonly string[]>>

const MARK =
  '<svg class="mark" viewBox="0 0 24 24" aria-hidden="true"><path fill="currentColor" d="M3.2 4h15.6a1.2 1.2 0 0 1 1.2 1.2v1.9a1.2 1.2 0 0 1-1.2 1.2h-5v10.5a1.2 1.2 0 0 1-1.2 1.2h-2.2a1.2 1.2 0 0 1-1.2-1.2V8.3h-6A1.2 1.2 0 0 1 2 7.1V5.2A1.2 1.2 0 0 1 3.2 4Z"/><circle class="dot" cx="17.65" cy="17.55" r="2.35"/></svg>'
const DOCUMENT = '/api/v1/openapi.json'
const OF_EVENTS = 'events'
const OF_SCHEMAS = 'schemas'

/**
 * Returns the reference of the API as one page, which needs no script: what each operation takes and returns, and its
 * calls. It is composed in turns, so that redirects wait for none of it.
 */
export async function referenceHtml(
  description: ApiDescription,
  files: PageFiles,
): Promise<string> {
  const { info, tags } = description
  const operations = operationsOf(description)
  const parts = [headHtml(info.title, files), introHtml(description)]
  for (const tag of tags) {
    const own = operations.filter((operation) => operation.tags.includes(tag.name))
    const shown = await inTurns(own, (operation) => operationHtml(operation, description))
    parts.push(sectionHtml(anchorOf(tag.name), tag.name, tag.description, shown))
  }
  const events = await inTurns(Object.entries(description.webhooks), ([name, { post }]) =>
    eventHtml(name, { ...post, method: 'POST', path: name }, description),
  )
  const ofEvents = 'What webhooks send. The client’s `verifyWebhook` proves the signature.'
  parts.push(sectionHtml(OF_EVENTS, 'Webhook events', ofEvents, events))
  const schemas = await inTurns(Object.entries(description.components.schemas), namedSchemaHtml)
  parts.push(sectionHtml(OF_SCHEMAS, 'Schemas', 'What requests and answers consist of.', schemas))
  return `${parts.join('\n')}\n</main>\n</body>\n</html>\n`
}

/** Maps items, and lets other work of the process run after each. */
async function inTurns<T>(
  items: readonly T[],
  map: (item: T) => string,
): Promise<readonly string[]> {
  const results: string[] = []
  for (const item of items) {
    results.push(map(item))
    await setImmediate()
  }
  return results
}

function headHtml(title: string, { scripts, styles, icons }: PageFiles): string {
  const links = [
    ...scripts.map((path) => `<script src="${path}"></script>`),
    ...styles.map((path) => `<link rel="stylesheet" href="${path}">`),
    ...icons.map((path) => `<link rel="icon" type="image/svg+xml" href="${path}">`),
  ]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
${links.join('\n')}
</head>
<body>
<a class="skip" href="#main">Skip to the operations</a>
<header><a class="brand" href="/app">${MARK}Terse</a><span class="grow">API</span><a href="${DOCUMENT}">OpenAPI document</a></header>`
}

function introHtml({ info, tags }: ApiDescription): string {
  const places = [
    ...tags.map(({ name }): [string, string] => [anchorOf(name), name]),
    [OF_EVENTS, 'Webhook events'],
    [OF_SCHEMAS, 'Schemas'],
  ]
  const links = places.map(([id, name = '']) => `<li><a href="#${id}">${escapeHtml(name)}</a></li>`)
  return `<nav aria-label="Contents"><ul>${links.join('')}</ul></nav>
<main id="main" tabindex="-1">
<section class="intro"><h1>${escapeHtml(info.title)}</h1>
<div class="columns"><div>${prose(info.description)}</div>
<div class="calls">${codeHtml('Before the calls of curl', SHELL_START)}${codeHtml('Before the calls of the typed client', CLIENT_START)}</div></div></section>`
}

function sectionHtml(id: string, title: string, text: string, entries: readonly string[]): string {
  return `<section><h2 id="${id}">${escapeHtml(title)}</h2><p>${inline(text)}</p>
${entries.join('\n')}</section>`
}

/** An entry is closed at first. A browser opens it for its address, because the anchor is within it. */
function entryHtml(id: string, summary: string, content: string): string {
  return `<details><summary>${summary}</summary><div class="entry" id="${id}">${content}</div></details>`
}

function operationHtml(operation: Operation, description: ApiDescription): string {
  const { operationId, method, path, summary, parameters = [], requestBody } = operation
  const [[type, media] = []] = Object.entries(requestBody?.content ?? {})
  const text = [
    prose(operation.description),
    `<p class="access">${inline(accessOf(operation))}</p>`,
    ...(parameters.length === 0
      ? []
      : [`<h4>Parameters</h4><dl class="fields">${parameters.map(parameterHtml).join('')}</dl>`]),
    ...(type === undefined || media === undefined
      ? []
      : [`<h4>Body</h4>${bodyHtml(operation, type, media.schema, description)}`]),
    `<h4>Answers</h4>${answersHtml(operation.responses)}`,
  ]
  const calls = [
    codeHtml('curl', curlCall(operation, description)),
    codeHtml('Typed client', clientCall(operation, description)),
    ...examplesOf(operation.responses),
  ]
  return entryHtml(
    `operation/${operationId}`,
    `<h3><b class="verb ${method.toLowerCase()}">${method}</b> ${escapeHtml(summary)}</h3> <code class="path">${escapeHtml(path)}</code>`,
    `<div class="columns"><div>${text.join('\n')}</div><div class="calls">${calls.join('\n')}</div></div>`,
  )
}

function accessOf({ security }: Operation): string {
  if (security.length === 0) return 'Needs no token and no session.'
  return security.some(({ token }) => token !== undefined)
    ? 'Takes a token of the workspace, or the session of a person.'
    : 'Needs the session of a person, not a token: pages of the service call `openClient` without `token`.'
}

function bodyHtml(
  { requestBody }: Operation,
  type: string,
  schema: Schema,
  description: ApiDescription,
): string {
  const types = Object.keys(requestBody?.content ?? {}).map((name) => `<code>${name}</code>`)
  const isOptional = requestBody?.required === false
  const first = `<p>${typeHtml(schema)}, as ${types.join(' or ')}${isOptional ? '; optional' : ''}</p>`
  if (type !== 'application/json') return first
  const { description: text, ...shown } = resolved(schema, description)
  return first + prose(text) + schemaHtml(shown)
}

function answersHtml(responses: Readonly<Record<string, Answer>>): string {
  const rows = Object.entries(responses).map(([status, { description, content, headers }]) => {
    const isSuccess = status.startsWith('2')
    const types = Object.entries(content ?? {}).map(([type, { schema }]) =>
      type === 'application/json' ? typeHtml(schema) : `<code>${type}</code>`,
    )
    const names = Object.keys(headers ?? {}).map((name) => `<code>${name}</code>`)
    const texts = [
      ...(description === 'Default Response' ? [] : [inline(description)]),
      ...(isSuccess ? types : []),
      ...(names.length === 0 ? [] : [`Headers: ${names.join(', ')}`]),
    ]
    return `<div><dt><b>${status}</b></dt><dd>${texts.join(isSuccess ? '. ' : ' ')}</dd></div>`
  })
  return `<dl class="answers">${rows.join('')}</dl>`
}

function examplesOf(responses: Readonly<Record<string, Answer>>): readonly string[] {
  return Object.entries(responses).flatMap(([status, { content = {} }]) =>
    Object.entries(content).flatMap(([type, { example }]) =>
      example === undefined
        ? []
        : [
            codeHtml(
              `Answer ${status}${type === 'application/json' ? '' : `, ${type}`}`,
              typeof example === 'string' ? example : JSON.stringify(example, null, 2),
            ),
          ],
    ),
  )
}

function eventHtml(name: string, operation: Operation, description: ApiDescription): string {
  const { summary, parameters = [], requestBody, responses } = operation
  const schema = Object.values(requestBody?.content ?? {})[0]?.schema ?? {}
  return entryHtml(
    `event/${name}`,
    `<h3><code>${name}</code></h3> <span class="what">${escapeHtml(summary)}</span>`,
    `${prose(operation.description)}<h4>Headers</h4><dl class="fields">${parameters.map(parameterHtml).join('')}</dl>
<h4>Body</h4>${schemaHtml(resolved(schema, description))}<h4>Your answers</h4>${answersHtml(responses)}`,
  )
}

function namedSchemaHtml([name, schema]: [string, Schema]): string {
  const { description, ...rest } = schema
  const fields = schemaHtml(rest)
  return entryHtml(
    `schema/${name}`,
    `<h3><code>${name}</code></h3>`,
    `${prose(description)}${fields === '' || rest.properties === undefined ? `<p class="type">${typeHtml(rest)}</p>` : ''}${fields}`,
  )
}

function codeHtml(title: string, code: string): string {
  return `<figure><figcaption>${escapeHtml(title)}</figcaption><pre>${escapeHtml(code)}</pre></figure>`
}

function anchorOf(name: string): string {
  return name.toLowerCase().replaceAll(' ', '-')
}
