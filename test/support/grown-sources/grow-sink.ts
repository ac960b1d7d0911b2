import { readFileSync, writeFileSync } from 'node:fs'
import { importFixture } from '../import-sources.ts'
import { type GrownLink, type Growth, LAST_SECOND } from './grown-links.ts'
import { growFrom, writeTruth } from './grown-truth.ts'

/** Grows an export of Sink, which has no clicks. A few links are protected or expired. */
export function growSink(file: string, truthFile: string, growth: Growth): void {
  const links = growFrom('sink', growth)
  const text = readFileSync(importFixture('sink/export-all.json'), 'utf8')
  const exported = JSON.parse(text) as { links: unknown[] }
  const all = [...exported.links, ...links.map(toItem)]
  writeFileSync(file, JSON.stringify({ ...exported, count: all.length, links: all }, undefined, 2))
  writeTruth('sink', truthFile, links, (link) => ({
    ...{ domain: 'sink.example.com', state: stateOf(link) },
    hasClicks: false,
  }))
}

function toItem(link: GrownLink) {
  const state = stateOf(link)
  return {
    id: `grown${link.number}`,
    url: link.url,
    slug: link.key,
    createdAt: link.createdAt,
    updatedAt: link.createdAt,
    tags: link.number % 7 === 0 ? ['grown', 'a, "b"'] : [],
    ...(state === 'protected' && { password: 'sink-pwd:v1:10000:c2FsdA:aGFzaA:abc' }),
    ...(state === 'expired' && { expiration: LAST_SECOND }),
  }
}

function stateOf({ chance }: GrownLink): 'active' | 'protected' | 'expired' {
  if (chance < 0.02) return 'protected'
  return chance < 0.04 ? 'expired' : 'active'
}
