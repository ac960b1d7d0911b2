import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const GENERATOR = fileURLToPath(
  new URL('../client/node_modules/.bin/openapi-typescript', import.meta.url),
)
const BYTES_MAX = 64 * 1024 * 1024

/** Returns the types of the typed client for a description of the API. */
export function clientTypes(description: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'terse-client-types-'))
  try {
    const file = path.join(folder, 'openapi.json')
    writeFileSync(file, description)
    return execFileSync(GENERATOR, [file], { encoding: 'utf8', maxBuffer: BYTES_MAX })
  } finally {
    rmSync(folder, { recursive: true })
  }
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
