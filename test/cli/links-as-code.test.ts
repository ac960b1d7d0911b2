import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { readExamples } from '../documents/read-examples.ts'
import { expectStatus } from '../support/api.ts'
import { INHERITED_ENV } from '../support/inherited-env.ts'
import { onEachEngine, onSqlite, type Stage } from '../support/on-each-engine.ts'
import { type CliResult, runCli } from '../support/run-cli.ts'
import { runCommand } from '../support/run-command.ts'

const MAIN = fileURLToPath(new URL('../../bin/terse.js', import.meta.url))
const DESTINATION = 'https://example.com/'

type Desk = {
  /** Runs a command in this process, for the workspace of the stage. */
  terse(args: readonly string[], env?: Record<string, string>): Promise<CliResult>
  /** Writes a file, and returns its name. */
  write(text: string, name?: string): string
  env(token?: string): Record<string, string>
}

/** A folder and commands for the tests of a stage. */
function openDesk(stage: Stage): Desk {
  let folder: string
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'terse-code-'))
  })
  after(() => rmSync(folder, { recursive: true }))
  const env = (token = stage.token) => ({
    TERSE_URL: stage.service.baseUrl,
    TERSE_TOKEN: token,
    XDG_CONFIG_HOME: folder,
  })
  return {
    env,
    terse: (args, more = {}) => runCommand(args, { ...env(), ...more }),
    write(text, name = 'links.yaml') {
      const file = path.join(folder, name)
      writeFileSync(file, text)
      return file
    },
  }
}

const linesOf = (count: number, prefix: string) =>
  Array.from(
    { length: count },
    (_, nth) => `  - {link: localhost/${prefix}-${nth}, url: ${DESTINATION}${nth}}`,
  ).join('\n')

const SALE = `version: 1
set: sale
domains:
  - domain: go.sale.example
    expired_url: https://example.com/over
    utm: {utm_source: short}
    rule_set: Shops
rule_sets:
  - name: Shops
    rules: [{when: {country: [DE]}, then: {url: https://example.com/de}}]
utm_templates:
  - {name: Newsletter, utm_source: mail}
tags: [spring]
links:
  - link: localhost/sale
    url: https://example.com/sale
    tags: [spring]
    rule_set: Shops
    rules: [{name: Phones, when: {device: [phone]}, then: {url: https://example.com/phone}}]
  - link: localhost/locked
    url: https://example.com/locked
    max_clicks: 5
    password: {env: SALE_PASSWORD}
`

onEachEngine('links as code', (stage) => {
  const { terse, write, env } = openDesk(stage)
  const ended = async (code: number, args: readonly string[], more?: Record<string, string>) => {
    const result = await terse(args, more)
    assert.equal(result.code, code, `${result.stdout}\n${result.stderr}`)
    return result
  }
  const linkAt = async (key: string) => {
    const { body } = await stage.api.get(`/links?key=${key}&include=options,rules`)
    return body.data[0]
  }

  test('plan, apply and pull; a second apply changes nothing', async () => {
    const file = write(SALE)
    const { stdout } = await ended(2, ['plan', file])
    assert.match(stdout, /^\+ localhost\/sale\n {4}url: https:\/\/example\.com\/sale\n/m)
    assert.match(stdout, /^5 to create, 0 to change, 0 to delete\.$/m)
    assert.match((await ended(1, ['apply', file, '--yes'])).stderr, /Set SALE_PASSWORD\. Nothing/)
    const applied = await ended(0, ['apply', file, '--yes'], { SALE_PASSWORD: 'secret' })
    assert.match(
      applied.stderr,
      /go\.sale\.example is pending: .*\nTYPE +NAME +VALUE\nTXT +_terse\./,
    )
    const link = await linkAt('sale')
    assert.deepEqual(
      [link.options.managed_by, link.options.managed_at, link.rules.length],
      ['sale', link.updated_at, 1],
    )
    assert.notEqual((await linkAt('locked')).password, null)
    for (const command of [
      ['plan', file],
      ['apply', file],
    ]) {
      assert.match((await ended(0, command)).stdout, /^No changes: /)
    }
    const { stdout: pulled } = await ended(0, ['pull', '--set', 'sale'])
    assert.equal((await ended(0, ['plan', write(pulled, 'pulled.yaml')])).stderr, '')
    const again = await ended(2, ['plan', file, '--set-passwords'])
    assert.match(again.stdout, /^ {4}password: set → from SALE_PASSWORD$/m)
    const other = { domain: 'go.sale.example', key: 'other', url: DESTINATION }
    expectStatus(await stage.api.post('/links', other), 201)
    const { stdout: bare } = await ended(2, ['plan', write('version: 1\nset: sale\n')])
    assert.match(bare, /^Without go\.sale\.example, links that stay on it stop opening: 1\.$/m)
    assert.match(bare, /^0 to create, 0 to change, 5 to delete\.$/m)
  })

  test('show who changed or deleted what by hand, and set it back', async () => {
    const text = `version: 1\nset: drift\nlinks:\n${linesOf(2, 'drift')}\n`
    const file = write(text)
    await ended(0, ['apply', file, '--yes'])
    const [edited, deleted] = [await linkAt('drift-0'), await linkAt('drift-1')]
    expectStatus(
      await stage.api.patch(`/links/${edited.id}`, { url: 'https://evil.example/' }),
      200,
    )
    expectStatus(await stage.api.delete(`/links/${deleted.id}`), 200)
    const { stdout } = await ended(2, ['plan', file])
    assert.match(
      stdout,
      /^ {4}url: https:\/\/evil\.example\/ → https:\/\/example\.com\/0\n {6}edited by test at \S+Z$/m,
    )
    assert.match(stdout, /^\+ localhost\/drift-1\n {4}deleted by test at \S+Z, created again$/m)
    const json = JSON.parse((await ended(2, ['plan', file, '--json'])).stdout)
    assert.deepEqual([json.create, json.change, json.delete], [1, 1, 0])
    const token = await stage.service.token('acme', ['links:read', 'links:write', 'domains:read'])
    const blind = await ended(2, ['plan', file], env(token))
    assert.match(blind.stdout, /the token lacks the scope workspace:admin/)
    await ended(0, ['apply', file, '--yes'])
    assert.equal((await linkAt('drift-0')).url, `${DESTINATION}0`)
    await ended(0, ['plan', file])
  })

  test('move a link back that was moved by hand, with its clicks', async () => {
    const file = write(`version: 1\nset: moved\nlinks:\n${linesOf(1, 'moved')}\n`)
    await ended(0, ['apply', file, '--yes'])
    const { id } = await linkAt('moved-0')
    expectStatus(await stage.api.patch(`/links/${id}`, { key: 'elsewhere' }), 200)
    expectStatus(await stage.api.patch(`/links/${id}`, { key: 'further' }), 200)
    const { stdout } = await ended(2, ['plan', file])
    assert.match(stdout, /^~ localhost\/moved-0\n {4}key: further → moved-0\n {6}edited by test /m)
    assert.match(stdout, /^0 to create, 1 to change, 0 to delete\.$/m)
    await ended(0, ['apply', file, '--yes'])
    assert.equal((await linkAt('moved-0')).id, id)
    await ended(0, ['plan', file])
  })

  test('confirm the mark of a link that was edited and is as the file says', async () => {
    const file = write(`version: 1\nset: same\nlinks:\n${linesOf(1, 'same')}\n`)
    await ended(0, ['apply', file, '--yes'])
    const { id } = await linkAt('same-0')
    await stage.api.patch(`/links/${id}`, { notes: 'x' })
    expectStatus(await stage.api.patch(`/links/${id}`, { notes: null }), 200)
    await ended(0, ['apply', file])
    const { options, updated_at } = await linkAt('same-0')
    assert.equal(options.managed_at, updated_at)
  })

  test('confirm the marks of a domain, a rule set and a template that were edited and set back', async () => {
    const file = write(`version: 1
set: marks
domains: [{domain: go.marks.example, robots: index}]
rule_sets: [{name: Marks, rules: []}]
utm_templates: [{name: Marks, utm_source: mail}]
`)
    await ended(0, ['apply', file, '--yes'])
    const marked = async (path: string, name: string) => {
      const { data } = (await stage.api.get(path)).body
      const found = data.find((each: Record<string, string>) => (each.name ?? each.domain) === name)
      return { id: found.id, ...(found.settings ?? found) }
    }
    const things = [
      ['/domains?include=settings', 'go.marks.example', '/settings', 'robots', null],
      ['/rule-sets', 'Marks', '', 'name', 'Other'],
      ['/utm-templates', 'Marks', '', 'utm_source', null],
    ] as const
    for (const [list, name, rest, field, value] of things) {
      const before = await marked(list, name)
      const path = `${list.replace(/\?.*/, '')}/${before.id}${rest}`
      for (const to of [value, before[field]]) {
        expectStatus(await stage.api.patch(path, { [field]: to }), 200)
      }
    }
    assert.match((await ended(0, ['apply', file])).stdout, /^No changes/)
    for (const [list, name] of things) {
      const { managed_at, updated_at } = await marked(list, name)
      assert.equal(managed_at, updated_at, list)
    }
  })

  test('take what no set has with --adopt alone, and never what another set has', async () => {
    const body = { domain: 'localhost', key: 'adopted', url: DESTINATION }
    expectStatus(await stage.api.post('/links', body), 201)
    const text = (set: string) =>
      `version: 1\nset: ${set}\nlinks:\n  - {link: localhost/adopted, url: ${DESTINATION}}\n`
    const file = write(text('adopting'))
    const refused = await ended(1, ['apply', file, '--yes'])
    assert.match(refused.stdout, /^! localhost\/adopted {2}\S+:4:5 exists, and belongs to no set/m)
    assert.match(refused.stderr, /Nothing was sent/)
    await ended(0, ['apply', file, '--yes', '--adopt'])
    assert.equal((await linkAt('adopted')).options.managed_by, 'adopting')
    const foreign = await ended(1, ['plan', write(text('other')), '--adopt'])
    assert.match(foreign.stdout, /belongs to the set adopting/)
  })

  test('delete what leaves the file, unless prevent_delete keeps it', async () => {
    const head = 'version: 1\nset: kept\n'
    const kept = `  - {link: localhost/kept, url: ${DESTINATION}, prevent_delete: true}\n`
    const file = write(`${head}links:\n${kept}${linesOf(1, 'gone')}\n`)
    await ended(0, ['apply', file, '--yes'])
    write(`${head}links:\n`)
    const { stdout } = await ended(1, ['apply', file, '--yes'])
    assert.match(stdout, /^- localhost\/gone-0\n! localhost\/kept {2}kept: prevent_delete/m)
    assert.notEqual(await linkAt('gone-0'), undefined)
    write(`${head}prevent_delete: true\nlinks:\n${kept}`)
    assert.match((await ended(1, ['plan', file])).stdout, /^! localhost\/gone-0 .*the file has/m)
    write(`${head}links:\n${kept.replace('true', 'false')}`)
    await ended(0, ['apply', file, '--yes'])
    assert.equal(await linkAt('gone-0'), undefined)
    write(`${head}links:\n`)
    await ended(0, ['apply', file, '--yes'])
    assert.equal(await linkAt('kept'), undefined)
  })

  test('find taken addresses among many, and name those that the service refuses', async () => {
    const body = { domain: 'localhost', key: 'many-7', url: DESTINATION }
    expectStatus(await stage.api.post('/links', body), 201)
    const file = write(`version: 1\nset: many\nlinks:\n${linesOf(120, 'many')}\n`)
    assert.match((await ended(1, ['plan', file])).stdout, /^! localhost\/many-7 /m)
    await ended(0, ['apply', file, '--yes', '--adopt'])
    const shared = await stage.service.api('neighbours')
    expectStatus(await shared.post('/links', { ...body, key: 'theirs' }), 201)
    const links = ['theirs', 'ours'].map(
      (key) => `  - {link: localhost/${key}, url: ${DESTINATION}}`,
    )
    const taken = write(`version: 1\nset: taken\nlinks:\n${links.join('\n')}\n`)
    const { stderr } = await ended(1, ['apply', taken, '--yes'])
    assert.match(stderr, /^localhost\/theirs: key is taken/m)
    assert.equal((await linkAt('ours')).options.managed_by, 'taken')
  })

  test('two applies of a file at once end as one', async () => {
    const file = write(`version: 1\nset: twice\nlinks:\n${linesOf(300, 'twice')}\n`, 'twice.yaml')
    const both = [1, 2].map(() => runCli(['apply', file, '--yes'], env()))
    for (const { code, stderr } of await Promise.all(both)) assert.equal(code, 0, stderr)
    await ended(0, ['plan', file])
  })

  test('apply again what waited for a rule set that another apply has made meanwhile', async () => {
    const file = write(`version: 1
set: raced
rule_sets: [{name: Raced, rules: []}]
links: [{link: localhost/raced, url: https://example.com/, rule_set: Raced}]
`)
    const proxy = await startProxy(stage.service.baseUrl, async (method, url) => {
      if (method === 'POST' && url.endsWith('/rule-sets')) {
        await stage.api.post('/rule-sets', { name: 'Raced', rules: [], managed_by: 'raced' })
      }
      return 'pass'
    })
    await ended(0, ['apply', file, '--yes'], { TERSE_URL: proxy.url })
    proxy.close()
    assert.notEqual((await linkAt('raced')).options.rule_set, null)
    await ended(0, ['plan', file])
  })

  test('killed anywhere and run again, apply ends as a whole run', async () => {
    const editions = [linesOf(10, 'k'), linesOf(20, 'k').replace(/}$/gm, '?2}')]
    const [first = '', second = ''] = editions.map((lines, nth) => {
      const text = `${SALE}${lines}\n`.replace('set: sale', 'set: killed')
      return write(text.replaceAll('localhost/', 'go.sale.example/'), `killed-${nth}.yaml`)
    })
    const [whole, killed] = [
      { ...env(await stage.service.token('whole')), SALE_PASSWORD: 'secret' },
      { ...env(await stage.service.token('killed')), SALE_PASSWORD: 'secret' },
    ]
    const killedAt = (file: string, isPoint: Parameters<typeof killAt>[3]) =>
      killAt(stage.service.baseUrl, ['apply', file, '--yes'], killed, isPoint)
    for (const file of [first, second]) await ended(0, ['apply', file, '--yes'], whole)
    // A domain without its mark; all but links; links that are created, and others not yet changed.
    await killedAt(first, (method, url) => method === 'PATCH' && url.endsWith('/settings'))
    await killedAt(first, (_, url) => url.includes('/links/bulk'))
    await ended(0, ['apply', first, '--yes'], killed)
    await killedAt(second, (_, url, count) => url.includes('/links/bulk') && count === 2)
    const rest = await ended(2, ['plan', second], killed)
    assert.match(rest.stdout, /^0 to create, 10 to change, 0 to delete\.$/m)
    await ended(0, ['apply', second, '--yes'], killed)
    const [one, two] = [
      await ended(0, ['pull', '--set', 'killed'], whole),
      await ended(0, ['pull', '--set', 'killed'], killed),
    ]
    assert.equal(two.stdout, one.stdout)
    await ended(0, ['plan', second], killed)
  })
})

onSqlite('commands of links as code', (stage) => {
  const { terse, write, env } = openDesk(stage)

  test('end with 1 for faults of the file, missing rights and a missing confirmation', async () => {
    const broken = await terse(['plan', write('version: 1\nset: a\nlinks: [{url: x}]\n')])
    assert.equal(broken.code, 1)
    assert.match(broken.stderr, /links\.yaml:3:\d+ links\[0\]\.url: must be an absolute URL/)
    const file = write(`version: 1\nset: rights\nlinks:\n${linesOf(1, 'rights')}\n`)
    const reading = await stage.service.token('acme', ['links:read'])
    assert.equal((await terse(['plan', file], env(reading))).code, 2)
    const refused = await terse(['apply', file, '--yes'], env(reading))
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /links:write/)
    const silent = await terse(['apply', file])
    assert.match(silent.stderr, /--yes is needed/)
    assert.equal((await terse(['plan', path.join(tmpdir(), 'none.yaml')])).code, 1)
    const half = await terse(['plan', file], { TERSE_TOKEN: '' })
    assert.deepEqual([half.code, /TERSE_TOKEN is missing/.test(half.stderr)], [3, true])
  })

  test('ask in a terminal, and print JSON alone on standard output', async () => {
    const file = write(`version: 1\nset: asked\nlinks:\n${linesOf(1, 'asked')}\n`)
    const declined = await runCommand(['apply', file], env(), 'no')
    assert.deepEqual([declined.code, declined.stderr], [1, 'terse: Nothing was changed.\n'])
    const agreed = await runCommand(['apply', file, '--json'], env(), 'yes')
    assert.equal(agreed.code, 0, agreed.stderr)
    const { set, create, failures } = JSON.parse(agreed.stdout)
    assert.deepEqual([set, create, failures], ['asked', 1, []])
  })

  test('change where examples lead with --accept-changes alone, and delete nothing before that works', async () => {
    const text = (url: string, more = '') =>
      `version: 1\nset: tried\nlinks:\n  - {link: localhost/tried, url: ${url}}\n${more}`
    const file = write(text(DESTINATION, linesOf(1, 'held')))
    assert.equal((await terse(['apply', file, '--yes'])).code, 0)
    const { body } = await stage.api.get('/links?key=tried')
    const examples = { examples: [{ name: 'All', visitor: {} }] }
    expectStatus(await stage.api.put(`/links/${body.data[0].id}/examples`, examples), 200)
    write(text(`${DESTINATION}other`))
    const refused = await terse(['apply', file, '--yes'])
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /^localhost\/tried: .* Give --accept-changes/m)
    assert.match(refused.stderr, /Changes that failed: 1\. Deletions wait until they work: 1\.$/m)
    assert.equal((await stage.api.get('/links?key=held-0')).body.data.length, 1)
    const accepted = await terse(['apply', file, '--yes', '--accept-changes'])
    assert.equal(accepted.code, 0, accepted.stderr)
    assert.equal((await stage.api.get('/links?key=held-0')).body.data.length, 0)
  })

  test('pull writes a file once, in the format of its name, and what no set has on request', async () => {
    const body = { domain: 'localhost', key: 'loose', url: DESTINATION }
    expectStatus(await stage.api.post('/links', body), 201)
    const file = write('', 'pulled.json')
    rmSync(file)
    const pull = ['pull', '--set', 'loose', '--adopt', '-o', file]
    assert.equal((await terse(pull)).code, 0)
    const { links } = JSON.parse(readFileSync(file, 'utf8'))
    assert.deepEqual(links, [{ link: 'localhost/loose', url: DESTINATION }])
    const again = await terse(pull)
    assert.deepEqual([again.code, /--force/.test(again.stderr)], [1, true])
    assert.equal((await terse([...pull, '--force'])).code, 0)
    assert.ok(existsSync(file))
    const { code, stdout } = await terse(['plan', file, '--adopt'])
    assert.equal(code, 2)
    assert.match(stdout, /^~ localhost\/loose\n {4}managed_by: – → loose\n\n0 to create, 1 to/m)
    assert.equal((await terse(['pull', '--set', 'No!'])).code, 5)
  })

  test('run as the pipelines of the documents have them, with the plan of their example', async () => {
    const page = 'docs/links-as-code.md'
    const [example = '', github = '', gitlab = ''] = readExamples(page)
      .filter(({ language }) => language === 'yaml')
      .map(({ text }) => text)
    const folder = path.dirname(write(example))
    const program = `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`
    chmodSync(write(program, 'terse'), 0o755)
    const { jobs } = parse(github)
    const pipeline = parse(gitlab)
    const runs = [
      jobs.plan.steps.find(({ name }: { name?: string }) => name === 'plan').run,
      pipeline.plan.script.join('\n'),
      jobs.apply.steps.find(({ name }: { name?: string }) => name === 'apply').run,
      pipeline.apply.script.join('\n'),
    ]
    const summary = path.join(folder, 'summary.md')
    const variables = {
      ...{ ...INHERITED_ENV, ...env(), PATH: `${folder}:${process.env.PATH}` },
      ...{ GITHUB_STEP_SUMMARY: summary, PARTNERS_PASSWORD: 'secret' },
    }
    for (const script of runs) {
      const shell = spawn('bash', ['-e', '-c', script], { cwd: folder, env: variables })
      const [output, [code]] = await Promise.all([shell.stderr.toArray(), once(shell, 'close')])
      assert.equal(code, 0, `${script}\n${Buffer.concat(output)}`)
    }
    assert.match(
      readFileSync(summary, 'utf8'),
      /^```diff\n[\s\S]*^\+ go\.acme\.com\/spring$[\s\S]*```\n$/m,
    )
    assert.equal((await terse(['plan', path.join(folder, 'links.yaml')])).code, 0)
  })

  test('print the JSON Schema that the documents have', async () => {
    const { stdout } = await terse(['plan', '--schema'])
    const documented = new URL('../../docs/links-schema.json', import.meta.url)
    assert.deepEqual(JSON.parse(stdout), JSON.parse(readFileSync(documented, 'utf8')))
  })
})

/**
 * Starts a proxy before a service.
 *
 * @param before called with each request; one that it does not pass on gets no answer
 */
async function startProxy(
  target: string,
  before: (method: string, url: string) => Promise<'pass' | 'drop'>,
): Promise<{ readonly url: string; close(): void }> {
  const proxy = createServer(async (request, response) => {
    const { method = '', url = '' } = request
    if ((await before(method, url)) === 'drop') {
      request.destroy()
      return
    }
    const answer = await fetch(`${target}${url}`, {
      method,
      headers: headersOf(request),
      ...(method !== 'GET' && { body: Buffer.concat(await request.toArray()) }),
    })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
    response.end(Buffer.from(await answer.arrayBuffer()))
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const { port } = proxy.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => proxy.close() }
}

/** Runs a command behind a proxy, which kills it instead of passing on the request at which `isPoint`. */
async function killAt(
  target: string,
  args: readonly string[],
  env: Record<string, string>,
  isPoint: (method: string, url: string, bulkRequests: number) => boolean,
): Promise<void> {
  let bulkRequests = 0
  const proxy = await startProxy(target, async (method, url) => {
    if (url.includes('/links/bulk')) bulkRequests += 1
    if (!isPoint(method, url, bulkRequests)) return 'pass'
    child.kill('SIGKILL')
    return 'drop'
  })
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...INHERITED_ENV, ...env, TERSE_URL: proxy.url },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code, signal] = await once(child, 'exit')
  proxy.close()
  assert.deepEqual([code, signal], [null, 'SIGKILL'], 'it ended before it was killed')
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  const kept = ['authorization', 'content-type', 'idempotency-key', 'if-match', 'accept']
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      kept.includes(name) && typeof value === 'string' ? [[name, value]] : [],
    ),
  )
}
