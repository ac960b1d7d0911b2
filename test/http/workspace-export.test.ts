import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import path from 'node:path'
import { before, describe, test } from 'node:test'
import { SCOPES } from '../../src/identity/permissions.ts'
import { type Api, expectStatus } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { onEachEngine, type Stage } from '../support/on-each-engine.ts'
import { expectProblem } from '../support/problems.ts'
import { readZip } from '../support/read-zip.ts'
import { runCommand } from '../support/run-command.ts'
import { visit } from '../support/visit.ts'
import { parseCsv } from './parse-csv.ts'

const SHARED_HOST = 'localhost'
const HOSTILE = "=cmd|' /C calc'!A0"

// biome-ignore lint/suspicious/noExplicitAny: tests look into lines of every type
type Line = Readonly<Record<string, any>>

const linesOf = (text: string): Line[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
const typesOf = (lines: readonly Line[]) => lines.map(({ type }) => type)
const dataOf = (lines: readonly Line[]) =>
  lines.filter(({ type }) => !['export', 'cursor', 'end'].includes(type))

onEachEngine('an export of a workspace', (stage) => {
  describe('with some of everything', () => {
    let api: Api
    before(async () => {
      api = await stage.service.api('everything')
      await addMember(stage, 'everything', { email: 'Grace@example.com', name: HOSTILE })
      await addMember(stage, 'everything', { email: 'ada@example.com', name: 'Ada' })
      const template = { name: '@News', utm_source: '-mail' }
      expectStatus(await api.post('/utm-templates', template), 201)
      expectStatus(await api.post('/domains', { domain: 'b.example' }), 201)
      expectStatus(await api.post('/domains', { domain: 'a.example' }), 201)
      const link = {
        domain: 'b.example',
        url: 'https://example.com/1',
        key: '-one',
        tags: ['=1+1', 'a,b'],
        password: 'a good secret',
        expires_at: '2040-01-02T03:04:05Z',
        external_id: 7,
      }
      expectStatus(await api.post('/links', link), 201)
      const shared = { domain: SHARED_HOST, url: 'https://example.com/2', key: 'shared' }
      expectStatus(await api.post('/links', shared), 201)
      assert.equal((await visit(stage.service.port, '/shared')).status, 302)
      await eventually(async () => {
        const { body } = await api.get('/clicks/export?format=ndjson')
        assert.notEqual(body, '')
      })
    })

    test('has every record in its order, no password, and ends with their number', async () => {
      const answer = expectStatus(await api.get('/export?clicks=true'), 200)
      assert.equal(answer.headers.get('content-type'), 'application/x-ndjson')
      assert.match(answer.headers.get('content-disposition') ?? '', /terse-export\.ndjson/)
      const lines = linesOf(answer.body)
      assert.deepEqual(typesOf(lines), [
        'export',
        'utm_template',
        'domain',
        'domain',
        'member',
        'member',
        'link',
        'link',
        'click',
        'end',
      ])
      const [head, template, first, second, ada, grace, one, shared, click, end] = lines
      const { terse, exported_at, ...described } = head ?? {}
      assert.deepEqual(described, {
        type: 'export',
        version: 1,
        instance: `http://localhost:${stage.service.port}`,
        service_host: SHARED_HOST,
        workspace: 'everything',
        clicks: true,
      })
      assert.equal(template?.utm_source, '-mail')
      assert.deepEqual([first?.domain, second?.domain], ['b.example', 'a.example'])
      assert.deepEqual([ada?.email, grace?.email], ['ada@example.com', 'Grace@example.com'])
      assert.deepEqual([one?.key, one?.protected, one?.external_id], ['-one', true, 7])
      assert.deepEqual([shared?.protected, shared?.clicks], [false, 1])
      assert.deepEqual([click?.link_id, click?.key], [shared?.id, 'shared'])
      assert.equal(end?.records, 8)
      assert.doesNotMatch(answer.body, /"password"|good secret|workspace_id/)
    })

    test('adds clicks up by link and day unless single clicks are requested', async () => {
      const lines = linesOf(expectStatus(await api.get('/export'), 200).body)
      assert.equal(lines[0]?.clicks, false)
      assert.ok(!typesOf(lines).includes('click'))
      const [day] = lines.filter(({ type }) => type === 'click_day')
      const { link_id, ...counted } = day ?? {}
      const shared = lines.find(({ key }) => key === 'shared')
      assert.equal(link_id, shared?.id)
      const [click] = linesOf((await api.get('/clicks/export?format=ndjson')).body)
      const clickDay = click?.at.slice(0, 'YYYY-MM-DD'.length)
      assert.deepEqual(counted, {
        type: 'click_day',
        day: clickDay,
        clicks: 1,
        bots: 0,
        last_click: shared?.last_click,
      })
    })

    test('is a zip of CSV files that run no formula and give back every value', async () => {
      const answer = await fetch(
        `${stage.service.baseUrl}/api/v1/export?format=csv-zip&clicks=true`,
        {
          headers: { authorization: `Bearer ${await stage.service.token('everything')}` },
        },
      )
      assert.equal(answer.headers.get('content-type'), 'application/zip')
      assert.equal(answer.headers.get('content-encoding'), null)
      const files = readZip(Buffer.from(await answer.arrayBuffer()))
      assert.deepEqual(
        [...files.keys()],
        [
          'export.json',
          'labels.csv',
          'conversion_settings.csv',
          'utm_templates.csv',
          'rule_sets.csv',
          'domains.csv',
          'domain_settings.csv',
          'members.csv',
          'links.csv',
          'click_days.csv',
          'clicks.csv',
          'conversions.csv',
        ],
      )
      assert.equal(JSON.parse(String(files.get('export.json'))).workspace, 'everything')
      const cellsOf = (name: string) => {
        const [header = [], ...rows] = parseCsv(String(files.get(name)))
        for (const cell of rows.flat()) assert.doesNotMatch(cell, /^[=+\-@]/)
        const given = rows.map((row) => row.map((cell) => cell.replace(/^'/, '')))
        return given.map((row) => Object.fromEntries(header.map((name, nth) => [name, row[nth]])))
      }
      assert.deepEqual(
        cellsOf('members.csv').map(({ name }) => name),
        ['Ada', HOSTILE],
      )
      assert.equal(cellsOf('utm_templates.csv')[0]?.name, '@News')
      const [one] = cellsOf('links.csv')
      assert.deepEqual([one?.key, one?.protected], ['-one', 'true'])
      assert.deepEqual(JSON.parse(one?.tags ?? ''), ['=1+1', 'a,b'])
      assert.equal(cellsOf('clicks.csv').length, 1)
    })

    test('writes an event, and none for HEAD', async () => {
      const listed = async () =>
        (await api.get('/events?type=workspace.exported')).body.data as Line[]
      const earlier = (await listed()).length
      expectStatus(await api.send('HEAD', '/export'), 200)
      expectStatus(await api.get('/export?format=csv-zip'), 200)
      const events = await listed()
      assert.equal(events.length, earlier + 1)
      assert.deepEqual(events[0]?.after, { format: 'csv-zip', clicks: false })
    })

    test('needs the scope workspace:admin, and no other', async () => {
      const others = SCOPES.filter((scope) => scope !== 'workspace:admin')
      const narrow = await stage.service.api('everything', others)
      expectProblem(await narrow.get('/export'), 'missing_scope')
      const enough = await stage.service.api('everything', ['workspace:admin'])
      expectStatus(await enough.get('/export?clicks=true'), 200)
    })
  })

  describe('with more links than lie between two cursors', () => {
    const LINKS = 1_050
    let api: Api
    let whole: Line[]
    before(async () => {
      api = await stage.service.api('many')
      for (let made = 0; made < LINKS; ) {
        const links = Array.from({ length: Math.min(525, LINKS - made) }, (_, nth) => ({
          domain: 'many.example',
          url: 'https://example.com/',
          key: `key-${made + nth}`,
        }))
        const sent = await api.post('/links/bulk', { action: 'create', links })
        const { succeeded, failed } = expectStatus(sent, 200).body
        assert.ok(succeeded > 0 && failed === 0)
        // Links for which the time of one request was too short are sent again.
        made += succeeded
      }
      whole = linesOf((await api.get('/export')).body)
    })

    test('goes on after any cursor, with nothing missing and nothing twice', async () => {
      const at = whole.findIndex(({ type }) => type === 'cursor')
      assert.ok(at > 0 && at < whole.length - 2, 'there is a cursor within the data')
      const cursor = whole[at]?.cursor
      const rest = linesOf((await api.get(`/export?cursor=${cursor}`)).body)
      assert.deepEqual([...dataOf(whole.slice(0, at)), ...dataOf(rest)], dataOf(whole))
      assert.equal(rest[0]?.type, 'link', 'the head is not sent again')
      assert.deepEqual(rest.at(-1), { type: 'end', records: dataOf(whole).length })
    })

    test('goes on for a client whose connection broke, without a second event', async () => {
      const events = async () =>
        (await api.get('/events?type=workspace.exported')).body.data.length as number
      const token = await stage.service.token('many')
      const received = await receiveUntilCursor(stage, token)
      const before = await events()
      const cursor = received.at(-1)?.cursor
      const rest = linesOf((await api.get(`/export?cursor=${cursor}`)).body)
      assert.deepEqual([...dataOf(received), ...dataOf(rest)], dataOf(whole))
      assert.equal(await events(), before)
    })

    test('returns 422 for a cursor of another export', async () => {
      const cursor = whole.find(({ type }) => type === 'cursor')?.cursor
      expectInvalid(await api.get(`/export?cursor=${cursor}&clicks=true`), 'cursor')
      expectInvalid(await stage.api.get(`/export?cursor=${cursor}`), 'cursor')
      expectInvalid(await api.get(`/export?cursor=${cursor}&format=csv-zip`), 'cursor')
      expectInvalid(await api.get('/export?cursor=nonsense'), 'cursor')
    })

    test('is written to a file by the command, which continues a partial file', async () => {
      const { place } = stage.service
      const file = path.join(place.dataDir, 'many.ndjson')
      const args = ['export', '--workspace', 'many', '-o', file]
      const env = { ...place.env, TERSE_BASE_URL: `http://localhost:${stage.service.port}` }
      const first = await runCommand(args, env)
      assert.equal(first.code, 0, first.stderr)
      assert.equal(statSync(file).mode & 0o777, 0o600)
      const complete = readFileSync(file, 'utf8')
      assert.deepEqual(dataOf(linesOf(complete)), dataOf(whole))

      // As a killed command leaves it: cut off in the middle of a line.
      const cut = complete.slice(0, complete.indexOf('"type":"cursor"') + 2_000)
      writeFileSync(`${file}.part`, cut.replace('key-0"', 'key-from-the-part"'))
      assert.equal((await runCommand(args, env)).code, 0)
      const continued = readFileSync(file, 'utf8')
      assert.ok(continued.includes('key-from-the-part'), 'it did not begin again')
      assert.equal(continued.replace('key-from-the-part"', 'key-0"').length, complete.length)
      assert.ok(!existsSync(`${file}.part`))

      writeFileSync(`${file}.part`, cut)
      const other = await runCommand([...args, '--clicks'], env)
      assert.equal(other.code, 1)
      assert.match(other.stderr, /\.part is of another export/)
    })

    test('is written to standard output by the command', async () => {
      const { env } = stage.service.place
      const { code, stdout } = await runCommand(['export', '--workspace', 'many'], env)
      assert.equal(code, 0)
      assert.deepEqual(dataOf(linesOf(stdout)), dataOf(whole))
    })
  })
})

/** Reads an export until its first cursor has come, and breaks the connection off. */
async function receiveUntilCursor({ service }: Stage, token: string): Promise<Line[]> {
  const request = get(`${service.baseUrl}/api/v1/export`, {
    headers: { authorization: `Bearer ${token}` },
    agent: false,
  })
  const [response]: IncomingMessage[] = await once(request, 'response')
  assert.ok(response)
  let text = ''
  for await (const chunk of response) {
    text += chunk
    const end = text.indexOf('\n', text.indexOf('{"type":"cursor"'))
    if (!text.includes('{"type":"cursor"') || end < 0) continue
    response.destroy()
    return linesOf(text.slice(0, end))
  }
  throw new Error('there was no cursor')
}

async function addMember(
  { service }: Stage,
  workspace: string,
  { email, name }: { email: string; name: string },
): Promise<void> {
  const { store, workspaces } = service.instance
  const { id } = await workspaces.get(workspace)
  const person = {
    id: crypto.randomUUID(),
    email,
    email_folded: email.toLowerCase(),
    name,
    is_operator: false,
    created_at: 1,
    disabled_at: null,
    email_proved_at: null,
  }
  await store.write(async (stores) => {
    await stores.people.insert(person)
    const membership = { workspace_id: id, person_id: person.id, role: 'member' } as const
    await stores.memberships.insert({ ...membership, created_at: 1, source: 'hand' })
  })
}
