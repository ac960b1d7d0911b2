import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { LinkRecord } from '../../src/imports/import-source.ts'
import { LinkVerification } from '../../src/imports/verify/link-verification.ts'
import { Failure } from '../../src/platform/failure.ts'
import { type ApiAnswer, type SourceApi, startSourceApi } from '../support/source-api.ts'
import { describeStore } from '../support/store.ts'
import { FakeSource, linkRecord } from './fake-source.ts'
import { importServices } from './import-services.ts'

const redirect = (location: string): ApiAnswer => ({ status: 302, text: '', headers: { location } })
/** What the old service answers. */
const OLD: Record<string, ApiAnswer> = {
  '/same': redirect('https://example.com/same?utm_source=old'),
  '/grüße/ü': redirect('https://example.com/u%CC%88'),
  '/changed': redirect('https://example.com/elsewhere'),
  '/locked': redirect('/protected/locked'),
  '/banned': { status: 200, text: 'This link was banned.' },
  '/archived': redirect('https://example.com/archived'),
}
const RECORDS: (Partial<LinkRecord> & Pick<LinkRecord, 'key'>)[] = [
  { key: 'same', utm_source: 'old' },
  { key: 'grüße/ü', url: 'https://example.com/u%cc%88' },
  { key: 'changed' },
  { key: 'locked', protection: { kind: 'unknown password' } },
  { key: 'banned', closed: 'It is banned.' },
  { key: 'archived', closed: 'It is archived.' },
  { key: 'missing' },
]
const OPTIONS = {
  importId: undefined,
  scheme: 'http',
  requestsPerSecond: 1_000,
  allowsPrivate: true,
  terseAt: undefined,
  signal: new AbortController().signal,
} as const

describeStore('the verification of an import', (at) => {
  let old: SourceApi

  before(async () => {
    old = await startSourceApi(({ path }) => OLD[path] ?? { status: 404, text: 'nothing' })
  })
  after(() => old.close())

  async function imported() {
    const services = await importServices(at)
    const { actor, importAll, store, serviceHost, clock } = services
    const source = new FakeSource(
      RECORDS.map((record) =>
        linkRecord({ url: `https://example.com/${record.key}`, domain: null, ...record }),
      ),
    )
    const { ended } = await importAll(source)
    const verification = new LinkVerification({ store, serviceHost, clock })
    const ownUrl = new URL(old.url)
    return { ...services, ended, verification, ownUrl, workspaceId: actor.workspaceId }
  }

  test('compares what Terse would answer with what the old service answers', async () => {
    const { verification, ownUrl, workspaceId, ended } = await imported()
    for (const importId of [undefined, ended.id]) {
      const options = { ...OPTIONS, ownUrl, importId }
      const found = await Array.fromAsync(verification.run(workspaceId, options))
      assert.deepEqual(
        found.map(({ oldLink, verdict }) => `${decodeURI(oldLink.pathname)} ${verdict}`),
        [
          ...['/same same', '/grüße/ü same', '/changed different', '/locked same', '/banned same'],
          ...['/archived different', '/missing different'],
        ],
      )
      const changed = found[2]
      assert.equal(
        changed?.before.kind === 'redirect' && changed.before.location,
        'https://example.com/elsewhere',
      )
      assert.equal(
        changed?.now.kind === 'redirect' && changed.now.location,
        'https://example.com/changed',
      )
    }
  })

  test('asks Terse itself at a given address', async () => {
    const { verification, ownUrl, workspaceId, host } = await imported()
    const terse = await startSourceApi(({ path, headers }) =>
      headers.host === host ? redirect(`https://example.com${path}`) : { status: 404, text: '' },
    )
    const options = { ...OPTIONS, ownUrl, terseAt: new URL(terse.url) }
    const found = await Array.fromAsync(verification.run(workspaceId, options))
    await terse.close()
    const open = found.filter(({ now }) => now.kind === 'redirect')
    assert.equal(open.length, RECORDS.length)
    assert.deepEqual(
      found
        .filter(({ reason }) => reason.endsWith('Terse redirects.'))
        .map(({ link }) => link.pathname),
      ['/locked', '/banned', '/missing'],
    )
  })

  test('asks no old service in a private network unless that is allowed', async () => {
    const { verification, ownUrl, workspaceId } = await imported()
    const requests = old.requests.length
    const options = { ...OPTIONS, ownUrl, allowsPrivate: false }
    await assert.rejects(Array.fromAsync(verification.run(workspaceId, options)), {
      name: 'PrivateServiceFault',
    })
    assert.equal(old.requests.length, requests)
  })

  test('fails where the address of the old service is missing, and for other workspaces', async () => {
    const { verification, ownUrl, workspaceId, ended } = await imported()
    const { actor } = await importServices(at)
    const read = (workspace: string, options: { ownUrl: URL | undefined; importId?: string }) =>
      Array.fromAsync(verification.run(workspace, { ...OPTIONS, ...options }))
    await assert.rejects(read(workspaceId, { ownUrl: undefined }), /name it with --old-url/)
    const foreign = read(actor.workspaceId, { ownUrl, importId: ended.id })
    await assert.rejects(foreign, (error) => error instanceof Failure && error.code === 'not_found')
  })
})
