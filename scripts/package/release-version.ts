const VERSION = /^\d+\.\d+\.\d+$/
const UNRELEASED = '## Unreleased\n'

/** The files that name the version of the release. */
export const VERSIONED_FILES: readonly string[] = [
  'package.json',
  'package-lock.json',
  'bin/package.json',
  'client/package.json',
  'contract/package.json',
  'extension/package.json',
  'web/package.json',
  'deploy/kubernetes/kustomization.yaml',
  'deploy/templates/caprover.yaml',
  'deploy/templates/coolify.yaml',
  'deploy/templates/unraid.xml',
  'docs/install.md',
]

/** @throws if `next` is no version, or not later than `current` */
export function requireLaterVersion(next: string, current: string): void {
  if (!VERSION.test(next)) throw new Error(`${next} is no version such as 1.2.3`)
  const [numbers, before] = [next, current].map((one) => one.split('.').map(Number))
  const nth = numbers?.findIndex((number, index) => number !== before?.[index]) ?? -1
  if (nth === -1 || Number(numbers?.[nth]) < Number(before?.[nth])) {
    throw new Error(`${next} is not later than ${current}`)
  }
}

/**
 * Returns a file with the next version in place of the current one. In the lockfile and the manifests, only the
 * packages of this repository are meant.
 */
export function withVersion(name: string, text: string, current: string, next: string): string {
  if (name === 'package-lock.json') return withLockedVersion(text, next)
  const found = name.endsWith('package.json') ? `"version": "${current}"` : current
  if (!text.includes(found)) throw new Error(`${name} does not name ${current}`)
  return text.replaceAll(found, found.replace(current, next))
}

function withLockedVersion(text: string, next: string): string {
  const lockfile = JSON.parse(text)
  lockfile.version = next
  for (const [folder, one] of Object.entries<{ version?: string }>(lockfile.packages)) {
    if (!folder.includes('node_modules/')) one.version = next
  }
  return `${JSON.stringify(lockfile, null, 2)}\n`
}

/**
 * Returns the changelog with its unreleased changes under a version and a date.
 *
 * @throws if there are none
 */
export function releaseChangelog(text: string, version: string, date: string): string {
  const [before, after] = text.split(UNRELEASED)
  if (before === undefined || after === undefined || after.trimStart().startsWith('## ')) {
    throw new Error('CHANGELOG.md has no changes under "Unreleased"')
  }
  return `${before}${UNRELEASED}\n## ${version} (${date})\n${after}`
}
