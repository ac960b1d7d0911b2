import { stripTypeScriptTypes } from 'node:module'
import path from 'node:path'

/** An import, or the address of a file that another process or thread runs. */
const SPECIFIER = /(\b(?:from|import)\s*\(?\s*|\bnew URL\(\s*)'([^'\n]+)'/g
const CLIENT = '@terse/client'
const CONTRACT = '@terse/contract/'
/** What must not be left: Node.js runs no TypeScript in `node_modules`. */
const LEFT = /'(?:\.{1,2}\/[^'\n]*\.ts|@terse\/(?:client|contract)[^'\n]*)'/

/**
 * Returns a module as JavaScript: blanks stand where the types were, so that lines and columns of a stack are
 * those of the source. It names other modules by their compiled names.
 *
 * @param name the path of the source below the root of the repository
 * @throws if the source cannot be compiled by taking its types out, or names a module in a way that is not known
 */
export function compileModule(name: string, source: string): string {
  const stripped = name.endsWith('.ts') ? withoutTypes(source) : source
  const compiled = stripped.replace(
    SPECIFIER,
    (_all, before: string, specifier: string) => `${before}'${compiledSpecifier(name, specifier)}'`,
  )
  const left = LEFT.exec(compiled)
  if (left !== null)
    throw new Error(`${name} names ${left[0]} in a way that the build does not know`)
  return compiled
}

/** Returns a source without its types, and without blanks in their place at the ends of lines: a third of the text. */
function withoutTypes(source: string): string {
  const before = source.split('\n')
  const lines = stripTypeScriptTypes(source).split('\n')
  // A line that ended with blanks before may be one of a text.
  return lines
    .map((line, nth) => (/\s$/.test(before[nth] ?? '') ? line : line.trimEnd()))
    .join('\n')
}

/** Returns the name that a source file has when it is compiled. */
export function compiledName(name: string): string {
  return name.replace(/\.ts$/, '.js')
}

function compiledSpecifier(name: string, specifier: string): string {
  if (specifier === CLIENT) return relativeTo(name, 'client/src/index.js')
  if (specifier.startsWith(CONTRACT)) {
    return relativeTo(name, `contract/${specifier.slice(CONTRACT.length)}.js`)
  }
  return specifier.startsWith('.') ? compiledName(specifier) : specifier
}

function relativeTo(name: string, file: string): string {
  const relative = path.posix.relative(path.posix.dirname(name), file)
  return relative.startsWith('.') ? relative : `./${relative}`
}
