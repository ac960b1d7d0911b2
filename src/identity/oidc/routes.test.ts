import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { localPath } from './routes.ts'

describe('localPath', () => {
  const cases = [
    { text: undefined, path: '/app/' },
    { text: '/app', path: '/app' },
    { text: '/app/links?tag=a#top', path: '/app/links?tag=a#top' },
    { text: '/app/a%2fb', path: '/app/a%2fb' },
    { text: '//evil.example/app/', path: '/app/' },
    { text: '/\\evil.example/app/', path: '/app/' },
    { text: '/app//evil.example', path: '/app//evil.example' },
    { text: 'https://evil.example/app/', path: '/app/' },
    { text: '/\t/evil.example', path: '/app/' },
    { text: '/app/../short-link', path: '/app/' },
    { text: '/app/%2e%2e/short-link', path: '/app/' },
    { text: '/app/..\\short-link', path: '/app/' },
    { text: '/app\\..\\..\\evil', path: '/app/' },
    { text: '/short-link', path: '/app/' },
    { text: '/application', path: '/app/' },
    { text: '/app/\r\nSet-Cookie: a=b', path: '/app/Set-Cookie:%20a=b' },
    { text: '/app/oidc/start', path: '/app/' },
    { text: 'javascript:alert(1)', path: '/app/' },
    { text: `/app/${'x'.repeat(500)}`, path: '/app/' },
  ]
  for (const { text, path } of cases) {
    test(`of ${JSON.stringify(text?.slice(0, 40))} is ${path}`, () => {
      assert.equal(localPath(text, 'https://go.example.com'), path)
    })
  }
})
