import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { expectStatus } from '../support/api.ts'
import { compatToken } from '../support/compat.ts'
import { INHERITED_ENV } from '../support/inherited-env.ts'
import { onSqlite } from '../support/on-each-engine.ts'
import { skipWithout } from '../support/programs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { ROOT, readExamples } from './read-examples.ts'

const PAGE = 'docs/recipes.md'
const FILES = path.join(ROOT, 'docs/recipes')
const APPS_SCRIPT = fileURLToPath(new URL('run-apps-script.ts', import.meta.url))
/** With what JSON, forms and templates escape. */
const ADDRESS = 'https://example.com/a%20b?c="d"&e=\'f\'#g'
const DESTINATION = new URL(ADDRESS).href

type Variables = Readonly<Record<string, unknown>>

const bodyOf = async (response: Response) => (await response.json()) as Variables

/** Evaluates an expression between double braces, as far as n8n, Jinja and JavaScript have the same. */
function evaluate(template: string, variables: Variables): unknown {
  const [, expression = ''] = /^\{\{(.+)\}\}$/s.exec(template) ?? assert.fail(template)
  const [value = '', filter] = expression.split('|').map((part) => part.trim())
  const result = new Function(...Object.keys(variables), `return (${value})`)(
    ...Object.values(variables),
  )
  return filter === 'to_json' ? JSON.stringify(result) : result
}

onSqlite('recipes', (stage) => {
  let token: string
  before(async () => {
    token = await stage.service.token('acme', ['links:write'])
  })

  /** What a reader has put their own host, domain and token into. */
  const adapted = (template: string, secret = token) =>
    template
      .replaceAll('https://go.example.com', stage.service.baseUrl)
      .replaceAll('go.example.com', 'localhost')
      .replaceAll('terse_…', secret)
  const readFile = (name: string) => adapted(readFileSync(path.join(FILES, name), 'utf8'))

  async function run(
    command: string,
    args: readonly string[],
    options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
  ) {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: { ...INHERITED_ENV, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
    const [stdout, stderr, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      ended,
    ])
    return { stdout, stderr, code }
  }

  async function expectLink(link: unknown, url = DESTINATION): Promise<void> {
    const { pathname } = new URL(String(link))
    const query = `domain=localhost&key=${encodeURIComponent(pathname.slice(1))}`
    const { data } = expectStatus(await stage.api.get(`/links?${query}`), 200).body
    assert.deepEqual([data.length, data[0]?.url], [1, url], String(link))
  }

  test('of ShareX send what shortens an address, and read the link or the error', async () => {
    const uploader = JSON.parse(readFile('terse.sxcu'))
    assert.deepEqual(
      [uploader.DestinationType, uploader.RequestMethod, uploader.Body],
      ['URLShortener', 'POST', 'JSON'],
    )
    const send = async (input: string) => {
      // ShareX escapes the input of a body that is JSON.
      const body = uploader.Data.replace('{input}', JSON.stringify(input).slice(1, -1))
      const headers = { ...uploader.Headers, 'Content-Type': 'application/json' }
      const response = await fetch(uploader.RequestURL, { method: 'POST', headers, body })
      const answer = await bodyOf(response)
      const read = (syntax: string) => answer[/^\{json:(\w+)\}$/.exec(syntax)?.[1] ?? '']
      return { link: read(uploader.URL), error: read(uploader.ErrorMessage) }
    }
    await expectLink((await send(ADDRESS)).link)
    assert.equal(typeof (await send('no address')).error, 'string')
  })

  test('of Shortcuts send what shortens an address', async () => {
    const page = adapted(readFileSync(path.join(ROOT, PAGE), 'utf8'))
    const [, row = ''] = /\| \*Get Contents of URL\* \| (.+) \|/.exec(page) ?? []
    const [url = '', method, name = '', value = '', domain = '', host, key = ''] = [
      ...row.matchAll(/`([^`]+)`/g),
    ].map(([, quoted = '']) => quoted)
    const response = await fetch(url, {
      ...(method !== undefined && { method }),
      headers: { [name]: value, 'Content-Type': 'application/json' },
      body: JSON.stringify({ [domain]: host, [key]: ADDRESS }),
    })
    await expectLink((await bodyOf(response)).link)
  })

  test('of n8n send what shortens the address of the node before', async () => {
    const { nodes, connections } = JSON.parse(readFile('n8n.json'))
    const nodeOf = (name: string) => nodes.find((node: Variables) => node.name === name)
    const next = (name: string) => nodeOf(connections[name].main[0][0].node)
    const page = next('Start')
    const { parameters } = next(page.name)
    const { name, value } = page.parameters.assignments.assignments[0]
    const body = evaluate(parameters.jsonBody.slice(1), { $json: { [name]: value } })
    const response = await fetch(parameters.url, {
      method: parameters.method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: String(body),
    })
    await expectLink((await bodyOf(response)).link, value)
  })

  test('of Home Assistant shorten an address, and read the clicks of a link', async () => {
    const reading = await stage.service.token('acme', ['links:write', 'links:read'])
    const secrets = { terse_authorization: `Bearer ${reading}` }
    const secret = {
      tag: '!secret',
      resolve: (name: string) => secrets[name as keyof typeof secrets],
    }
    const { rest_command, script, sensor } = parse(readFile('home-assistant.yaml'), {
      customTags: [secret],
    })
    const { url, method, headers, content_type, payload } = rest_command.short_link
    const response = await fetch(url, {
      method: method.toUpperCase(),
      headers: { ...headers, 'Content-Type': content_type },
      body: String(evaluate(payload, { url: ADDRESS })),
    })
    const answer = { content: await response.json() }
    const [call, notice] = script.short_link_of_page.sequence
    assert.deepEqual([call.action, call.response_variable], ['rest_command.short_link', 'answer'])
    const message = notice.data.message.replace(' or ', ' || ')
    await expectLink(evaluate(message, { answer }))

    const created = { domain: 'localhost', key: 'menu', url: ADDRESS }
    expectStatus(await stage.api.post('/links', created), 201)
    const [{ resource, value_template, ...sent }] = sensor
    const value_json = await (await fetch(resource, { headers: sent.headers })).json()
    assert.equal(evaluate(value_template, { value_json }), 0)
  })

  test('of Excel and LibreOffice get the same link each time', async () => {
    const key = await compatToken(stage.service, 'compat:polr')
    const { text: formula = '' } =
      readExamples(PAGE).find(({ language }) => language === 'text') ?? {}
    const [, url = ''] = /^=WEBSERVICE\("(.+)" & ENCODEURL\(A2\)\)$/.exec(formula) ?? []
    const calculate = async () => {
      const response = await fetch(adapted(url, key) + encodeURIComponent(ADDRESS))
      return response.text()
    }
    const link = await calculate()
    await expectLink(link)
    assert.equal(await calculate(), link)
  })

  test('of Google Sheets shorten the selected addresses, once', {
    skip: skipWithout('curl'),
  }, async (t) => {
    const cwd = temporaryFolder(t)
    const file = path.join(cwd, 'short-links.gs')
    writeFileSync(file, readFile('short-links.gs'))
    const sheet = async (addresses: readonly string[], beside: readonly string[]) => {
      const input = path.join(cwd, 'input.json')
      writeFileSync(input, JSON.stringify({ file, token, addresses, beside }))
      const { stdout, stderr } = await run(process.execPath, [APPS_SCRIPT, input], { cwd })
      assert.equal(stderr, '')
      return JSON.parse(stdout)
    }
    const first = await sheet([ADDRESS, '', ADDRESS], ['', '', 'kept'])
    assert.deepEqual([first.error, first.beside.slice(1)], [undefined, ['', 'kept']])
    await expectLink(first.beside[0])
    const failed = await sheet([ADDRESS, 'no address', ADDRESS], ['', '', ''])
    assert.match(failed.error, /url/i)
    await expectLink(failed.beside[0])
    assert.deepEqual(failed.beside.slice(1), ['', ''])
  })

  test('of Raycast copy the link of the address, or of the clipboard', {
    skip: skipWithout('curl'),
  }, async (t) => {
    const cwd = temporaryFolder(t)
    const standIn = (name: string, line: string) =>
      writeFileSync(path.join(cwd, name), `#!/bin/sh\n${line}\n`, { mode: 0o755 })
    standIn('pbcopy', 'cat > copied')
    standIn('pbpaste', `printf %s '${ADDRESS.replaceAll("'", `'\\''`)}'`)
    standIn('security', `[ "$*" = 'find-generic-password -s terse -w' ] && echo '${token}'`)
    writeFileSync(path.join(cwd, 'raycast.sh'), readFile('raycast.sh'), { mode: 0o755 })
    const env = { PATH: `${cwd}:${process.env.PATH}` }
    const shorten = (...args: string[]) => run('bash', ['raycast.sh', ...args], { cwd, env })
    for (const args of [[ADDRESS], []]) {
      const { stdout, code } = await shorten(...args)
      const copied = readFileSync(path.join(cwd, 'copied'), 'utf8')
      assert.deepEqual([code, stdout], [0, `Copied ${copied}\n`])
      await expectLink(copied)
    }
    const refused = await shorten('no address')
    assert.equal(refused.code, 1)
    assert.doesNotMatch(refused.stdout, /[{}]/)
  })

  test('of git make a link for each tag that is pushed, and stop no push', {
    skip: skipWithout('curl'),
  }, async (t) => {
    const cwd = temporaryFolder(t)
    const person = { NAME: 'A', EMAIL: 'a@example.com' }
    const env = {
      HOME: cwd,
      ...Object.fromEntries(
        Object.entries(person).flatMap(([name, value]) => [
          [`GIT_AUTHOR_${name}`, value],
          [`GIT_COMMITTER_${name}`, value],
        ]),
      ),
    }
    const type = async (lines: string) => {
      const result = await run('bash', ['-ec', lines], { cwd, env })
      assert.equal(result.code, 0, result.stderr)
      return result.stderr
    }
    writeFileSync(path.join(cwd, 'pre-push'), readFile('pre-push'), { mode: 0o755 })
    await type(`git init -q . && git init -q --bare origin && git remote add origin ./origin
      git commit -q --allow-empty -m first && git tag v1.2.0 && git tag v1.3.0`)
    const example = readExamples(PAGE).find(({ runBy }) => runBy?.endsWith('recipes.test.ts'))
    const printed = await type(adapted(example?.text ?? ''))
    assert.match(printed, /^short link: https:\/\/localhost\/tool\/v1\.2\.0$/m)
    const page = 'https://git.example.com/acme/tool/releases/tag/v1.2.0'
    await expectLink('https://localhost/tool/v1.2.0', page)
    const all = await type(`export TERSE_TOKEN=${token}; git push -f origin HEAD v1.2.0 v1.3.0
      git push -f origin :v1.2.0; git push origin v1.2.0`)
    assert.match(all, /v1\.3\.0$/m)
    assert.match(all, /v1\.2\.0 is taken already$/m)
    const refused = await type(
      'TERSE_TOKEN=wrong git push -f origin :v1.3.0 && git push origin v1.3.0',
    )
    assert.match(refused, /^no short link for v1\.3\.0: /m)
  })
})
