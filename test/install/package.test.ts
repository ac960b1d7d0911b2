import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { findBuiltProgram } from '../../bin/built-program.js'
import { VERSION } from '../../src/platform/process/version.ts'
import { apiClient } from '../support/api.ts'
import { installPackage, packPackage } from '../support/built-package.ts'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { INHERITED_ENV } from '../support/inherited-env.ts'
import { startProcess } from '../support/service-process.ts'
import { visit } from '../support/visit.ts'

/** Without Node.js, which is another 211 MB with its headers. */
const INSTALLED_BYTES_MAX = 122_000_000
describe('the npm package', () => {
  let folder: string
  let project: string
  let installed: string

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'terse-package-'))
    project = path.join(folder, 'project')
    installPackage(packPackage(folder), project)
    installed = path.join(project, 'node_modules/@terse/server')
  })
  after(() => rmSync(folder, { recursive: true }))

  const read = (name: string) => readFileSync(path.join(installed, name), 'utf8')

  test('has its version and licence, and the licences of what it contains', () => {
    const args = ['--no', '--', 'terse', '--version']
    assert.equal(execFileSync('npx', args, { cwd: project, encoding: 'utf8' }).trim(), VERSION)
    assert.equal(JSON.parse(read('package.json')).version, VERSION)
    assert.match(read('LICENSE'), /MIT License/)
    const notices = read('THIRD-PARTY-NOTICES.txt')
    for (const name of ['fastify', 'zod', 'react', '@fontsource-variable/geist']) {
      assert.match(
        notices,
        new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(.+\\)\\n\\n.*(?:licen|copy)`, 'im'),
      )
    }
  })

  test('runs the built program, not its single modules', () => {
    assert.match(findBuiltProgram(installed) ?? '', /\/build\/\w+\/main\.js$/)
  })

  test('contains no TypeScript, and the locked version of every package that it needs', () => {
    const names = readdirSync(installed, { recursive: true, encoding: 'utf8' })
    assert.ok(names.length > 500)
    assert.deepEqual(
      names.filter((name) => /\.tsx?$|\.test\.js$/.test(name)),
      [],
    )
    const { packages } = JSON.parse(read('npm-shrinkwrap.json'))
    for (const name of readdirSync(path.join(project, 'node_modules'))) {
      if (/^[.@]/.test(name)) continue
      assert.match(packages[`node_modules/${name}`]?.integrity ?? name, /^sha512-/)
    }
  })

  test(`takes at most ${INSTALLED_BYTES_MAX / 1_000_000} MB with all that it needs but Node.js`, () => {
    const bytes = readdirSync(project, { recursive: true, encoding: 'utf8' })
      .map((name) => lstatSync(path.join(project, name)))
      .reduce((sum, file) => sum + (file.isFile() ? Math.ceil(file.size / 4_096) * 4_096 : 0), 0)
    assert.ok(bytes < INSTALLED_BYTES_MAX, `${bytes}`)
  })

  test('serves redirects, the API and the dashboard from two processes and their threads', async (t) => {
    const place = await SQLITE.createPlace()
    t.after(() => place.remove())
    const program = path.join(project, 'node_modules/.bin/terse')
    const service = await startProcess(place, {}, { program, args: ['--processes', '2'] })
    t.after(() => service.kill())
    const [token] = /terse_\w+/.exec(service.output().stdout) ?? []
    const api = apiClient(`http://localhost:${service.port}`, token)
    const get = (file: string) => visit(service.port, file)
    const link = { domain: 'localhost', url: 'https://example.com/sale' }

    const { body: created } = await api.post('/links', { ...link, key: 'spring' })
    const redirect = await get('/spring')
    assert.equal(redirect.status, 302)
    assert.equal(redirect.headers.location, 'https://example.com/sale')
    // The thread that counts.
    await eventually(async () => {
      const { body } = await api.get('/links?search=spring')
      assert.equal(body.data[0].clicks, 1)
    })
    // The thread that hashes.
    const { status } = await api.post('/links', { ...link, key: 'secret', password: 'open sesame' })
    assert.equal(status, 201)
    assert.match((await get('/secret')).body, /<form/)
    // The thread that draws.
    const picture = await api.get(`/links/${created.id}/qr-code`)
    assert.equal(picture.headers.get('content-type'), 'image/png')

    const page = await get('/app')
    assert.equal(page.status, 200)
    const [script = ''] = /\/app\/assets\/[\w-]+\.js/.exec(page.body) ?? []
    assert.equal((await get(script)).status, 200)
    assert.match((await get('/docs')).body, /operation\/links\.create/)
    assert.equal(await service.stop(), 0)
  })

  test('makes a backup in a process of its own', async (t) => {
    const place = await SQLITE.createPlace()
    t.after(() => place.remove())
    const service = await startProcess(place, {}, { program: path.join(installed, 'bin/terse.js') })
    await service.stop()
    const target = path.join(folder, 'backups')
    const args = [path.join(installed, 'bin/terse.js'), 'backup', target, '--verify']
    execFileSync(process.execPath, args, { env: { ...INHERITED_ENV, ...place.env }, stdio: 'pipe' })
    assert.ok(existsSync(path.join(target, 'owner.json')))
  })
})
