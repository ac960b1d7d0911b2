import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'

const fileOf = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))

const DESCRIPTION = fileOf('docs/openapi.json')
const TYPES = fileOf('client/src/schema.ts')
const GENERATOR = fileOf('client/node_modules/openapi-typescript/dist/index.mjs')
/** The compiler that the generator writes types with. */
const COMPILER = fileOf('client/node_modules/typescript/lib/typescript.js')

/**
 * Writes the types of the typed client, unless they are those of the description already. They are no part of the
 * repository, because they say nothing that docs/openapi.json does not. Without the development packages it does
 * nothing: the running client needs no types.
 */
export async function writeClientTypes(): Promise<void> {
  if (!existsSync(GENERATOR)) return
  const description = readFileSync(DESCRIPTION, 'utf8')
  const hash = createHash('sha256').update(description).digest('hex')
  const title = `// Generated from docs/openapi.json (${hash})\n`
  if (existsSync(TYPES) && readFileSync(TYPES, 'utf8').startsWith(title)) return
  const { default: openapiTypes, astToString } = await import(pathToFileURL(GENERATOR).href)
  const { default: compiler } = await import(pathToFileURL(COMPILER).href)
  const blob = compiler.factory.createTypeReferenceNode('Blob')
  const types = astToString(
    await openapiTypes(JSON.parse(description), {
      silent: true,
      // Bytes are no text: the client sends and returns them as they are.
      transform: ({ format }: { format?: string }) => (format === 'binary' ? blob : undefined),
    }),
  )
  writeFileSync(`${TYPES}.next`, title + types)
  renameSync(`${TYPES}.next`, TYPES)
}

type Description = {
  readonly paths: Readonly<
    Record<
      string,
      { readonly post?: { readonly parameters?: readonly { readonly name: string }[] } }
    >
  >
}

/** Returns the module that lists the paths whose POST takes an idempotency key: others refuse one. */
export function idempotentPaths(description: string): string {
  const { paths }: Description = JSON.parse(description)
  const found = Object.entries(paths).filter(([, { post }]) =>
    post?.parameters?.some(({ name }) => name === 'idempotency-key'),
  )
  const lines = found.map(([path]) => `  '${path}',\n`).join('')
  return `/** Generated: the paths whose POST takes an idempotency key. */
export const IDEMPOTENT_PATHS: readonly string[] = [\n${lines}]\n`
}
