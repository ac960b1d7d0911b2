import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, mock, test } from 'node:test'
import { CLICKS_MAX, LiveStream } from './live-clicks.ts'
import type { FedClick } from './store/click-feed.ts'

const SELECTION = {
  workspaceId: 'acme',
  linkSeqs: undefined,
  keyspaceIds: undefined,
  filter: new Map(),
  linkFilter: new Map(),
  bots: 'exclude',
} as const
const NOTHING = { minutes: new Map(), latest: [] }

const CLICK: FedClick = {
  at: 1,
  link_seq: 1,
  flags: 0,
  count: 1,
  visitor: 1,
  country: '',
  device: '',
  os: '',
  browser: '',
  referrer: '',
  language: '',
  source: '',
  rule: '',
  variant: '',
  label: '',
  region: '',
  city: '',
  link_id: null,
  key: null,
  host: null,
  workspace_id: 'acme',
  keyspace_id: 1,
  ofLink: undefined,
}

describe('LiveStream', () => {
  let isAllowed = true
  let ends = 0
  const openStream = () =>
    new LiveStream({
      selection: SELECTION,
      mayContinue: async () => isAllowed,
      onEnd: () => {
        ends += 1
      },
    })
  const read = (stream: LiveStream) => {
    let text = ''
    for (let chunk = stream.text.read(); chunk !== null; chunk = stream.text.read()) text += chunk
    return text
  }

  beforeEach(() => {
    isAllowed = true
    ends = 0
    mock.timers.enable({ apis: ['setInterval'] })
  })
  afterEach(() => mock.timers.reset())

  test('sends a comment every 15 s', () => {
    const stream = openStream()
    mock.timers.tick(15_000)
    assert.equal(read(stream), ': heartbeat\n\n')
    stream.cancel()
  })

  test('ends when its client may no longer watch, which is checked every 30 s', async () => {
    const stream = openStream()
    mock.timers.tick(30_000)
    await new Promise(setImmediate)
    assert.equal(ends, 0)
    isAllowed = false
    mock.timers.tick(30_000)
    await new Promise(setImmediate)
    assert.match(read(stream), /event: end\ndata: \{"reason":"unauthorized"\}\n\n$/)
    assert.equal(ends, 1)
  })

  test('is cut off when its client does not read', () => {
    const stream = openStream()
    stream.start(NOTHING, 0)
    for (let events = 0; events < 10 && ends === 0; events += 1) {
      stream.take(Array.from({ length: CLICKS_MAX }, () => CLICK))
      stream.flush()
    }
    assert.equal(ends, 1)
    assert.ok(stream.text.destroyed)
  })

  test('keeps clicks until its start is sent, and says how many it left out', () => {
    const stream = openStream()
    stream.take(Array.from({ length: CLICKS_MAX + 3 }, () => CLICK))
    stream.take([
      { ...CLICK, workspace_id: 'other' },
      { ...CLICK, flags: 1 },
    ])
    stream.flush()
    assert.equal(read(stream), '')
    stream.start(NOTHING, 0)
    const events = read(stream).trimEnd().split('\n\n')
    assert.match(events[0] ?? '', /^event: start\n/)
    const { clicks, left_out } = JSON.parse(events[1]?.split('data: ')[1] ?? '')
    assert.deepEqual([clicks.length, left_out, events.length], [CLICKS_MAX, 3, 2])
    assert.ok(!('visitor' in clicks[0]))
    stream.cancel()
  })
})
