import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'

const BUILD_FOLDER = '/build'
const CACHES: ReadonlySet<string> = new Set(['.cache', '.vite-temp'])
/** Takes minutes and the registry; the tests copy what it has installed here. */
const INSTALL = 'npm ci --no-audit --no-fund'

/**
 * Does what the first stage of the Dockerfile does, below a folder instead of the root: copies what the ignore file
 * lets through, and runs the stage's command after `npm ci`.
 *
 * @throws with the error output of the command
 */
export function runFirstStage(root: string, folder: string): void {
  const build = path.join(folder, BUILD_FOLDER)
  mkdirSync(build, { recursive: true })
  const isIgnored = ignoredBy(readFileSync(path.join(root, '.dockerignore'), 'utf8'))
  cpSync(root, build, {
    recursive: true,
    filter: (file) => !isIgnored(path.relative(root, file)),
  })
  linkPackages(path.join(root, 'node_modules'), path.join(build, 'node_modules'))
  const dockerfile = readFileSync(path.join(root, 'deploy/Dockerfile'), 'utf8')
  const [, command = ''] = /^RUN ([\s\S]*?[^\\])\n/m.exec(dockerfile) ?? []
  const [install, ...others] = command.replaceAll('\\\n', ' ').split('&&')
  if (install?.trim() !== INSTALL) throw new Error(`The first stage begins with ${install}`)
  const script = others.join('&&').replaceAll(/(?<=\s)\/build(?=\/)/g, build)
  execFileSync('sh', ['-ec', script], { cwd: build, stdio: 'pipe' })
}

/**
 * Hard links where that is possible: it is 500 MB. Without the caches, from which builds that run at the same time
 * remove files.
 */
function linkPackages(from: string, to: string): void {
  const names = readdirSync(from).filter((name) => !CACHES.has(name))
  const files = names.map((name) => path.join(from, name))
  mkdirSync(to)
  if (spawnSync('cp', ['-al', ...files, to]).status === 0) return
  rmSync(to, { recursive: true })
  mkdirSync(to)
  execFileSync('cp', ['-a', ...files, to])
}

/** Understands what our ignore file has: paths from the root, and endings such as `*.log`. */
function ignoredBy(text: string): (name: string) => boolean {
  const lines = text.split('\n').filter((line) => line !== '')
  return (name) =>
    lines.some((line) => (line.startsWith('*') ? name.endsWith(line.slice(1)) : name === line))
}
