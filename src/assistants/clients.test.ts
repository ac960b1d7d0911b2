import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { EXTENSION_ID } from '@terse/contract/extension-client'
import { callbackOf, isCallbackOf } from './clients.ts'

describe('isCallbackOf', () => {
  const client = (...redirectUris: string[]) => ({ id: 'id', name: 'name', redirectUris })

  for (const [known, asked, isOwn] of [
    ['https://a.example/cb', 'https://a.example/cb', true],
    ['https://a.example/cb', 'https://a.example/cb?x=1', false],
    ['https://a.example/cb', 'https://a.example:8443/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:4711/cb', true],
    ['http://[::1]:1/cb', 'http://[::1]:4711/cb', true],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:4711/other', false],
    ['http://127.0.0.1/cb', 'http://localhost/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1.evil.example/cb', false],
    ['app.example:/cb', 'app.example:/cb', true],
    ['javascript:alert(1)', 'javascript:alert(1)', false],
    ['http://a.example/cb', 'http://a.example/cb', false],
    ['https://u:p@a.example/cb', 'https://u:p@a.example/cb', false],
    // Parsers drop or encode these, PostgreSQL refuses the first.
    ['https://a.example/\0', 'https://a.example/\0', false],
    ['https://a.exa\nmple/cb', 'https://a.exa\nmple/cb', false],
    [' https://a.example/cb', ' https://a.example/cb', false],
    ['https://a.example/\ud800', 'https://a.example/\ud800', false],
  ] as const) {
    test(`is ${isOwn} for ${JSON.stringify(asked)} of a program that has named ${JSON.stringify(known)}`, () => {
      assert.equal(isCallbackOf(client(known), asked), isOwn)
    })
  }

  for (const [asked, isOwn] of [
    ['http://10.0.0.7:3000/app/extension', true],
    ['http://10.0.0.7:3001/app/extension', false],
    ['http://10.0.0.7:3000/app/extension?x=1', false],
  ] as const) {
    test(`is ${isOwn} for ${asked} of the extension of a service without TLS`, () => {
      const redirectUris = ['http://10.0.0.7:3000/app/extension']
      assert.equal(isCallbackOf({ id: EXTENSION_ID, name: 'name', redirectUris }, asked), isOwn)
    })
  }
})

describe('callbackOf', () => {
  for (const [address, kind, place] of [
    ['http://127.0.0.1:33418/cb', 'local', '127.0.0.1:33418'],
    ['https://a.example/cb', 'site', 'a.example'],
    ['cursor://anysphere/cb', 'app', 'cursor'],
  ] as const) {
    test(`names what gets the answer at ${address}`, () => {
      const program = { id: 'id', name: 'name', redirectUris: [address] }
      assert.deepEqual(callbackOf(program, address), { kind, place })
    })
  }
})
