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

onEachEngine('A destination that would lead back here', (stage) => {
  test("is refused in every field: the service's own host, however it is written", async () => {
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

  test('is refused in every field: an active domain of whichever workspace', async () => {
    await createLink(await stage.service.api('other'), { domain: 'other.localhost' })
    await createLink(stage.api, { domain: 'own.localhost' })
    for (const field of DESTINATION_FIELDS) {
      for (const host of ['own.localhost', 'other.localhost', 'OTHER.localhost.']) {
        expectInvalid(await postLink(stage.api, { [field]: `https://${host}/x` }), field)
      }
    }
  })

  test('is refused for a domain of the workspace that is pending still', async () => {
    await createLink(stage.api, { domain: 'pending.example.com' })
    expectInvalid(await postLink(stage.api, { url: 'https://pending.example.com/x' }), 'url')
  })

  test('is refused for the domain that the link itself would claim, and claims nothing', async () => {
    const url = 'https://itself.localhost/x'
    expectInvalid(await postLink(stage.api, { domain: 'itself.localhost', url }), 'url')
    assert.ok(!(await claimedHosts(stage.api)).includes('itself.localhost'))
  })

  test('is refused when the link moves to where it already leads', async () => {
    const link = await createLink(stage.api, { url: 'https://destination.localhost/x' })
    const answer = await stage.api.patch(`/links/${link.id}`, { domain: 'destination.localhost' })
    expectInvalid(answer, 'url')
    assert.equal((await showLink(stage.api, link.id)).domain, 'localhost')
    assert.ok(!(await claimedHosts(stage.api)).includes('destination.localhost'))
  })

  test('is refused by an update too, for all fields at once', async () => {
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

  test('is not seen in hosts that are not served here, nor in ports of other programs', async () => {
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
