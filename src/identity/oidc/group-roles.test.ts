import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { rolesByWorkspace } from './group-roles.ts'

describe('rolesByWorkspace', () => {
  const map = [
    { group: 'editors', workspace: 'acme', role: 'member' },
    { group: 'admins', workspace: 'acme', role: 'admin' },
    { group: 'admins', workspace: 'other', role: 'viewer' },
  ] as const
  const cases = [
    { groups: [], roles: { acme: undefined, other: undefined } },
    { groups: ['editors'], roles: { acme: 'member', other: undefined } },
    { groups: ['admins', 'editors'], roles: { acme: 'admin', other: 'viewer' } },
    { groups: ['editors', 'admins'], roles: { acme: 'admin', other: 'viewer' } },
    { groups: ['Admins', 'strangers'], roles: { acme: undefined, other: undefined } },
  ]
  for (const { groups, roles } of cases) {
    test(`gives ${groups.join(' and ') || 'no group'} the highest role of each workspace`, () => {
      assert.deepEqual(Object.fromEntries(rolesByWorkspace(map, groups)), roles)
    })
  }
})
