import { chmodSync, copyFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { importFixture } from '../import-sources.ts'
import { formatDate, type GrownLink, type Growth, LAST_SECOND } from './grown-links.ts'
import { growFrom, writeTruth } from './grown-truth.ts'

const SITE = 'kutt.example.com'
const SECONDS_PER_HOUR = 3_600
/** A bcrypt hash of an unknown password. */
const PASSWORD = '$2a$12$QhfOWJHREzOC7xjaFmuZOu3Pd5tpNzmFBqVKUuQsaPRXtZZkquWCa'

const INSERT_LINK = `
  insert into links (id, address, domain_id, target, created_at, updated_at, banned, password, expire_in, visit_count, uuid, user_id)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)`
const INSERT_VISIT =
  'insert into visits (link_id, user_id, total, created_at, updated_at, countries, referrers) values (?, 1, ?, ?, ?, ?, ?)'

/** Grows a database of Kutt. One link in ten has a domain of its own; a few are banned, protected or expired. */
export function growKutt(file: string, truthFile: string, growth: Growth): void {
  const links = growFrom('kutt', growth)
  copyFileSync(importFixture('kutt/kutt.db'), file)
  chmodSync(file, 0o644)
  const database = new DatabaseSync(file)
  const address = database.prepare('select address from domains where id = 1').get()?.address
  const first = Number(database.prepare('select max(id) + 1 as id from links').get()?.id)
  const insertLink = database.prepare(INSERT_LINK)
  const insertVisit = database.prepare(INSERT_VISIT)
  database.exec('begin')
  for (const link of links) {
    const id = first + link.number
    const state = stateOf(link)
    const created = formatDate(link.createdAt)
    insertLink.run(
      ...[id, link.key, hasDomain(link) ? 1 : null, link.url, created, created],
      ...[state === 'disabled' ? 1 : 0, state === 'protected' ? PASSWORD : null],
      ...[state === 'expired' ? formatDate(LAST_SECOND) : null, link.clicks.length],
      // Kutt's own would be random.
      `00000000-0000-4000-8000-${String(id).padStart(12, '0')}`,
    )
    for (const [seconds, { length }] of hoursOf(link))
      insertVisit.run(
        ...[id, length, formatDate(seconds.first), formatDate(seconds.last)],
        ...[JSON.stringify({ de: length }), JSON.stringify({ direct: length })],
      )
  }
  database.exec('commit')
  database.close()
  writeTruth('kutt', truthFile, links, (link) => ({
    domain: hasDomain(link) ? String(address) : SITE,
    state: stateOf(link),
    hasClicks: true,
  }))
}

const hasDomain = ({ number }: GrownLink) => number % 10 === 5

function stateOf({ chance }: GrownLink): 'active' | 'disabled' | 'protected' | 'expired' {
  if (chance < 0.01) return 'disabled'
  if (chance < 0.03) return 'protected'
  return chance < 0.05 ? 'expired' : 'active'
}

/** Returns the visits of each hour, with its first and last. */
function hoursOf({ clicks }: GrownLink) {
  const hours = Map.groupBy(clicks, (second) => Math.floor(second / SECONDS_PER_HOUR))
  return [...hours.values()].map(
    (visits) => [{ first: visits[0] ?? 0, last: visits.at(-1) ?? 0 }, visits] as const,
  )
}
