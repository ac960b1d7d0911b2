import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { faultText } from '../fault-text.ts'
import { faults } from './faults.ts'

const ROOT = new URL('../../../../', import.meta.url)

/** Where the faults of fields are worded: each is the end of a sentence, such as `must not be empty`. */
const SOURCES_OF_FAULTS = [
  'contract/*.ts',
  'src/clicks/report/*.ts',
  'src/domains/*.ts',
  'src/events/*.ts',
  'src/exports/*.ts',
  'src/hosts/*.ts',
  'src/identity/{members,people,quotas,second-factors,setup,sign-in,tokens,workspaces}/*.ts',
  'src/imports/{import-files,imports,source-kinds}.ts',
  'src/links/*.ts',
  'src/links/{qr,utm-templates}/*.ts',
  'src/platform/http/api/*.ts',
]
const FAULT =
  /^(?:can|cannot|does|has|have|holds|is|leads|may|must|needs|takes|was|were|works|would) (?!=)[^\n]+$/

/** Where whole sentences are worded, and nothing else is a sentence. */
const SOURCES_OF_SENTENCES = [
  'src/domains/domain-checks.ts',
  'src/identity/members/{accept-invitation,invitations}.ts',
  'src/identity/people/{password-resets,reset-links}.ts',
  'src/identity/permissions.ts',
  'src/identity/quotas/rate-limit.ts',
  'src/identity/second-factors/code-limits.ts',
  'src/identity/sessions/session-answers.ts',
  'src/identity/sign-in/sign-in-limits.ts',
  'src/identity/tokens/authenticator.ts',
  'src/platform/failure.ts',
  'src/platform/http/api/{api-paths,entity-tags,idempotency,json-body,problem}.ts',
  'src/platform/work/fair-queue.ts',
]
const SENTENCE = /^[A-Z][^\n]* [^\n]*\.$/

/** Messages some of whose values are words, or that the sources put together otherwise. */
const PUT_TOGETHER: Readonly<Record<string, readonly string[]>> = {
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: the sources have these
  'has reached its quota of ${quotas[reached]} ${what}; ${advice}, or ask the operator of this service for a higher quota':
    [
      ['links', 'delete links'],
      ['bytes of links', 'delete or shorten links'],
      ['domains', 'delete domains'],
      ['pending domains', 'prove or delete pending domains'],
    ].map(
      ([what, advice]) =>
        `has reached its quota of 5 ${what}; ${advice}, or ask the operator of this service for a higher quota`,
    ),
  'This needs the role ${role} in the workspace.': ['viewer', 'member', 'admin', 'owner'].map(
    (role) => `This needs the role ${role} in the workspace.`,
  ),
  'No token may do this. Sign in as an ${role}.': ['admin', 'owner'].map(
    (role) => `No token may do this. Sign in as an ${role}.`,
  ),
  "must be ${/^[aeiou]/.test(issue.expected) ? 'an' : 'a'} ${issue.expected}": [
    'must be a string',
    'must be a boolean',
    'must be a number',
    'must be an int',
    'must be an array',
    'must be an object',
    'must be a record',
  ],
  'must have at least ${lengthMin} characters${reason}': [
    'must have at least 10 characters',
    'must have at least 15 characters, or 10 once a second factor is set up',
  ],
  'cannot be deleted: ${reason}': [
    'cannot be deleted: the instance would have no operator; name another one first',
    'cannot be deleted: the workspace acme would have no owner; make another member owner, or delete the workspace, first',
  ],
  'would make ${count} points${each}; there can be ${POINTS_MAX} in one answer': [
    'would make 20 points; there can be 10 in one answer',
    'would make 20 points for 5 values; there can be 10 in one answer',
  ],
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: the sources have these
}

/** What zod words itself. */
const OF_ZOD = [
  'Too big: expected array to have <=1000 items',
  'Too big: expected string to have <=500 characters',
  'Invalid input',
]

const COMMENT = /^\s*(?:\/\/|\/?\*).*$/gm
const TEXT = /'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g
const VALUE = /\$\{(?:[^{}]|\{[^{}]*\})*\}/g
const NOT_FOUND = /notFound\((?:'([^']+)'|`([^`]+)`)\)/g

/** The texts in the sources that have a form, each value replaced by 7. */
function textsIn(sources: readonly string[], form: RegExp): readonly string[] {
  const texts = codeOf(sources).flatMap((code) =>
    [...code.matchAll(TEXT)].map(([, plain, template]) => plain ?? template ?? ''),
  )
  return texts.filter((text) => form.test(text)).flatMap(withValues)
}

function withValues(text: string): readonly string[] {
  return PUT_TOGETHER[text] ?? [text.replace(VALUE, '7')]
}

function codeOf(sources: readonly string[]): readonly string[] {
  const files = sources.flatMap((source) => globSync(source, { cwd: ROOT }))
  return files
    .filter((file) => !file.endsWith('.test.ts'))
    .map((file) => readFileSync(new URL(file, ROOT), 'utf8').replace(COMMENT, ''))
}

function notFoundTexts(): readonly string[] {
  const code = codeOf(['src/{clicks,domains,identity,imports,links}/**/*.ts'])
  const named = code.flatMap((one) => [...one.matchAll(NOT_FOUND)])
  return named.map(([, plain, template]) => `${plain ?? template ?? ''} not found.`)
}

function missing(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].filter((text) => faultText(text, faults) === text)
}

describe('the German faults', () => {
  test('have every fault of a field', () => {
    const texts = textsIn(SOURCES_OF_FAULTS, FAULT)
    assert.ok(texts.length > 80, `only ${texts.length} found`)
    assert.deepEqual(missing(texts), [])
  })

  test('have every sentence about a request as a whole', () => {
    const texts = textsIn(SOURCES_OF_SENTENCES, SENTENCE)
    assert.ok(texts.length > 15, `only ${texts.length} found`)
    assert.deepEqual(missing(texts), [])
  })

  test('have what is not found', () => {
    const texts = notFoundTexts().map((text) => text.replace(VALUE, '7'))
    assert.ok(texts.includes('Link not found.'))
    assert.deepEqual(missing(texts), [])
  })

  test('have what zod words itself', () => {
    assert.deepEqual(missing(OF_ZOD), [])
  })

  test('use only values that the message has', () => {
    const namesIn = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    for (const [message, words] of Object.entries(faults)) {
      const names = namesIn(message)
      assert.ok(
        namesIn(words).every((name) => names.includes(name)),
        message,
      )
    }
  })
})

describe('faultText', () => {
  const cases: [string, string][] = [
    ['is taken on this domain', 'ist auf dieser Domain vergeben'],
    ['must not lead back to this link', 'darf nicht zu diesem Link zurückführen'],
    ['must be a whole number from 64 to 2048', 'muss eine ganze Zahl von 64 bis 2048 sein'],
    ['is of no known kind', 'is of no known kind'],
  ]
  for (const [text, words] of cases) {
    test(`gives “${words}” for “${text}”`, () => assert.equal(faultText(text, faults), words))
  }

  test('returns a message as it is where there are no words for it', () => {
    assert.equal(faultText('is taken on this domain', {}), 'is taken on this domain')
  })
})
