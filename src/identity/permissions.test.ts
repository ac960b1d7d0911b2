import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { Role } from '@terse/contract/roles'
import fastify from 'fastify'
import { type Actor, personActor, systemActor, tokenActor } from './actor.ts'
import { nameOperations } from './authentication.ts'
import {
  type Access,
  isPermission,
  OPERATION_ACCESS,
  type Operation,
  permissionsOfRole,
  ROLES,
  requireAccess,
  SCOPES,
  type Scope,
} from './permissions.ts'

type Description = {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly operationId: string }>>>
  >
}

const OPERATIONS = Object.keys(OPERATION_ACCESS) as Operation[]
const accessOf = (operation: Operation): Access => OPERATION_ACCESS[operation]
/** In workspaces, with the least role. */
const FOR_PEOPLE = { 'workspaces.delete': 'owner', 'members.resetPassword': 'admin' } as const
const IN_WORKSPACES = OPERATIONS.filter((operation) => isPermission(accessOf(operation)))

function actorWith(scopes: readonly Scope[]) {
  const times = {
    created_at: 0,
    created_by: null,
    expires_at: null,
    last_used_at: null,
    revoked_at: null,
  }
  return tokenActor({ id: 't', workspace_id: 'w', name: 'test', scopes, ...times })
}

describe('OPERATION_ACCESS', () => {
  test('has an entry for each operation of the API description, and no other', () => {
    const text = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8')
    const { paths } = JSON.parse(text) as Description
    const described = Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .map(({ operationId }) => operationId)
    assert.deepEqual(OPERATIONS.toSorted(), described.toSorted())
  })
})

/** A person who authenticated just now. */
function personWith(role: Role | undefined, overrides: Partial<Actor> = {}): Actor {
  const person = { id: 'p', email: '', email_folded: '', name: 'Ada', is_operator: false }
  const times = { created_at: 0, disabled_at: null, email_proved_at: null }
  const membership = role && {
    workspace_id: 'w',
    workspace_name: 'acme',
    workspace_title: 'Acme',
    person_id: 'p',
    created_at: 0,
    source: null,
    role,
  }
  return { ...personActor({ ...person, ...times }, membership, true), ...overrides }
}

function allows(actor: Actor, operation: Operation): boolean {
  try {
    requireAccess(actor, operation)
    return true
  } catch {
    return false
  }
}

describe('requireAccess', () => {
  test('accepts exactly one scope of a token for each operation, and names it otherwise', () => {
    const forTokens = IN_WORKSPACES.filter((operation) => !(operation in FOR_PEOPLE))
    const needed = forTokens.map((operation) => {
      const accepted = SCOPES.filter((scope) => allows(actorWith([scope]), operation))
      const [scope] = accepted
      assert.equal(accepted.length, 1, operation)
      assert.throws(() => requireAccess(actorWith([]), operation), {
        code: 'missing_scope',
        message: `This token lacks the scope ${scope}.`,
      })
      return [operation, scope]
    })
    assert.deepEqual(Object.fromEntries(needed), {
      'links.list': 'links:read',
      'links.get': 'links:read',
      'links.export': 'links:read',
      'links.checkKey': 'links:read',
      'links.getQrCode': 'links:read',
      'links.drawQrCode': 'links:read',
      'links.bulk': 'links:write',
      'links.create': 'links:write',
      'links.update': 'links:write',
      'links.patch': 'links:write',
      'links.delete': 'links:write',
      'links.getClicks': 'clicks:read',
      'links.compareVariants': 'clicks:read',
      'links.exportClicks': 'clicks:read',
      'tags.list': 'links:read',
      'tags.rename': 'links:write',
      'tags.delete': 'links:write',
      'domains.list': 'domains:read',
      'domains.get': 'domains:read',
      'domains.getDns': 'domains:read',
      'domains.getHttps': 'domains:read',
      'domains.getSettings': 'domains:read',
      'domains.getDefault': 'domains:read',
      'domains.create': 'domains:write',
      'domains.verify': 'domains:write',
      'domains.update': 'domains:write',
      'domains.patch': 'domains:write',
      'domains.updateHttps': 'domains:write',
      'domains.updateSettings': 'domains:write',
      'domains.patchSettings': 'domains:write',
      'domains.updateDefault': 'domains:write',
      'domains.delete': 'domains:write',
      'domains.getClicks': 'clicks:read',
      'domains.exportClicks': 'clicks:read',
      'clicks.get': 'clicks:read',
      'clicks.getSparklines': 'clicks:read',
      'clicks.export': 'clicks:read',
      'clicks.live': 'clicks:read',
      'conversions.list': 'conversions:read',
      'conversions.export': 'conversions:read',
      'conversions.record': 'conversions:write',
      'conversions.getSettings': 'links:read',
      'conversions.updateSettings': 'workspace:admin',
      'assistants.list': 'links:read',
      'assistants.delete': 'links:read',
      'assistants.getSettings': 'links:read',
      'assistants.updateSettings': 'workspace:admin',
      'compat.list': 'links:read',
      'compat.update': 'workspace:admin',
      'webhooks.list': 'webhooks:read',
      'webhooks.get': 'webhooks:read',
      'webhooks.listAttempts': 'webhooks:read',
      'webhooks.create': 'webhooks:write',
      'webhooks.patch': 'webhooks:write',
      'webhooks.delete': 'webhooks:write',
      'webhooks.rotateSecret': 'webhooks:write',
      'webhooks.endOldSecret': 'webhooks:write',
      'webhooks.test': 'webhooks:write',
      'webhooks.replay': 'webhooks:write',
      'workspace.getUsage': 'links:read',
      'workspace.export': 'workspace:admin',
      'events.list': 'workspace:admin',
      'links.getOrigin': 'links:read',
      'imports.list': 'links:read',
      'imports.get': 'links:read',
      'imports.getReport': 'links:read',
      'imports.getColumns': 'links:write',
      'imports.create': 'links:write',
      'imports.uploadFile': 'links:write',
      'imports.start': 'links:write',
      'imports.revive': 'links:write',
      'imports.cancel': 'links:write',
      'links.getOptions': 'links:read',
      'links.setOptions': 'links:write',
      'links.getRules': 'links:read',
      'links.setRules': 'links:write',
      'links.getHistory': 'links:read',
      'links.revert': 'links:write',
      'links.explain': 'links:read',
      'labels.get': 'links:read',
      'labels.update': 'workspace:admin',
      'links.getExamples': 'links:read',
      'links.setExamples': 'links:write',
      'utmTemplates.list': 'links:read',
      'utmTemplates.get': 'links:read',
      'utmTemplates.create': 'links:write',
      'utmTemplates.update': 'links:write',
      'utmTemplates.patch': 'links:write',
      'utmTemplates.delete': 'links:write',
      'links.readPreview': 'links:write',
      'previews.read': 'links:write',
      'images.create': 'links:write',
      'ruleSets.list': 'links:read',
      'ruleSets.get': 'links:read',
      'ruleSets.create': 'links:write',
      'ruleSets.update': 'links:write',
      'ruleSets.patch': 'links:write',
      'ruleSets.delete': 'links:write',
      'workspaces.get': 'links:read',
      'workspaces.patch': 'workspace:admin',
      'members.list': 'workspace:admin',
      'members.patch': 'workspace:admin',
      'members.delete': 'workspace:admin',
      'invitations.list': 'workspace:admin',
      'invitations.create': 'workspace:admin',
      'invitations.delete': 'workspace:admin',
      'tokens.list': 'workspace:admin',
      'tokens.create': 'workspace:admin',
      'tokens.delete': 'workspace:admin',
    })
  })

  test('refuses tokens the deletion of their workspace, and new passwords for its members', () => {
    for (const [operation, role] of Object.entries(FOR_PEOPLE)) {
      assert.throws(() => requireAccess(actorWith(SCOPES), operation as Operation), {
        code: 'missing_role',
        details: { code: 'person_needed', role },
      })
    }
  })

  test('gives each role what it needs and names the least role otherwise', () => {
    const least = (operation: Operation) =>
      ROLES.find((role) => allows(personWith(role), operation)) ?? 'none'
    const needed = Object.groupBy(IN_WORKSPACES, least)
    assert.deepEqual(Object.keys(needed).toSorted(), ['admin', 'member', 'owner', 'viewer'])
    for (const operation of IN_WORKSPACES) {
      const role = least(operation)
      const lower = ROLES[ROLES.indexOf(role as Role) - 1]
      if (lower === undefined) continue
      const details = { code: 'role_needed', reason: role }
      const actor = personWith(lower)
      assert.throws(() => requireAccess(actor, operation), { code: 'missing_role', details })
    }
    const edits = IN_WORKSPACES.filter((operation) => !allows(personWith('viewer'), operation))
    const ofMembers = edits.filter((operation) => allows(personWith('member'), operation))
    assert.ok(ofMembers.length >= 7)
    for (const operation of ofMembers)
      assert.match(
        operation,
        /^(links|tags|utmTemplates|ruleSets|previews|images|imports|conversions)\./,
      )
  })

  test('gives each role all that the roles before it have', () => {
    for (const [index, role] of ROLES.entries()) {
      const before = ROLES[index - 1]
      if (before === undefined) continue
      const more = permissionsOfRole(role)
      assert.ok(permissionsOfRole(before).isSubsetOf(more), role)
      assert.ok(more.size > permissionsOfRole(before).size, role)
    }
  })

  test('refuses tokens what is for people, and people what is for operators', () => {
    for (const operation of OPERATIONS.filter((each) => accessOf(each) === 'signed in')) {
      assert.throws(() => requireAccess(actorWith(SCOPES), operation), { code: 'missing_role' })
      assert.ok(allows(personWith(undefined), operation), operation)
    }
    for (const operation of OPERATIONS.filter((each) => accessOf(each) === 'operator')) {
      const operator = personWith(undefined, { isOperator: true })
      assert.throws(() => requireAccess(actorWith(SCOPES), operation), { code: 'missing_role' })
      assert.throws(() => requireAccess(personWith('owner'), operation), { code: 'missing_role' })
      assert.ok(allows(operator, operation), operation)
    }
  })

  test('asks people to authenticate again for what is sensitive', () => {
    const stale = personWith('owner', { hasAuthenticatedRecently: false, isOperator: true })
    const refused = OPERATIONS.filter((operation) => !allows(stale, operation))
    const open = OPERATIONS.filter((operation) => accessOf(operation) === 'open')
    assert.deepEqual(
      refused.filter((operation) => !open.includes(operation)),
      [
        'workspace.export',
        'assistants.create',
        'me.setPassword',
        'me.changeEmail',
        'workspaces.delete',
        'members.resetPassword',
        'tokens.create',
        'tokens.delete',
        'people.patch',
        'people.delete',
        'people.resetPassword',
        'me.startTotp',
        'me.confirmTotp',
        'me.deleteTotp',
        'me.createRecoveryCodes',
        'me.createPasskeyOptions',
        'me.createPasskey',
        'me.deletePasskey',
        'me.linkIdentity',
        'me.unlinkIdentity',
      ],
    )
    assert.throws(() => requireAccess(stale, 'me.setPassword'), { code: 'authentication_required' })
  })

  test('accepts every operation of a part of the service', () => {
    const actor = systemActor('test')('w')
    for (const operation of IN_WORKSPACES) requireAccess(actor, operation)
  })
})

describe('nameOperations', () => {
  test('refuses a described route without a permission, which would be open to all', () => {
    const app = fastify()
    nameOperations(app)
    const add = (operationId?: string) =>
      app.get('/api/v1/secrets', { schema: { ...(operationId && { operationId }) } }, () => '')
    assert.throws(() => add('secrets.list'), /\/api\/v1\/secrets has no permission: secrets\.list/)
    assert.throws(() => add(), /has no permission: undefined/)
  })
})
