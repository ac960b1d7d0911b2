import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Failure } from '../../platform/failure.ts'
import { parseClicksUrl } from '../../storage/clickhouse/clicks-url.ts'
import { greet, greetLater } from './greeting.ts'

type Greeted = Parameters<typeof greet>[1]

const WHERE = {
  baseUrl: 'https://go.example',
  dataDir: '/data',
  databaseUrl: undefined,
  clicks: undefined,
  settingsFile: undefined,
}

/** An instance whose database refuses writes while `isFull`. */
function openFake() {
  const state = { isFull: true, isAvailable: true, isSetUp: false }
  const write = <T>(value: T) =>
    state.isFull ? Promise.reject(Failure.unavailable(new Error('full'))) : Promise.resolve(value)
  const instance = {
    engine: 'SQLite',
    store: { isAvailable: () => state.isAvailable },
    workspaces: { list: async () => [], create: () => write({ id: 'workspace' }) },
    tokens: { create: () => write({ secret: 'the-token' }) },
    setupLinks: {
      isRequired: async () => !state.isSetUp,
      createUnlessOpen: () => write('the-code'),
    },
  } as unknown as Greeted
  return { instance, state }
}

describe('the greeting of a start', () => {
  test('shows the first token and the set-up link once the database can be written', async (t) => {
    const { instance, state } = openFake()
    const greeting = await greet(WHERE, instance)
    assert.match(greeting.text, /Terse is running at https:\/\/go\.example/)
    assert.match(greeting.text, /cannot be written now/)
    assert.doesNotMatch(greeting.text, /the-token|the-code/)

    const said: string[] = []
    const ending = new AbortController()
    t.after(() => ending.abort())
    state.isFull = false
    await greetLater(greeting, WHERE, instance, {
      say: (text) => said.push(text),
      signal: ending.signal,
      intervalMs: 1,
    })
    assert.equal(said.length, 1)
    assert.match(said[0] ?? '', /the-token.*setup#code=the-code/s)
  })

  test('shows both at once where the database can be written', async () => {
    const { instance, state } = openFake()
    state.isFull = false
    const { text, rest } = await greet(WHERE, instance)
    assert.match(text, /the-token.*setup#code=the-code/s)
    assert.deepEqual(rest, [])
  })

  test('says which address is set and how to change it, before all else', async () => {
    const { text } = await greet(WHERE, openFake().instance)
    const [, file] =
      /^Terse is running at https:\/\/go\.example\n.*set TERSE_BASE_URL in the environment or in\n(\S+), /s.exec(
        text,
      ) ?? []
    assert.equal(file, '/data/terse.env')
    const settingsFile = '/etc/terse.env'
    const other = await greet({ ...WHERE, settingsFile }, openFake().instance)
    assert.match(other.text, /in the environment or in\n\/etc\/terse\.env, and start again\.\n/)
  })

  test('ends with the address of the dashboard once there is a person', async () => {
    const { instance, state } = openFake()
    Object.assign(state, { isFull: false, isSetUp: true })
    const { text } = await greet(WHERE, instance)
    assert.match(text, /\nOpen the dashboard:\n\n {2}https:\/\/go\.example\/app\/\n$/)
  })

  test('names the database of clicks', async () => {
    const parsed = parseClicksUrl('clickhouse://terse@ch.internal:8123/terse')
    assert.ok('value' in parsed)
    const clicks = { address: parsed.value, password: 'secret' }
    const { text } = await greet({ ...WHERE, clicks }, openFake().instance)
    assert.match(text, / ClickHouse, http:\/\/ch\.internal:8123$/m)
    assert.doesNotMatch(text, /secret/)
  })

  test('tries no write at a database that is down', async () => {
    const { instance, state } = openFake()
    state.isAvailable = false
    const { text, rest } = await greet(WHERE, instance)
    assert.match(text, /unavailable: cached links redirect/)
    assert.equal(rest.length, 2)
  })

  test('ends with the service', async () => {
    const { instance } = openFake()
    const greeting = await greet(WHERE, instance)
    const ending = new AbortController()
    const waiting = greetLater(greeting, WHERE, instance, {
      say: () => assert.fail('nothing can be written'),
      signal: ending.signal,
    })
    ending.abort()
    await waiting
  })
})
