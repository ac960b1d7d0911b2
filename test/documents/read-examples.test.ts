import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { commandsOf, readExamples } from './read-examples.ts'
import { isShown } from './shown-output.ts'

describe('readExamples', () => {
  test('returns the blocks of a page with their lines, languages and marks', () => {
    const page = [
      ...[
        '# Page',
        '```sh',
        'a',
        '```',
        '<!-- not run: needs a moon -->',
        '```console',
        '$ b',
        '```',
      ],
      ...['1. Item', '', '   <!-- run by test/a.test.ts -->', '   ```sh', '   c', '   ```'],
      ...['', '```', 'd', '```'],
    ].join('\n')
    assert.deepEqual(readExamples('page.md', page), [
      { page: 'page.md', line: 2, language: 'sh', text: 'a' },
      { page: 'page.md', line: 6, language: 'console', text: '$ b', notRun: 'needs a moon' },
      { page: 'page.md', line: 12, language: 'sh', text: 'c', runBy: 'test/a.test.ts' },
      { page: 'page.md', line: 16, language: '', text: 'd' },
    ])
  })

  test('returns each command of a console with what is shown of its output', () => {
    const text = '$ a\n$ b \\\n    -c\none\n\ntwo\n# d'
    const [example] = readExamples('page.md', `\`\`\`console\n${text}\n\`\`\``)
    assert.ok(example)
    assert.deepEqual(commandsOf(example), [
      { typed: 'a', shown: undefined },
      { typed: 'b \\\n    -c', shown: 'one\n\ntwo' },
      { typed: 'd', shown: undefined },
    ])
  })
})

const ID = '01a1f874-1d3a-753c-b56d-2ef592a9a459'
const OTHER = '01a2100b-1c7d-76b0-a936-f900bef1ffde'
const CASES: readonly { shown: string; printed: string; isSame: boolean }[] = [
  { shown: '{"clicks":1}', printed: '{"clicks":1}\n', isSame: true },
  { shown: '{"clicks":1}', printed: '{"clicks":2}', isSame: false },
  { shown: `{"id":"${ID}"}`, printed: `{"id":"${OTHER}"}`, isSame: true },
  { shown: `{"id":"${ID}"}`, printed: '{"id":null}', isSame: false },
  { shown: '{"id":"01a1f874-…"}', printed: `{"id":"${OTHER}"}`, isSame: true },
  { shown: '{"id":"01a1f874-…"}', printed: '{"id":"x"}', isSame: false },
  {
    shown: '{"at":"2026-11-20T10:06:50.363298Z"}',
    printed: '{"at":"2027-01-02T00:00:00.000001Z"}',
    isSame: true,
  },
  { shown: '{"at":"2026-11-20T10:06:50.363298Z"}', printed: '{"at":"2027-01-02"}', isSame: false },
  { shown: '{"a":1,…,"z":1}', printed: '{"a":1,"b":2,"z":1}', isSame: true },
  { shown: '{"a":1,…,"z":1}', printed: '{"a":1,\n"b":2,"z":1}', isSame: false },
  { shown: 'first\n…\nlast', printed: 'first\nsecond\nthird\nlast', isSame: true },
  { shown: 'first\n…\nlast', printed: 'first\nlast', isSame: true },
  { shown: 'first\n…', printed: 'first', isSame: true },
  { shown: '…\nlast', printed: 'first\nlast', isSame: true },
  { shown: '…\nlast', printed: 'last\nmore', isSame: false },
]

describe('isShown', () => {
  for (const { shown, printed, isSame } of CASES) {
    test(`finds ${JSON.stringify(printed)} ${isSame ? 'shown' : 'not shown'} by ${JSON.stringify(shown)}`, () =>
      assert.equal(isShown(shown, printed), isSame))
  }
})
