import { type ApiDescription, type Operation, resolved } from './description.ts'

/** What the shell calls of the reference expect. */
export const SHELL_START = `export TERSE_URL=https://go.example.com
export TERSE_TOKEN=terse_…
# Calls that need the session of a person:
export TERSE_SESSION=__Host-terse_session=…
export TERSE_WORKSPACE=01a1f86c-3f0a-7c21-9b1e-5d0c8a4f7e11`

/** What the calls of the typed client expect. */
export const CLIENT_START = `import { dataOf, eachOf, openClient } from '@terse/client'

const terse = openClient({ url: 'https://go.example.com', token: 'terse_…' })`

/** Longer values are written over several lines. */
const LINE_CHARACTERS = 60
const JSON_TYPE = 'application/json'
const IN_WORDS = /^(?:text\/|application\/x-ndjson$)/
const STREAM = 'text/event-stream'

/** The valid request that the document shows of an operation. */
type ExampleRequest = {
  /** With the examples of its parameters. */
  readonly path: string
  readonly pathValues: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, unknown>>
  /** Undefined where the operation takes no body. `value` is undefined for bytes. */
  readonly body: { readonly type: string; readonly value: unknown } | undefined
}

/** Returns the example of an operation: what is required, and the first example of its body. */
function exampleRequest(operation: Operation, description: ApiDescription): ExampleRequest {
  const { parameters = [], requestBody } = operation
  const valuesIn = (place: string) =>
    Object.fromEntries(
      parameters
        .filter((parameter) => parameter.in === place && parameter.example !== undefined)
        .map(({ name, example }) => [name, example]),
    )
  const pathValues = valuesIn('path')
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? []
  const examples = media && resolved(media.schema, description).examples
  return {
    path: operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(pathValues[name])),
    pathValues,
    query: valuesIn('query'),
    body: type === undefined ? undefined : { type, value: examples?.[0] },
  }
}

/** Returns the call of an operation for a POSIX shell, after `SHELL_START`. */
export function curlCall(operation: Operation, description: ApiDescription): string {
  const { path, query, body } = exampleRequest(operation, description)
  const { method } = operation
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      [value].flat().map((one): [string, string] => [name, String(one)]),
    ),
  ).toString()
  const words = [
    `curl ${isStream(operation) ? '-N ' : ''}${method === 'GET' ? '' : `-X ${method} `}"$TERSE_URL${path}${search && `?${search}`}"`,
    ...credentials(operation),
  ]
  if (body !== undefined) words.push(`-H 'Content-Type: ${body.type}'`, dataOption(body))
  if (isBinary(operation)) words.push(`-o ${fileOf(operation)}`)
  return words.join(' \\\n  ')
}

/** A session alone proves no intent: its changes need the site that they come from too. */
function credentials({ method, security, responses }: Operation): readonly string[] {
  if (security.length === 0) return []
  if (security.some(({ token }) => token !== undefined)) {
    return ['-H "Authorization: Bearer $TERSE_TOKEN"']
  }
  // A session without a workspace is a malformed request where one is needed.
  const isInWorkspace = responses['400']?.description.includes('`Terse-Workspace`') === true
  return [
    '-H "Cookie: $TERSE_SESSION"',
    ...(isInWorkspace ? ['-H "Terse-Workspace: $TERSE_WORKSPACE"'] : []),
    ...(method === 'GET' ? [] : ['-H "Origin: $TERSE_URL"']),
  ]
}

function dataOption({ type, value }: NonNullable<ExampleRequest['body']>): string {
  if (type !== JSON_TYPE)
    return `--data-binary @${type.startsWith('image/') ? 'picture.png' : 'links.csv'}`
  const short = JSON.stringify(value)
  const text = short.length > LINE_CHARACTERS ? JSON.stringify(value, null, 2) : short
  return `-d '${text.replaceAll("'", `'\\''`)}'`
}

/** Returns the call of an operation by the typed client, after `CLIENT_START`. */
export function clientCall(operation: Operation, description: ApiDescription): string {
  const { pathValues, query, body } = exampleRequest(operation, description)
  const { method, path } = operation
  const isWalk = isWalked(operation, description)
  const params = [
    ...(Object.keys(pathValues).length > 0 ? [`path: ${literal(pathValues)}`] : []),
    ...(isWalk
      ? ['query: { cursor }']
      : Object.keys(query).length > 0
        ? [`query: ${literal(query)}`]
        : []),
  ]
  const options = [
    ...(params.length > 0 ? [`params: { ${params.join(', ')} },`] : []),
    ...(body === undefined ? [] : bodyOptions(body)),
    ...parseOption(operation),
  ]
  const call =
    options.length === 0
      ? `terse.${method}('${path}')`
      : `terse.${method}('${path}', {\n${indented(options.join('\n'))}\n})`
  if (isWalk) {
    return `for await (const item of eachOf((cursor) =>\n${indented(call)},\n)) {\n  console.log(item)\n}`
  }
  return options.length === 0
    ? `const data = await dataOf(${call})`
    : `const data = await dataOf(\n${indented(call)},\n)`
}

/** Whether an operation returns nothing but pages of a list, which may be read by cursor. */
function isWalked({ parameters = [], responses }: Operation, description: ApiDescription): boolean {
  const schema = responses['200']?.content?.[JSON_TYPE]?.schema
  const hasPages =
    schema !== undefined && resolved(schema, description).properties?.meta !== undefined
  return hasPages && parameters.some(({ name }) => name === 'cursor')
}

function bodyOptions({ type, value }: NonNullable<ExampleRequest['body']>): readonly string[] {
  if (type === JSON_TYPE) return [`body: ${literal(value)},`]
  return ['body: new Blob([bytes]),', `headers: { 'content-type': '${type}' },`]
}

function parseOption(operation: Operation): readonly string[] {
  const types = answerTypes(operation)
  if (types.includes(JSON_TYPE)) return []
  if (isStream(operation)) return ["parseAs: 'stream',"]
  return types.every((type) => IN_WORDS.test(type)) ? ["parseAs: 'text',"] : ["parseAs: 'blob',"]
}

function isStream(operation: Operation): boolean {
  return answerTypes(operation).includes(STREAM)
}

function isBinary(operation: Operation): boolean {
  return answerTypes(operation).some((type) => type !== JSON_TYPE && !IN_WORDS.test(type))
}

function fileOf(operation: Operation): string {
  return answerTypes(operation).includes('application/zip') ? 'workspace.ndjson' : 'qr-code.png'
}

function answerTypes({ responses }: Operation): readonly string[] {
  return Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content = {} }]) => Object.keys(content))
}

/** Returns a value of JSON as TypeScript, with the quotation marks and commas of this project. */
function literal(value: unknown): string {
  const parts = Array.isArray(value)
    ? value.map(literal)
    : typeof value === 'object' && value !== null
      ? Object.entries(value).map(([name, part]) => `${propertyName(name)}: ${literal(part)}`)
      : undefined
  if (parts === undefined) return typeof value === 'string' ? quoted(value) : String(value)
  const [open, close, space] = Array.isArray(value) ? ['[', ']', ''] : ['{', '}', ' ']
  if (parts.length === 0) return open + close
  const line = parts.join(', ')
  return line.length > LINE_CHARACTERS || line.includes('\n')
    ? `${open}\n${parts.map((part) => `${indented(part)},\n`).join('')}${close}`
    : open + space + line + space + close
}

function propertyName(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : quoted(name)
}

function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, '  ')
}
