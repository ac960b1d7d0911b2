import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatXml } from './xml.ts'

test('formatXml escapes texts, keeps tabs, and leaves out what XML cannot contain', () => {
  const fields = {
    title: 'a\tb\r\n<c> & "d"\0\x0b\ufffe',
    none: undefined,
    empty: '',
    list: { n: 1 },
  }
  assert.equal(
    formatXml('root', fields),
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
      '<root><title>a\tb&#13;\n&lt;c&gt; &amp; "d"</title><empty/><list><n>1</n></list></root>\n',
  )
})
