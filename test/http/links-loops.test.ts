import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Api, expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { createLink, DESTINATION_FIELDS, postLink, showLink } from '../support/links.ts'
import { onEachEngine } from '../support/on-each-engine.ts'

async function claimedHosts(api: Api): Promise<string[]> {
  const { body } = expectStatus(await api.get('/domains'), 200)
  return body.data.map((domain: { domain: string }) => domain.domain)
}

onEachEngine('a destination that leads back to the service', (stage) => {
  test('returns 422 in every field for the service’s own host, in every spelling', async () => {
    const port = stage.service.port
    for (const field of DESTINATION_FIELDS) {
      for (const url of [
        'https://localhost/x',
        'http://localhost',
        `http://localhost:${port}/x`,
        'https://LOCALHOST/x',
        'https://localhost./x',
      ]) {
        for (const domain of ['localhost', 'elsewhere.localhost']) {
          expectInvalid(await postLink(stage.api, { domain, [field]: url }), field)
        }
      }
    }
  })

  test('returns 422 in every field for an active domain of any workspace', async () => {
    await createLink(await stage.service.api('other'), { domain: 'other.localhost' })
    await createLink(stage.api, { domain: 'own.localhost' })
    for (const field of DESTINATION_FIELDS) {
      for (const host of ['own.localhost', 'other.localhost', 'OTHER.localhost.']) {
        expectInvalid(await postLink(stage.api, { [field]: `https://${host}/x` }), field)
      }
    }
  })

  test('returns 422 for a pending domain of the workspace', async () => {
    await createLink(stage.api, { domain: 'pending.example.com' })
    expectInvalid(await postLink(stage.api, { url: 'https://pending.example.com/x' }), 'url')
  })

  test('returns 422 for the domain that the link itself would claim, and claims nothing', async () => {
    const url = 'https://itself.localhost/x'
    expectInvalid(await postLink(stage.api, { domain: 'itself.localhost', url }), 'url')
    assert.ok(!(await claimedHosts(stage.api)).includes('itself.localhost'))
  })

  test('returns 422 when the link moves to the host of its destination', async () => {
    const link = await createLink(stage.api, { url: 'https://destination.localhost/x' })
    const answer = await stage.api.patch(`/links/${link.id}`, { domain: 'destination.localhost' })
    expectInvalid(answer, 'url')
    assert.equal((await showLink(stage.api, link.id)).domain, 'localhost')
    assert.ok(!(await claimedHosts(stage.api)).includes('destination.localhost'))
  })

  test('returns 422 for an update too, on all fields at once', async () => {
    const { id } = await createLink(stage.api)
    const loops = Object.fromEntries(
      DESTINATION_FIELDS.map((field) => [field, 'https://localhost/']),
    )
    expectInvalid(await stage.api.patch(`/links/${id}`, loops), ...DESTINATION_FIELDS)
    expectInvalid(
      await stage.api.put(`/links/${id}`, { ...loops, domain: 'localhost' }),
      ...DESTINATION_FIELDS,
    )
  })

  test('is not assumed for hosts that are not served here, or ports of other programs', async () => {
    await createLink(await stage.service.api('other'), { domain: 'unproved.example.com' })
    for (const url of [
      'https://localhost:8443/',
      'https://unproved.example.com/',
      'https://sub.own.localhost/',
      'https://localhost.example.com/',
    ]) {
      await createLink(stage.api, { url })
    }
  })
})
