import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type Lockfile, packageNameOf } from './locked-packages.ts'

/** Licences that allow what is made here: parts under them are distributed with a program under MIT. */
const ALLOWED = new Set([
  '(MIT OR Apache-2.0)',
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'OFL-1.1',
  'Unlicense',
])
const LICENCE_FILE = /^(?:un)?licen[cs]e|^copying|^notice|_license$/i

/**
 * Returns the licences of these packages, with their texts.
 *
 * @param folders folders of installed packages, as in the lockfile
 * @param intro the first sentence
 * @throws if a package has a licence that is not on the list
 */
export function thirdPartyNotices(
  root: string,
  lockfile: Lockfile,
  folders: readonly string[],
  intro: string,
): string {
  const notices = folders.map((folder) => noticeOf(root, lockfile, folder))
  return [intro, 'Each is followed by its licence.', ...new Set(notices)].join(
    `\n\n${'-'.repeat(80)}\n\n`,
  )
}

function noticeOf(root: string, lockfile: Lockfile, folder: string): string {
  const installed = path.join(root, folder)
  const locked = lockfile.get(folder)
  const licence = locked?.license
  const title = `${packageNameOf(folder)} ${locked?.version} (${licence})`
  if (licence === undefined || !ALLOWED.has(licence)) {
    throw new Error(`the licence of ${title} is not in the list of allowed ones`)
  }
  // npm leaves out the optional packages of other platforms.
  if (!existsSync(installed)) return title
  const files = readdirSync(installed).filter((file) => LICENCE_FILE.test(file))
  const texts = files.map((file) => readFileSync(path.join(installed, file), 'utf8').trim())
  return [title, ...(texts.length === 0 ? [authorOf(installed)] : texts)].join('\n\n')
}

/** Returns the author of a package that comes without the text of its licence. */
function authorOf(installed: string): string {
  const { author, repository } = JSON.parse(
    readFileSync(path.join(installed, 'package.json'), 'utf8'),
  )
  const name = typeof author === 'object' ? author?.name : author
  return `Copyright ${name ?? 'its authors'}, ${repository?.url ?? repository ?? ''}`
}
