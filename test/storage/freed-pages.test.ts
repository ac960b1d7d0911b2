import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import type { OpenedStore } from '../../src/app/database/opened-store.ts'
import { commandLine } from '../../src/identity/actor.ts'
import { openWriterAt, takeClicks } from '../support/click-writers.ts'
import { someClick } from '../support/clicks.ts'
import { type Place, SQLITE } from '../support/engines.ts'
import { openAt } from '../support/store.ts'
import { addHome, addLink } from './samples.ts'

const NOW = Date.parse('2026-11-20T10:00:00Z') * 1_000

describe('what was deleted on SQLite', () => {
  let place: Place
  let opened: OpenedStore
  before(async () => {
    place = await SQLITE.createMigratedPlace()
    opened = await openAt(place)
  })
  after(async () => {
    await opened.store.close()
    await place.remove()
  })

  /** How often a text stands anywhere in a copy of a file, as a backup makes it. */
  async function occurrences(file: string, text: string): Promise<number> {
    const copy = path.join(place.dataDir, `${randomUUID()}.copy`)
    const database = new DatabaseSync(path.join(place.dataDir, file), { readOnly: true })
    await backup(database, copy)
    database.close()
    return readFileSync(copy).toString('latin1').split(text).length - 1
  }

  test('is not in a later copy of terse.db', async () => {
    const workspaceId = randomUUID()
    await opened.store.write(async ({ events }) => {
      for (let each = 0; each < 300; each += 1) {
        // Long ones have pages of their own, which are free afterwards.
        const url = `https://gone.example/${'x'.repeat(each % 3 === 0 ? 9_000 : 100)}`
        const event = { type: 'link.created', subjectId: randomUUID() } as const
        await events.append(
          commandLine(workspaceId),
          { ...event, before: null, after: { url } },
          NOW,
        )
      }
    })
    assert.ok((await occurrences('terse.db', 'https://gone.example')) >= 300)
    await opened.store.write((stores) => stores.erasures.eraseEvents(workspaceId))
    assert.equal(await occurrences('terse.db', 'https://gone.example'), 0)
  })

  test('is not in a later copy of clicks.db', async () => {
    const { store } = opened
    const home = await addHome(store)
    const link = await addLink(store, home)
    const writer = await openWriterAt(place)
    const clicks = Array.from({ length: 2_000 }, (_, nth) =>
      someClick({ at: NOW + nth, link_seq: link.seq, referrer: `gone-${nth}.example` }),
    )
    // Each batch but the first adds to days that are stored, and replaces them.
    for (const part of [clicks.slice(0, 500), clicks.slice(500, 900), clicks.slice(900)]) {
      await takeClicks(writer, part)
    }
    assert.ok((await occurrences('clicks.db', 'gone-')) > 0)
    await writer.erase({ kind: 'links', linkSeqs: [link.seq] })
    await writer.erase({ kind: 'workspace', workspaceId: home.workspace_id })
    await writer.close()
    assert.equal(await occurrences('clicks.db', 'gone-'), 0)
  })
})
