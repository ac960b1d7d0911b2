import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import jsqr from 'jsqr'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { runCli } from '../support/run-cli.ts'
import { runCommand } from '../support/run-command.ts'
import { scan } from '../support/scan.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

const MAIN = fileURLToPath(new URL('../../bin/terse.js', import.meta.url))
const CONTROL = /[\p{Cc}\u202e]/u

describe('commands over the API', () => {
  let service: Service
  let folder: string
  let env: Record<string, string>
  let token: string
  before(async () => {
    service = await startService(SQLITE)
    token = await service.token('acme')
    folder = mkdtempSync(path.join(tmpdir(), 'terse-remote-'))
    env = { XDG_CONFIG_HOME: folder }
  })
  after(async () => {
    rmSync(folder, { recursive: true })
    await service.stop()
  })

  const terse = async (...args: string[]): Promise<string> => {
    const result = await runCommand(args, env)
    assert.equal(result.code, 0, result.stderr)
    return result.stdout.trimEnd()
  }
  const refused = async (code: number, ...args: string[]): Promise<string> => {
    const result = await runCommand(args, env)
    assert.equal(result.code, code, result.stdout)
    assert.match(result.stderr, /^terse: /)
    return result.stderr
  }

  test('need a login, whose token is checked and saved for its owner alone', async () => {
    const file = path.join(folder, 'terse', 'login.json')
    assert.match(await refused(3, 'link', 'list'), /not logged in. Run: \S+.* login URL/)
    const wrong = await runCommand(['login', service.baseUrl], env, 'terse_wrong')
    assert.equal(wrong.code, 3)
    assert.match(wrong.stderr, /token/i)
    assert.ok(!existsSync(file))
    assert.equal((await runCommand(['login', service.baseUrl], env, '')).code, 3)
    const logged = await runCommand(['login', `${service.baseUrl}/`], env, token)
    assert.equal(logged.code, 0, logged.stderr)
    assert.doesNotMatch(logged.stdout + logged.stderr, new RegExp(token))
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(statSync(path.dirname(file)).mode & 0o777, 0o700)
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), { url: service.baseUrl, token })
  })

  test('a token is sent over plain HTTP to other machines only on request', async () => {
    const { code, stderr } = await runCommand(['login', 'http://go.example.com'], env, token)
    assert.equal(code, 5)
    assert.match(stderr, /--plain-http/)
  })

  test('create, list, show, update and delete a link', async () => {
    const created = await terse(
      ...['link', 'create', 'https://example.com/sale', '--domain', 'localhost', '--key', 'spring'],
      ...['--tag', 'a', '--tag', 'b', '--utm-source', 'mail', '--external-id', '7'],
    )
    const address = `http://localhost:${service.port}/spring`
    assert.equal(created, address)
    assert.equal((await fetch(address, { redirect: 'manual' })).status, 302)
    const listed = JSON.parse(await terse('link', 'list', '--tag', 'a', '--json'))
    assert.deepEqual(
      [listed.length, listed[0].key, listed[0].tags, listed[0].external_id],
      [1, 'spring', ['a', 'b'], 7],
    )
    assert.match(await terse('link', 'list'), /^LINK +DESTINATION.*\nlocalhost\/spring +https:/)
    for (const name of ['localhost/spring', 'http://localhost:3000/spring?x=1', listed[0].id]) {
      assert.match(await terse('link', 'show', name), /^key +spring$/m)
    }
    assert.match(await terse('link', 'show', 'localhost/SPRING'), /^key +spring$/m)
    const update = ['link', 'update', 'localhost/spring', '--url', 'https://example.com/new']
    const updated = JSON.parse(await terse(...update, '--clear', 'tags', '--json'))
    assert.deepEqual([updated.url, updated.tags], ['https://example.com/new', []])
    assert.match(await refused(5, 'link', 'update', 'localhost/spring'), /what to change/)
    assert.match(await refused(5, 'link', 'delete', 'localhost/spring'), /--yes/)
    await terse('link', 'delete', 'localhost/spring', '--yes')
    assert.match(await refused(4, 'link', 'show', 'localhost/spring'), /no link localhost\/spring/)
  })

  test('ask in a terminal before a link is deleted', async () => {
    const create = ['link', 'create', 'https://example.com/kept', '--domain', 'localhost']
    await terse(...create, '--key', 'asked')
    const remove = ['link', 'delete', 'localhost/asked']
    const declined = await runCommand(remove, env, 'no')
    assert.deepEqual([declined.code, declined.stderr], [1, 'terse: Nothing was deleted.\n'])
    assert.match(await terse('link', 'show', 'localhost/asked'), /^key +asked$/m)
    assert.equal((await runCommand(remove, env, 'yes')).code, 0)
    await refused(4, 'link', 'show', 'localhost/asked')
  })

  test('report a pending domain that a link has added, beside the link', async () => {
    const create = ['link', 'create', 'https://example.com/', '--domain', 'new.example', '--json']
    const { code, stdout, stderr } = await runCommand(create, env)
    assert.deepEqual([code, JSON.parse(stdout).domain], [0, 'new.example'])
    assert.match(
      stderr,
      /^The domain new\.example was added .* is pending: .*\/app\/domains\?id=[\w-]{36}\n$/,
    )
    for (const active of ['localhost', 'ready.localhost']) {
      const args = ['link', 'create', 'https://example.com/', '--domain', active]
      assert.equal((await runCommand(args, env)).stderr, '')
    }
    const { key } = JSON.parse(stdout)
    const update = ['link', 'update', `new.example/${key}`, '--domain', 'other.example']
    assert.match((await runCommand(update, env)).stderr, /^The domain other\.example was added /)
  })

  test('list more links than a page has', async () => {
    const api = await service.api('acme')
    const links = Array.from({ length: 130 }, (_, nth) => ({
      ...{ domain: 'many.localhost', key: `k-${nth}`, url: 'https://example.com/' },
    }))
    await api.post('/links/bulk', { action: 'create', links })
    const list = ['link', 'list', '--domain', 'many.localhost', '--json']
    assert.equal(JSON.parse(await terse(...list, '--limit', '125')).length, 125)
    const all = JSON.parse(await terse(...list, '--limit', '1000'))
    assert.equal(new Set(all.map(({ id }: { id: string }) => id)).size, 130)
  })

  test('a password is read from the prompt, and in no argument', async () => {
    const create = ['link', 'create', 'https://example.com/', '--domain', 'localhost']
    const args = [...create, '--key', 'locked', '--password', '--json']
    const { code, stdout } = await runCommand(args, env, 'a good secret')
    assert.equal(code, 0)
    assert.notEqual(JSON.parse(stdout).password, null)
    const { body } = await visit(service.port, '/locked')
    assert.match(body, /type="password"/)
  })

  test('the faults of fields are shown', async () => {
    const create = ['link', 'create', 'ftp://example.com', '--domain', 'localhost', '--key', '..']
    const stderr = await refused(5, ...create)
    assert.match(stderr, /url must /)
    assert.match(stderr, /key must /)
    assert.equal(stderr.match(/url must/g)?.length, 1, 'each fault once')
    assert.equal(stderr.trimEnd().split('\n').length, 1)
  })

  test('a QR code is drawn in the terminal, and written as PNG and SVG', async () => {
    await terse('link', 'create', 'https://example.com/', '--domain', 'localhost', '--key', 'qr')
    const drawn = await terse('link', 'qr', 'localhost/qr')
    const lines = drawn.split('\n')
    assert.ok(lines.every((line) => /^[ ▀▄█]+$/.test(line)))
    assert.equal(scanDrawing(lines), `http://localhost:${service.port}/qr`)
    const [png, svg] = ['code.png', 'code.svg'].map((name) => path.join(folder, name))
    await terse('link', 'qr', 'localhost/qr', '-o', png ?? '')
    await terse('link', 'qr', 'localhost/qr', '-o', svg ?? '', '--color', '#003366', '--track')
    assert.equal(scan(readFileSync(png ?? '')).text, `http://localhost:${service.port}/qr`)
    assert.match(readFileSync(svg ?? '', 'utf8'), /^<svg /)
    const described = JSON.parse(await terse('link', 'qr', 'localhost/qr', '--track', '--json'))
    assert.equal(described.content, `http://localhost:${service.port}/qr?qr=1`)
    assert.match(await refused(5, 'link', 'qr', 'localhost/qr', '-o', 'x.gif'), /\.png or \.svg/)
  })

  test('clicks are counted by day, and by country', async () => {
    await terse('link', 'create', 'https://example.com/', '--domain', 'localhost', '--key', 'hit')
    await visit(service.port, '/hit')
    await eventually(async () => {
      const report = JSON.parse(await terse('stats', 'localhost/hit', '--json'))
      assert.equal(report.total.clicks, 1)
    })
    const days = await terse('stats', 'localhost/hit')
    assert.match(days, /^1 clicks, 0 by bots, 1 visitors\n/)
    assert.match(
      days,
      /\n\nDAY +CLICKS\n\d{4}-\d\d-\d\d +1 +█+\n\nLeft out without clicks: \d+ days\.$/,
    )
    assert.match(await terse('stats', 'localhost/hit', '--by', 'browser'), /Chrome +1 +█/)
  })

  test('work as a program of their own, with a token that is piped in', async () => {
    const other = path.join(folder, 'piped')
    const { code, stderr } = await runPiped(['login', service.baseUrl], token, other)
    assert.equal(code, 0, stderr)
    const listed = await runCli(['link', 'list', '--limit', '1', '--json'], {
      XDG_CONFIG_HOME: other,
    })
    assert.equal(JSON.parse(listed.stdout).length, 1)
    const help = await runCli(['link', '--help'], {})
    assert.match(help.stdout, /^Usage: npx terse link/)
  })

  test('a token that is typed is not shown', async (t) => {
    const other = path.join(folder, 'typed')
    const screen = await typeLogin(
      service.baseUrl,
      `wrong\u007f\u007f\u007f\u007f\u007f${token}\r`,
      other,
    )
    if (screen === undefined) {
      t.skip('script is not installed: apt-get install bsdutils')
      return
    }
    assert.match(screen, /Token of http/)
    assert.match(screen, /You are logged in/)
    assert.doesNotMatch(screen, new RegExp(token.slice(0, 12)))
    assert.doesNotMatch(screen, /wrong/)
  })

  test('logout forgets the token', async () => {
    await terse('logout')
    assert.ok(!existsSync(path.join(folder, 'terse', 'login.json')))
    assert.match(await refused(3, 'logout'), /Nobody is logged in/)
  })
})

describe('commands against a hostile or failing service', () => {
  let server: Server
  let folder: string
  let env: Record<string, string>
  let answer: RequestListener = () => {}
  let requests = 0
  before(async () => {
    server = createServer((request, response) => {
      requests += 1
      answer(request, response)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    folder = mkdtempSync(path.join(tmpdir(), 'terse-remote-'))
    env = { XDG_CONFIG_HOME: folder }
    answer = (_request, response) => {
      response.writeHead(403).end('{"message":"no","code":"missing_scope"}')
    }
    const logged = await runCommand(['login', `http://127.0.0.1:${port}`], env, 'terse_x')
    assert.equal(logged.code, 0, 'a token that may not read links can log in')
  })
  after(() => {
    server.closeAllConnections()
    server.close()
    rmSync(folder, { recursive: true })
  })

  const LINK = {
    ...{ id: '01a1f86c-0000-7000-8000-000000000000', domain: 'x.example', key: 'k' },
    workspace_id: '01a1f86c-0000-7000-8000-000000000000',
    url: 'https://example.com/\u001b]0;title\u0007\u009b2J\u202ecod',
    ...{ link: 'https://x.example/k', ios: null, android: null, utm_source: null },
    ...{ utm_medium: null, utm_campaign: null, utm_term: null, utm_content: null },
    ...{ utm_name: null, clicks: 0, last_click: null, external_id: null, password: null },
    ...{ expires_at: null, expired_redirect_url: null, tags: ['\u001b[31m', 'b\r\nc'] },
    ...{ created_at: '2026-11-20T09:30:00.123456Z', updated_at: '2026-11-20T09:30:00.123456Z' },
  }
  const META = {
    ...{ current_page: 1, from: 1, to: 1, last_page: 1, per_page: 50, total: 1, path: '' },
    ...{ links: [], next_cursor: null },
  }
  const PAGE = { data: [LINK], links: { first: '', last: '', prev: null, next: null }, meta: META }

  test('print no control characters, and the same value as JSON', async () => {
    answer = (request, response) => {
      const isList = request.url?.includes('/links?')
      response.end(JSON.stringify(isList ? PAGE : LINK))
    }
    for (const args of [
      ['link', 'list'],
      ['link', 'show', LINK.id],
      ['link', 'list', '--json'],
    ]) {
      const { code, stdout } = await runCommand(args, env)
      assert.equal(code, 0)
      for (const line of stdout.split('\n')) assert.doesNotMatch(line, CONTROL)
    }
    const { stdout } = await runCommand(['link', 'list', '--json'], env)
    assert.deepEqual(JSON.parse(stdout), [LINK])
  })

  const FAULTS: {
    name: string
    answer: RequestListener
    expected: RegExp
    code?: number
    requests?: number
  }[] = [
    {
      name: 'a message with escape sequences',
      answer: (_, response) =>
        response.writeHead(404).end('{"message":"no \\u001b[31mlink\\n","code":"not_found"}'),
      expected: /^terse: no link\s*$/,
      code: 4,
    },
    {
      name: 'a token that was revoked',
      answer: (_, response) =>
        response.writeHead(401).end('{"message":"This token is revoked.","code":"unauthorized"}'),
      expected: /token is revoked/,
      code: 3,
    },
    {
      name: 'a page of a proxy that finds nothing there',
      answer: (_, response) => response.writeHead(404).end('<html>'),
      expected: /status 404/,
    },
    {
      name: 'a right that is missing',
      answer: (_, response) =>
        response.writeHead(403).end('{"message":"It lacks links:read.","code":"missing_scope"}'),
      expected: /lacks links:read/,
    },
    {
      name: 'a redirect, without sending the token there',
      answer: (_, response) => response.writeHead(302, { location: 'http://evil.example' }).end(),
      expected: /redirects to http:\/\/evil\.example/,
      requests: 1,
    },
    {
      name: 'a page that is no API',
      answer: (_, response) => response.writeHead(500).end('<html>'),
      expected: /status 500\. Is it a Terse service/,
    },
    {
      name: 'an answer of another shape',
      answer: (_, response) => response.end('{"data":5}'),
      expected: /does not understand/,
    },
    {
      name: 'a connection that breaks',
      answer: (request) => request.socket.destroy(),
      expected: /cannot be reached/,
    },
    {
      name: 'a service that stays overloaded, after some attempts',
      answer: (_, response) =>
        response
          .writeHead(503, { 'retry-after': '0' })
          .end('{"message":"The database is unavailable.","code":"unavailable"}'),
      expected: /database is unavailable/,
      requests: 3,
    },
  ]
  for (const fault of FAULTS) {
    test(`report ${fault.name}`, async () => {
      answer = fault.answer
      requests = 0
      const { code, stdout, stderr } = await runCommand(['link', 'list'], env)
      assert.equal(code, fault.code ?? 1)
      assert.equal(stdout, '')
      assert.match(stderr, fault.expected)
      assert.doesNotMatch(stderr.trimEnd(), CONTROL)
      if (fault.requests !== undefined) assert.equal(requests, fault.requests)
    })
  }

  test('a create that is repeated carries the same idempotency key', async () => {
    const keys: unknown[] = []
    answer = (request, response) => {
      if (request.method === 'POST') keys.push(request.headers['idempotency-key'])
      if (keys.length === 1) response.writeHead(503, { 'retry-after': '0' }).end('{}')
      else response.writeHead(201).end(JSON.stringify(LINK))
    }
    const { code } = await runCommand(['link', 'create', 'https://example.com/'], env)
    assert.equal(code, 0)
    assert.equal(keys.length, 2)
    assert.ok(keys[0] !== undefined && keys[0] === keys[1])
  })

  test('refuse a login that others can read or write', async () => {
    const file = path.join(folder, 'terse', 'login.json')
    for (const mode of [0o644, 0o640, 0o620]) {
      chmodSync(file, mode)
      const { code, stderr } = await runCommand(['link', 'list'], env)
      assert.equal(code, 1)
      assert.match(
        stderr,
        /Others can read the token in \S+login\.json.* Run: chmod 600 \S+login\.json$/m,
      )
    }
    chmodSync(file, 0o600)
    assert.doesNotMatch((await runCommand(['link', 'list'], env)).stderr, /chmod/)
  })

  test('report a login that is damaged', async () => {
    writeFileSync(path.join(folder, 'terse', 'login.json'), '{"url":5')
    const { code, stderr } = await runCommand(['link', 'list'], env)
    assert.equal(code, 1)
    assert.match(stderr, /login\.json is damaged/)
  })
})

/** Reads a QR code that was drawn with two modules in each character. */
function scanDrawing(lines: readonly string[]): string | undefined {
  const rows = lines.flatMap((line) => [
    [...line].map((character) => '▀█'.includes(character)),
    [...line].map((character) => '▄█'.includes(character)),
  ])
  const scale = 4
  const [width, height] = [(rows[0]?.length ?? 0) * scale, rows.length * scale]
  const pixels = new Uint8ClampedArray(width * height * 4).map((_, index) => {
    const [x, y] = [Math.floor(index / 4) % width, Math.floor(index / 4 / width)]
    return rows[Math.floor(y / scale)]?.[Math.floor(x / scale)] || index % 4 === 3 ? 255 : 0
  })
  return jsqr.default(pixels, width, height)?.data
}

/** Types into `terse login` in a terminal, and returns the screen; undefined without the program `script`. */
async function typeLogin(url: string, typed: string, config: string): Promise<string | undefined> {
  const env = { PATH: process.env.PATH, XDG_CONFIG_HOME: config }
  const command = `${process.execPath} ${MAIN} login ${url}`
  const child = spawn('script', ['-qec', command, '/dev/null'], { env })
  const spawned = await Promise.race([once(child, 'spawn'), once(child, 'error')])
  if (spawned[0] instanceof Error) return undefined
  let screen = ''
  child.stdout.on('data', (chunk) => {
    // Only what asks for it may receive it.
    if (!screen.includes('Token of') && String(screen + chunk).includes('Token of')) {
      child.stdin.write(typed)
    }
    screen += chunk
  })
  await once(child, 'close')
  return screen
}

/** Runs the program with text on its standard input. */
async function runPiped(args: readonly string[], input: string, config: string) {
  const env = { PATH: process.env.PATH, XDG_CONFIG_HOME: config }
  const child = spawn(process.execPath, [MAIN, ...args], { env })
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  child.stdin.end(`${input}\n`)
  const [code] = await once(child, 'close')
  return { code, stderr }
}
