import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ExportLinksQuery } from '@terse/contract/link-export'
import { commandLine } from '../identity/index.ts'
import { FairQueue } from '../platform/work/fair-queue.ts'
import type { Link } from './link.ts'
import { exportLinks, LINK_EXPORT_QUEUE } from './link-export.ts'

const LINK = {
  id: '01a1f86c-0000-7000-8000-000000000001',
  seq: 2,
  workspace_id: 'w',
  domain: 'go.example.com',
  key: '=key',
  url: 'https://example.com/?a=1,2',
  password: 'sealed',
  tags: ['a,b', 'c'],
  clicks: 7,
  last_click: null,
  created_at: 1_795_169_210_123_456,
  updated_at: 1_795_169_210_123_456,
  expires_at: null,
} as unknown as Link

/** An export of two batches of one link each. */
function start(query: ExportLinksQuery) {
  const linkExports = new FairQueue(LINK_EXPORT_QUEUE)
  const read: (number | undefined)[] = []
  const links = {
    async run(_actor: unknown, { beyond }: { readonly beyond: number | undefined }) {
      read.push(beyond)
      return { items: [LINK], rest: beyond === undefined ? LINK.seq : undefined }
    },
  }
  const text = exportLinks(commandLine('w'), query, { links, linkExports }, () => {})
  return { text, linkExports, read }
}

describe('exportLinks', () => {
  test('writes CSV with one header, a line for each link, and no password', async () => {
    const { text, read } = start({
      fields: ['id', 'key', 'url', 'tags', 'protected', 'last_click'],
    })
    const line = `"${LINK.id}","'=key","https://example.com/?a=1,2","[""a,b"",""c""]","true",""\r\n`
    assert.deepEqual(await Array.fromAsync(text), [
      `"id","key","url","tags","protected","last_click"\r\n${line}`,
      line,
    ])
    assert.deepEqual(read, [undefined, LINK.seq])
  })

  test('writes NDJSON with every field but the password and the workspace', async () => {
    const { text } = start({ format: 'ndjson' })
    const [first = ''] = await Array.fromAsync(text)
    const row = JSON.parse(first)
    assert.equal(row.link, 'https://go.example.com/=key')
    assert.deepEqual(row.tags, ['a,b', 'c'])
    assert.equal(row.protected, true)
    assert.ok(!('password' in row) && !('workspace_id' in row))
  })

  test('gives its place in the queue back when its reader leaves', async () => {
    const { text, linkExports } = start({})
    await text.next()
    assert.equal(linkExports.running, 1)
    await text.return()
    assert.equal(linkExports.running, 0)
  })
})
