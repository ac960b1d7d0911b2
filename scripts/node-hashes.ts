import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

const BINARY = 'package/bin/node'
const BINARY_BYTES_MAX = 512 * 1024 * 1024

/**
 * Returns package.json with the SHA-256 of each Node.js binary that `bin/terse.js` may run. Downloads those whose
 * version has changed.
 *
 * @throws if a package is not the locked one
 */
export function withNodeHashes(text: string, lockfile: string): string {
  const manifest = JSON.parse(text)
  const known: Readonly<Record<string, string>> = manifest.nodeHashes ?? {}
  const { packages } = JSON.parse(lockfile)
  const hashes = Object.entries(manifest.optionalDependencies).map(([name, version]) => {
    const binary = `${name}@${version}`
    return [
      binary,
      known[binary] ?? hashOfBinary(binary, packages[`node_modules/${name}`].integrity),
    ]
  })
  return `${JSON.stringify({ ...manifest, nodeHashes: Object.fromEntries(hashes) }, null, 2)}\n`
}

function hashOfBinary(name: string, integrity: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'terse-node-'))
  try {
    const args = ['pack', '--silent', '--pack-destination', folder, name]
    const archive = execFileSync('npm', args, { cwd: folder, encoding: 'utf8' }).trim()
    const file = path.join(folder, archive)
    const found = createHash('sha512').update(readFileSync(file)).digest('base64')
    if (integrity !== `sha512-${found}`) throw new Error(`${name} is not the locked package`)
    const extract = ['-xzOf', file, BINARY]
    const binary = execFileSync('tar', extract, { maxBuffer: BINARY_BYTES_MAX })
    return createHash('sha256').update(binary).digest('hex')
  } finally {
    rmSync(folder, { recursive: true })
  }
}
