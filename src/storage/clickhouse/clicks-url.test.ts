import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseClicksUrl } from './clicks-url.ts'

const ONE = { cluster: undefined, partition: 'month' }

describe('parseClicksUrl', () => {
  for (const [text, value] of Object.entries({
    'clickhouse://terse@ch.internal:9000/clicks': {
      ...ONE,
      origins: ['http://ch.internal:9000'],
      username: 'terse',
      database: 'clicks',
    },
    'clickhouse://ch.internal/clicks': {
      ...ONE,
      origins: ['http://ch.internal:8123'],
      username: 'default',
      database: 'clicks',
    },
    'https://a%40b@[::1]/clicks?partition=day': {
      origins: ['https://[::1]:8443'],
      username: 'a@b',
      database: 'clicks',
      cluster: undefined,
      partition: 'day',
    },
    'clickhouse://terse@h1,h2:8124/clicks?cluster=west-1': {
      ...ONE,
      origins: ['http://h1:8123', 'http://h2:8124'],
      username: 'terse',
      database: 'clicks',
      cluster: 'west-1',
    },
  })) {
    test(`reads ${text}`, () => assert.deepEqual(parseClicksUrl(text), { value }))
  }

  for (const [text, fault] of Object.entries({
    'http://host/a': /must be like clickhouse/,
    'clickhouse://host': /must be like clickhouse/,
    'clickhouse://host:70000/a': /must be like clickhouse/,
    'clickhouse://%E0@host/a': /must be like clickhouse/,
    'clickhouse://host/a;drop': /must be like clickhouse/,
    'clickhouse://u:secret@host/a': /^must not have a password/,
    'clickhouse://h1,h2/a': /must name the cluster/,
    "clickhouse://h1/a?cluster=x'y": /must name a cluster by/,
    'clickhouse://h1/a?partition=hour': /partition=month or partition=day/,
    'clickhouse://h1/a?secure=1': /may have cluster and partition/,
  })) {
    test(`refuses ${text}`, () => {
      const parsed = parseClicksUrl(text)
      assert.match('fault' in parsed ? parsed.fault : '', fault)
      assert.doesNotMatch('fault' in parsed ? parsed.fault : '', /secret/)
    })
  }
})
