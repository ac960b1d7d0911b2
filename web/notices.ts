import path from 'node:path'
import type { Plugin, Rolldown } from 'vite'
import { readLockfile } from '../scripts/package/locked-packages.ts'
import { thirdPartyNotices } from '../scripts/package/third-party-notices.ts'

const ROOT = path.join(import.meta.dirname, '..')
/** Matches a module of an installed package; captures its folder, as in the lockfile. */
const PACKAGE = /(?:^|\/)(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//
/** Packages of which something is in the build without a module of their own. */
const MADE_FROM: readonly (readonly [part: RegExp, name: string])[] = [
  [/^\0vite\//, 'vite'],
  [/^\0rolldown\//, 'rolldown'],
  [/^\0virtual:world-map$/, 'world-atlas'],
  [/\.css$/, 'tailwindcss'],
]

/**
 * Writes `licences.txt`, with the licence of each package of which the build contains a module, font or style, and
 * `.vite/packages.json`, their folders, for the licences of the npm package.
 */
export function noticesPlugin(): Plugin {
  return {
    name: 'terse-notices',
    apply: 'build',
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        const parts = Object.values(bundle).flatMap(partsOf)
        const folders = parts.flatMap((part) => [
          ...(PACKAGE.exec(part)?.slice(1) ?? []),
          ...MADE_FROM.flatMap(([of, name]) => (of.test(part) ? `node_modules/${name}` : [])),
        ])
        const packages = [...new Set(folders)].sort()
        const intro = 'The dashboard of Terse contains parts of the following packages.'
        const text = thirdPartyNotices(ROOT, readLockfile(ROOT), packages, intro)
        this.emitFile({ type: 'asset', fileName: 'licences.txt', source: `${text}\n` })
        const source = JSON.stringify(packages)
        this.emitFile({ type: 'asset', fileName: '.vite/packages.json', source })
      },
    },
  }
}

function partsOf(one: Rolldown.OutputChunk | Rolldown.OutputAsset): readonly string[] {
  return one.type === 'chunk' ? one.moduleIds : [one.fileName, ...one.originalFileNames]
}
