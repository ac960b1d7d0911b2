import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseDatabaseUrl } from './database-url.ts'

describe('parseDatabaseUrl', () => {
  for (const [text, url, servers] of [
    ['postgres://db/terse', 'postgres://db/terse', []],
    ['postgresql://u:p%40@db:5433/terse', 'postgresql://u:p%40@db:5433/terse', []],
    ['postgres:///terse?host=/run/postgresql', 'postgres:///terse?host=/run/postgresql', []],
    [
      'postgres://u:a,b@h1:5433,h2/terse?target_session_attrs=read-write',
      'postgres://u:a,b@h1:5433/terse?target_session_attrs=read-write',
      [
        { host: 'h1', port: 5433 },
        { host: 'h2', port: 5432 },
      ],
    ],
    [
      'postgres://[2001:db8::1]:5432,[2001:db8::2]/terse?target_session_attrs=primary',
      'postgres://[2001:db8::1]:5432/terse?target_session_attrs=primary',
      [
        { host: '2001:db8::1', port: 5432 },
        { host: '2001:db8::2', port: 5432 },
      ],
    ],
  ] as const) {
    test(`accepts ${text}`, () => {
      assert.deepEqual(parseDatabaseUrl(text), { value: { url, servers } })
    })
  }

  for (const text of [
    'mysql://db/terse',
    'postgres:db',
    'postgres://[bad',
    'postgres://h1,/terse',
    'postgres://,h2/terse',
    'postgres://h1,h2:0/terse',
    'postgres://h1,h2:65536/terse',
    'postgres://h1,h2:54a/terse',
    'postgres://h1,[::1/terse',
    'postgres://h1,h2/terse?target_session_attrs=any',
    'postgres://h1/terse?target_session_attrs=standby',
  ]) {
    test(`refuses ${text}`, () => {
      assert.ok('fault' in parseDatabaseUrl(text))
    })
  }
})
