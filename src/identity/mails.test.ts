import assert from 'node:assert/strict'
import { test } from 'node:test'
import { invitationMail } from './mails.ts'

test('an invitation makes no link of a name', () => {
  const url = 'https://go.example.com/app/invitation#code=x'
  const names = ['Prize at https://evil.com/win', 'www.evil.com', 'evil。com', 'CI of evil.co.uk']
  for (const invitedBy of names) {
    const given = {
      to: 'ada@example.com',
      host: 'go.example.com',
      workspace: 'acme',
      invitedBy,
      url,
    }
    for (const language of ['en', 'de'] as const) {
      const { subject, text, html } = invitationMail(given, language)
      for (const part of [subject, text, html]) {
        assert.doesNotMatch(part, /evil[.。]|www\.|https:\/\/evil/, part)
      }
      assert.match(text, /evil . co/)
    }
  }
})
