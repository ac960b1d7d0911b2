import { randomUUID } from 'node:crypto'
import type { Stores } from '../../src/app/database/stores.ts'
import { newSchedule } from '../../src/domains/check-schedule.ts'
import { commandLine } from '../../src/identity/actor.ts'
import { NO_OVERRIDES } from '../../src/identity/quotas/quota.ts'
import { hostChange } from '../../src/storage/changes.ts'
import {
  type Home,
  listOf,
  NOW,
  newDomain,
  newIdentity,
  newImport,
  newImportedLink,
  newLink,
  newNode,
  newOneTimeLink,
  newPasskey,
  newPerson,
  newReportRow,
  newSealedCertificate,
  newSession,
  newSpool,
  newToken,
  newWorkspace,
  runOf,
  UNMANAGED,
} from './samples.ts'
import { webhookReads, webhookWrites } from './webhook-calls.ts'

type Call = (stores: Stores) => Promise<unknown>

/** A call about a person, who is inserted before. */
function withPerson(call: (stores: Stores, personId: string) => Promise<unknown>): Call {
  return async (stores) => {
    const person = newPerson()
    await stores.people.insert(person)
    await call(stores, person.id)
  }
}

/** Every store method that only reads. */
export function everyRead(home: Home): Readonly<Record<string, Call>> {
  const { workspace_id: workspace, keyspace_id: keyspace, domain: host } = home
  const id = randomUUID()
  const scope = { kind: 'workspace', workspaceId: workspace } as const
  return {
    'instance.find': (s) => s.instance.find('name'),
    'workspaces.findByName': (s) => s.workspaces.findByName('name'),
    'workspaces.list': (s) => s.workspaces.list(),
    'tokens.findByHash': (s) => s.tokens.findByHash('hash'),
    'tokens.findById': (s) => s.tokens.findById(id),
    'workspaces.findById': (s) => s.workspaces.findById(id),
    'workspaces.listUnremoved': (s) => s.workspaces.listUnremoved(),
    'memberships.listOfWorkspace': (s) => s.memberships.listOfWorkspace(id),
    'oneTimeLinks.listInvitations': (s) => s.oneTimeLinks.listInvitations(id, NOW),
    'people.list': (s) => s.people.list(),
    'people.countOperators': (s) => s.people.countOperators(),
    'tokens.list': (s) => s.tokens.list(undefined),
    'quotas.find': (s) => s.quotas.find(workspace),
    'quotas.list': (s) => s.quotas.list(),
    'quotas.countLinks': (s) => s.quotas.countLinks(workspace),
    'quotas.countDomains': (s) => s.quotas.countDomains(workspace),
    'people.isEmpty': (s) => s.people.isEmpty(),
    'people.findById': (s) => s.people.findById(id),
    'people.findByEmail': (s) => s.people.findByEmail('ada@example.com'),
    'people.findForSignIn': (s) => s.people.findForSignIn('ada@example.com'),
    'passwords.find': (s) => s.passwords.find(id),
    'memberships.find': (s) => s.memberships.find(workspace, id),
    'memberships.hasAddress': (s) => s.memberships.hasAddress(workspace, 'ada@example.com'),
    'memberships.listOfPerson': (s) => s.memberships.listOfPerson(id),
    'memberships.countOwners': (s) => s.memberships.countOwners(workspace),
    'memberships.listUnconfirmed': (s) => s.memberships.listUnconfirmed(id, NOW),
    'memberships.workspacesWithoutOwner': (s) => s.memberships.workspacesWithoutOwner(),
    'sessions.has': (s) => s.sessions.has(id, id),
    'sessions.listOfPerson': (s) => s.sessions.listOfPerson(id),
    'oneTimeLinks.listOpenOf': (s) => s.oneTimeLinks.listOpenOf(id, NOW),
    'oneTimeLinks.findOpen': (s) => s.oneTimeLinks.findOpen('setup', 'hash', NOW),
    'oneTimeLinks.hasOpen': (s) => s.oneTimeLinks.hasOpen('setup', NOW),
    'totp.find': (s) => s.totp.find(id),
    'recoveryCodes.isUnused': (s) => s.recoveryCodes.isUnused(id, 'hash'),
    'recoveryCodes.countUnused': (s) => s.recoveryCodes.countUnused(id),
    'passkeys.findByCredential': (s) => s.passkeys.findByCredential('credential'),
    'passkeys.list': (s) => s.passkeys.list(id),
    'identities.find': (s) => s.identities.find('https://id.example.com', 'subject'),
    'identities.list': (s) => s.identities.list(id),
    'groupBindings.find': (s) => s.groupBindings.find('acme'),
    'groupBindings.namesOf': (s) => s.groupBindings.namesOf(workspace),
    'keyspaces.find': (s) => s.keyspaces.find(workspace, host),
    'domains.findById': (s) => s.domains.findById(workspace, id),
    'domains.findByHost': (s) => s.domains.findByHost(workspace, host),
    'domains.findActive': (s) => s.domains.findActive(host),
    'domains.page': (s) => s.domains.page({ workspaceId: workspace, host }, 0, 25),
    'domains.run': (s) => s.domains.run(runOf(workspace)),
    'domains.findDefault': (s) => s.domains.findDefault(workspace),
    'domains.count': (s) => s.domains.count({ workspaceId: workspace, host }),
    'domains.pendingOn': (s) => s.domains.pendingOn(host),
    'domains.countByStatus': (s) => s.domains.countByStatus(),
    'domains.pendingAfter': (s) => s.domains.pendingAfter(id, 25),
    'domains.listFacts': (s) => s.domains.listFacts([id]),
    'certificates.findLives': (s) => s.certificates.findLives([host]),
    'links.countByHost': (s) => s.links.countByHost({ workspaceId: workspace, hosts: [host] }),
    'domainChecks.find': (s) => s.domainChecks.find(id),
    'domainChecks.findDueWorkspaces': (s) => s.domainChecks.findDueWorkspaces(0, NOW),
    'hsts.find': (s) => s.hsts.find(id),
    'certificates.find': (s) => s.certificates.find(host),
    'certificates.findLife': (s) => s.certificates.findLife(host),
    'certificates.list': (s) => s.certificates.list(10),
    'certificates.countEndingBefore': (s) => s.certificates.countEndingBefore(NOW),
    'certificateOrders.find': (s) => s.certificateOrders.find(host),
    'certificateOrders.findChallenge': (s) => s.certificateOrders.findChallenge(host),
    'certificateOrders.findMissing': (s) => s.certificateOrders.findMissing('', 10),
    'certificateOrders.findOutdated': (s) => s.certificateOrders.findOutdated('', 10),
    'certificateOrders.countFailing': (s) => s.certificateOrders.countFailing(),
    'certificateOrders.findDueWorkspaces': (s) =>
      s.certificateOrders.findDueWorkspaces('new', 0, NOW),
    'acmeAccounts.find': (s) => s.acmeAccounts.find('https://ca.example/'),
    'acmeBudgets.spentUntil': (s) => s.acmeBudgets.spentUntil('https://ca.example/', 'orders'),
    'links.findById': (s) => s.links.findById(workspace, id),
    'links.findUncounted': (s) => s.links.findUncounted(workspace, id),
    'links.findMany': (s) => s.links.findMany(workspace, [id]),
    'links.findKeyState': (s) => s.links.findKeyState(keyspace, 'key', 16),
    'linkBatches.findHolders': (s) => s.linkBatches.findHolders(keyspace, ['key']),
    'linkBatches.findBySeqs': (s) => s.linkBatches.findBySeqs(workspace, [1]),
    'imports.find': (s) => s.imports.find(workspace, id),
    'imports.findUnshown': (s) => s.imports.findUnshown(workspace, 'fingerprint'),
    'imports.list': (s) => s.imports.list(workspace, { limit: 10 }),
    'imports.count': (s) => s.imports.count(workspace),
    'imports.findDue': (s) => s.imports.findDue(NOW, 10),
    'imports.isRunning': (s) => s.imports.isRunning(workspace, NOW),
    'imports.countUnended': (s) => s.imports.countUnended(workspace),
    'imports.findEndedBefore': (s) => s.imports.findEndedBefore(NOW, 10),
    'imports.findSecretsBefore': (s) => s.imports.findSecretsBefore(NOW, 10),
    'imports.findFilesAmong': (s) => s.imports.findFilesAmong(['file']),
    'importRows.list': (s) => s.importRows.list(id, 0, 10),
    'importRows.findDryRun': (s) => s.importRows.findDryRun(id, ['ref']),
    'importRows.openingOfDryRun': (s) => s.importRows.openingOfDryRun(id),
    'importRows.findTargets': (s) => s.importRows.findTargets(id, ['target']),
    'importRows.findByRef': (s) => s.importRows.findByRef(workspace, 'kutt', ['ref']),
    'importRows.findByLink': (s) => s.importRows.findByLink(workspace, [1]),
    'links.page': (s) => s.links.page(listOf(workspace)),
    'links.run': (s) => s.links.run(runOf(workspace)),
    'links.count': (s) => s.links.count({ workspaceId: workspace }),
    'links.valuesOf': (s) => s.links.valuesOf([1]),
    'erasures.listLinks': (s) => s.erasures.listLinks(NOW, 10),
    'erasures.hasLinks': (s) => s.erasures.hasLinks(workspace),
    'erasures.listWorkspaces': (s) => s.erasures.listWorkspaces(NOW),
    'erasures.listPeople': (s) => s.erasures.listPeople(),
    'erasures.formerAddresses': (s) => s.erasures.formerAddresses(id),
    'tags.count': (s) => s.tags.count(workspace, 'a'),
    'tags.findLinks': (s) => s.tags.findLinks(workspace, 'a', 1),
    'utmTemplates.page': (s) => s.utmTemplates.page(workspace, 0, 25),
    'utmTemplates.findById': (s) => s.utmTemplates.findById(workspace, id),
    'utmTemplates.findByName': (s) => s.utmTemplates.findByName(workspace, 'name'),
    'utmTemplates.count': (s) => s.utmTemplates.count(workspace),
    'domainSettings.find': (s) => s.domainSettings.find(id),
    'domainSettings.hostsWithRuleSet': (s) => s.domainSettings.hostsWithRuleSet(workspace, id, 10),
    'domainSettings.countByRuleSet': (s) => s.domainSettings.countByRuleSet(workspace),
    'directory.findDocument': (s) => s.directory.findDocument(host, 'assetlinks'),
    'directory.findRuleSet': (s) => s.directory.findRuleSet(workspace, id),
    'images.find': (s) => s.images.find('0'.repeat(64)),
    ...webhookReads(home),
    'ruleSets.page': (s) => s.ruleSets.page(workspace, 0, 25),
    'ruleSets.run': (s) => s.ruleSets.run({ ...runOf(workspace), beyond: 'a' }),
    'ruleSets.count': (s) => s.ruleSets.count(workspace),
    'ruleSets.findById': (s) => s.ruleSets.findById(workspace, id),
    'ruleSets.findByName': (s) => s.ruleSets.findByName(workspace, 'name'),
    'ruleSets.findUses': (s) => s.ruleSets.findUses(workspace, id, 10),
    'ruleSets.countLinks': (s) => s.ruleSets.countLinks(workspace, [id]),
    'directory.findActiveHost': (s) => s.directory.findActiveHost(host),
    'directory.findByFoldedKey': (s) => s.directory.findByFoldedKey(keyspace, 'key'),
    'directory.findByKey': (s) => s.directory.findByKey(keyspace, 'key'),
    'clicks.findPosition': (s) => s.clicks.findPosition('journal'),
    'reports.readDays': (s) => s.reports.readDays(scope, 1, 2, { slots: true }),
    'reports.daysWithClicks': (s) => s.reports.daysWithClicks(scope, 1, 2),
    'reports.readDaysOfLinks': (s) =>
      s.reports.readDaysOfLinks([1], { fromDay: 1, toDay: 2, slots: true }),
    'reports.linkCounts': (s) => Array.fromAsync(s.reports.linkCounts(scope, 0, 1)),
    'reports.linkIds': (s) => s.reports.linkIds([1]),
    'reports.rawClicks': (s) => Array.fromAsync(s.reports.rawClicks(scope, 0, 1)),
    'clickLeases.findUse': (s) => s.clickLeases.findUse(1, NOW),
    'clickSpools.find': (s) => s.clickSpools.find(id),
    'clickSpools.readAfter': (s) => s.clickSpools.readAfter(id, { bucket: 1, part: 1 }),
    'clickSpools.hasClicks': (s) => s.clickSpools.hasClicks(id),
    'clickSpools.listSealed': (s) => s.clickSpools.listSealed(),
    'visitorSalts.find': (s) => s.visitorSalts.find(1),
    'nodes.list': (s) => s.nodes.list(),
    'changes.end': (s) => s.changes.end(),
    'changes.since': async (s) => s.changes.since(await s.changes.end(), 10),
    'events.end': (s) => s.events.end(),
    'feed.end': (s) => s.feed.end(NOW),
    'feed.since': async (s) => {
      const wanted = { workspaceIds: [workspace], fromMicros: NOW, linkValues: true }
      return s.feed.since(await s.feed.end(NOW), wanted, () => {})
    },
    'feed.recent': async (s) =>
      s.feed.recent(
        await s.feed.end(NOW),
        {
          workspaceId: workspace,
          linkSeqs: undefined,
          keyspaceIds: undefined,
          filter: new Map(),
          linkFilter: new Map(),
          bots: 'include',
        },
        { fromMicros: NOW, latestMax: 10 },
      ),
    'events.since': async (s) => s.events.since(await s.events.end(), 10),
    'events.run': (s) => s.events.run({ workspaceId: workspace, limit: 10, beyond: undefined }),
    'idempotency.find': (s) => s.idempotency.find(workspace, 'key'),
  }
}

/** Every store method that writes. */
export function everyWrite(home: Home): Readonly<Record<string, Call>> {
  const { workspace_id: workspace, domain: host } = home
  const id = randomUUID()
  const link = { ...newLink(home), seq: 1, clicks: 0, last_click: null }
  const template = {
    id,
    workspace_id: workspace,
    name: id,
    utm_source: null,
    utm_medium: null,
    utm_campaign: null,
    utm_term: null,
    utm_content: null,
    utm_name: null,
    ...UNMANAGED,
    created_at: NOW,
    updated_at: NOW,
  }
  const times = { created_at: NOW, updated_at: NOW }
  const image = {
    hash: 'f'.repeat(64),
    width: 1,
    height: 1,
    type: 'png',
    data: Buffer.alloc(9),
  } as const
  const ruleSet = { id, workspace_id: workspace, name: id, rules: [], ...UNMANAGED, ...times }
  const record = { workspace_id: workspace, idempotency_key: id, fingerprint: '', result: '' }
  return {
    'instance.tryWrite': (s) => s.instance.tryWrite(),
    'instance.keep': (s) => s.instance.keep(id, 'value'),
    'workspaces.insert': (s) => s.workspaces.insert(newWorkspace()),
    'tokens.insert': (s) => s.tokens.insert(newToken(workspace), id),
    'tokens.revoke': (s) => s.tokens.revoke(workspace, id, NOW),
    'tokens.revokeAll': (s) => s.tokens.revokeAll(id, NOW),
    'workspaces.lockNames': (s) => s.workspaces.lockNames(),
    'workspaces.change': (s) => s.workspaces.change(id, { name: id }),
    'workspaces.markDeleted': (s) => s.workspaces.markDeleted(id, NOW),
    'workspaces.markRemoved': (s) => s.workspaces.markRemoved(id, NOW),
    'memberships.deleteAll': (s) => s.memberships.deleteAll(id),
    'oneTimeLinks.deleteInvitation': (s) => s.oneTimeLinks.deleteInvitation(id, id),
    'oneTimeLinks.deleteAll': (s) => s.oneTimeLinks.deleteAll([id]),
    'oneTimeLinks.deleteMadeBy': (s) => s.oneTimeLinks.deleteMadeBy(id),
    'oneTimeLinks.deleteOfWorkspace': (s) => s.oneTimeLinks.deleteOfWorkspace(id),
    'oneTimeLinks.deleteInvitationsOf': (s) => s.oneTimeLinks.deleteInvitationsOf(id, id),
    'oneTimeLinks.deleteResetsOf': (s) => s.oneTimeLinks.deleteResetsOf(id),
    'oneTimeLinks.deleteEmailChangesOf': (s) => s.oneTimeLinks.deleteEmailChangesOf(id),
    'people.changeEmail': (s) =>
      s.people.changeEmail(id, { email: 'Eve@example.com', email_folded: 'eve@example.com' }),
    'people.lockOperators': (s) => s.people.lockOperators(),
    'tokens.noteUse': (s) => s.tokens.noteUse(id, NOW),
    'quotas.set': (s) => s.quotas.set(workspace, NO_OVERRIDES),
    'quotas.lock': (s) => s.quotas.lock(workspace),
    'people.insert': (s) => s.people.insert(newPerson()),
    'people.delete': (s) => s.people.delete(id),
    'tokens.forgetCreator': (s) => s.tokens.forgetCreator(id),
    'oneTimeLinks.deleteOfAddress': (s) => s.oneTimeLinks.deleteOfAddress('ada@example.com'),
    'erasures.noteLink': (s) => s.erasures.noteLink({ seq: 1, workspace_id: workspace }, NOW),
    'erasures.forgetLinks': (s) => s.erasures.forgetLinks([1]),
    'erasures.eraseSettings': (s) => s.erasures.eraseSettings(id),
    'erasures.eraseEvents': (s) => s.erasures.eraseEvents(id),
    'erasures.eraseWorkspace': (s) => s.erasures.eraseWorkspace(id),
    'erasures.notePerson': (s) =>
      s.erasures.notePerson({ id: randomUUID(), email_folded: 'ada@example.com', deleted_at: NOW }),
    'erasures.erasePerson': (s) =>
      s.erasures.erasePerson(
        {
          ...{ id, email_folded: 'ada@example.com', deleted_at: NOW },
          ...{ events_until: 0, events_pass: null },
        },
        { now: NOW, writesUntil: NOW },
      ),
    'people.update': (s) => s.people.update(id, { name: 'Grace' }),
    'people.lock': (s) => s.people.lock(id),
    'people.lockFirst': (s) => s.people.lockFirst(),
    'passwords.set': async (s) => {
      const person = newPerson()
      await s.people.insert(person)
      await s.passwords.set(person.id, { sealed_hash: '', is_long: true, changed_at: NOW })
    },
    'passwords.remove': (s) => s.passwords.remove(id),
    'memberships.insert': async (s) => {
      const person = newPerson()
      await s.people.insert(person)
      const member = { workspace_id: workspace, person_id: person.id, created_at: NOW }
      await s.memberships.insert({ ...member, role: 'viewer', source: 'hand' })
    },
    'memberships.setRole': (s) => s.memberships.setRole(workspace, id, 'admin', 'hand'),
    'memberships.confirm': (s) => s.memberships.confirm(workspace, id, NOW),
    'memberships.delete': (s) => s.memberships.delete(workspace, id),
    'memberships.lock': (s) => s.memberships.lock(workspace),
    'sessions.insert': async (s) => {
      const person = newPerson()
      await s.people.insert(person)
      await s.sessions.insert(newSession(person.id), id)
    },
    'sessions.renew': (s) => s.sessions.renew(id, 'hash', NOW),
    'sessions.noteUse': (s) => s.sessions.noteUse(id, NOW),
    'sessions.delete': (s) => s.sessions.delete(id, id),
    'sessions.deleteOthers': (s) => s.sessions.deleteOthers(id, id),
    'sessions.deleteBeyond': (s) => s.sessions.deleteBeyond(id, 10),
    'sessions.trim': (s) => s.sessions.trim({ createdBefore: 0, seenBefore: 0 }),
    'oneTimeLinks.insert': (s) =>
      s.oneTimeLinks.insert(newOneTimeLink(), { shown: id, mailed: randomUUID() }),
    'oneTimeLinks.use': (s) => s.oneTimeLinks.use('setup', id, NOW),
    'oneTimeLinks.trim': (s) => s.oneTimeLinks.trim(0),
    'totp.setPending': withPerson((s, person) => s.totp.setPending(person, 'sealed')),
    'totp.confirm': (s) => s.totp.confirm(id, { sealedSecret: '', step: 1, atMicros: NOW }),
    'totp.useStep': (s) => s.totp.useStep(id, '', 2),
    'totp.remove': (s) => s.totp.remove(id),
    'recoveryCodes.replace': withPerson((s, person) => s.recoveryCodes.replace(person, ['hash'])),
    'recoveryCodes.use': (s) => s.recoveryCodes.use(id, 'hash', NOW),
    'passkeys.insert': withPerson((s, person) => s.passkeys.insert(newPasskey(person))),
    'passkeys.rename': (s) => s.passkeys.rename(id, id, 'name'),
    'passkeys.setNeedsPassword': (s) => s.passkeys.setNeedsPassword(id, true),
    'passkeys.noteUse': (s) => s.passkeys.noteUse(id, 1, NOW),
    'passkeys.remove': (s) => s.passkeys.remove(id, id),
    'groupBindings.bindFirst': (s) => s.groupBindings.bindFirst('acme', workspace, NOW),
    'groupBindings.bind': (s) => s.groupBindings.bind('acme', workspace, NOW),
    'groupBindings.release': (s) => s.groupBindings.release(id),
    'identities.remove': (s) => s.identities.remove({ issuer: 'i', subject: 's' }),
    'identities.insert': withPerson((s, person) => s.identities.insert(newIdentity(person))),
    'usedChallenges.use': (s) => s.usedChallenges.use(id, NOW),
    'usedChallenges.trim': (s) => s.usedChallenges.trim(0),
    'keyspaces.open': (s) => s.keyspaces.open(workspace, id),
    'keyspaces.rename': (s) => s.keyspaces.rename(workspace, host, id),
    'keyspaces.deleteIfEmpty': (s) => s.keyspaces.deleteIfEmpty(workspace, host),
    'keyspaces.openShared': (s) => s.keyspaces.openShared(id),
    'domains.insert': (s) => s.domains.insert(newDomain(workspace)),
    'domains.update': (s) => s.domains.update(newDomain(workspace), NOW),
    'domains.activate': (s) => s.domains.activate(id, host, NOW),
    'domains.deactivate': (s) => s.domains.deactivate(id, host, NOW),
    'domains.delete': (s) => s.domains.delete(workspace, id),
    'domainChecks.insert': async (s) => {
      const domain = newDomain(workspace)
      await s.domains.insert(domain)
      await s.domainChecks.insert(domain, newSchedule(NOW))
    },
    'domainChecks.leaseDue': (s) =>
      s.domainChecks.leaseDue(new Map([[workspace, 10]]), NOW, NOW + 1, 10),
    'domainChecks.lease': (s) => s.domainChecks.lease(id, NOW + 1),
    'domainChecks.noteDemand': (s) => s.domainChecks.noteDemand(id, NOW),
    'domainChecks.finish': (s) => {
      const lease = { domain: newDomain(workspace), fence: 1 }
      return s.domainChecks.finish(lease, newSchedule(NOW), { at: NOW, verdict: 'proved' })
    },
    'domainChecks.release': (s) => {
      const lease = { domain: newDomain(workspace), workspaceId: workspace, fence: 1 }
      return s.domainChecks.release({ ...lease, schedule: newSchedule(NOW) })
    },
    'domainChecks.restart': (s) => s.domainChecks.restart(id, newSchedule(NOW)),
    'domainChecks.makeDue': (s) => s.domainChecks.makeDue(host, NOW),
    'domains.setDefault': async (s) => {
      const domain = newDomain(workspace)
      await s.domains.insert(domain)
      await s.domains.setDefault(workspace, domain.id)
      await s.domains.setDefault(workspace, undefined)
    },
    'hsts.save': async (s) => {
      const domain = newDomain(workspace)
      await s.domains.insert(domain)
      await s.hsts.save(domain.id, 1)
    },
    'hsts.remove': (s) => s.hsts.remove(id),
    'certificates.save': (s) => s.certificates.save(newSealedCertificate(), NOW),
    'certificates.setRenewalWindow': (s) =>
      s.certificates.setRenewalWindow(host, 'id', { start: 1, end: 2 }),
    'certificates.remove': (s) => s.certificates.remove(host),
    'certificateOrders.add': (s) =>
      s.certificateOrders.add(id, { workspaceId: workspace, queue: 'new' }, NOW),
    'certificateOrders.assign': (s) => s.certificateOrders.assign(host, workspace, NOW),
    'certificateOrders.makeDue': (s) => s.certificateOrders.makeDue(id, NOW),
    'certificateOrders.remove': (s) => s.certificateOrders.remove(id),
    'certificateOrders.leaseDue': (s) =>
      s.certificateOrders.leaseDue('new', new Map([[workspace, 10]]), NOW, NOW + 1, 10),
    'certificateOrders.extend': (s) => s.certificateOrders.extend(host, 1, NOW),
    'certificateOrders.advance': (s) => s.certificateOrders.advance(host, 1, { challenge: null }),
    'certificateOrders.finish': (s) => s.certificateOrders.finish(host, 1, { nextAt: NOW }),
    'acmeAccounts.insert': (s) => s.acmeAccounts.insert(id, 'sealed', NOW),
    'acmeAccounts.setUrl': (s) => s.acmeAccounts.setUrl(id, 'https://ca.example/1'),
    'acmeAccounts.pause': (s) => s.acmeAccounts.pause(id, 0, { until: NOW, failure: 'away' }),
    'acmeAccounts.resume': (s) => s.acmeAccounts.resume(id),
    'acmeAccounts.setChallenge': (s) => s.acmeAccounts.setChallenge(id, 'http-01'),
    'acmeBudgets.charge': (s) => s.acmeBudgets.charge(id, 'x', { burst: 1, refillMicros: 1 }, NOW),
    'acmeBudgets.refund': (s) => s.acmeBudgets.refund(id, 'x', { burst: 1, refillMicros: 1 }),
    'acmeBudgets.trim': (s) => s.acmeBudgets.trim(NOW),
    'linkBatches.insert': (s) => s.linkBatches.insert([newLink(home)], 16),
    'imports.insert': (s) => s.imports.insert(newImport(workspace)),
    'imports.requeue': (s) => s.imports.requeue(id, 1, { next_at: NOW, attempts: 0 }),
    'imports.update': (s) => s.imports.update(id, 1, { status: 'queued' }),
    'imports.delete': (s) => s.imports.delete(id),
    'importRows.append': async (s) => {
      const added = newImport(workspace)
      await s.imports.insert(added)
      await s.importRows.append([newReportRow(added.id)])
    },
    'importRows.delete': (s) => s.importRows.delete(id, 10),
    'importRows.noteDryRun': async (s) => {
      const added = newImport(workspace)
      await s.imports.insert(added)
      await s.importRows.noteDryRun([{ import_id: added.id, ref: 'ref', clicks: 1 }])
    },
    'importRows.deleteDryRun': (s) => s.importRows.deleteDryRun(id, 10),
    'importRows.link': (s) => s.importRows.link([newImportedLink(home)]),
    'links.insert': (s) => s.links.insert(newLink(home)),
    'links.update': (s) => s.links.update(link, link),
    'links.skipNumbers': (s) => s.links.skipNumbers(1),
    'links.lastNumber': (s) => s.links.lastNumber(),
    'links.delete': (s) => s.links.delete(workspace, id),
    'utmTemplates.insert': (s) => s.utmTemplates.insert(template),
    'utmTemplates.update': (s) => s.utmTemplates.update(template, template),
    'utmTemplates.delete': (s) => s.utmTemplates.delete(workspace, id),
    'domainSettings.save': async (s) => {
      const settings = await s.domainSettings.find(id)
      if (settings !== undefined) await s.domainSettings.save(settings, 1)
    },
    'images.has': (s) => s.images.has(workspace, image.hash, 'update'),
    'images.insert': (s) => s.images.insert(workspace, image, NOW),
    'images.trim': (s) => s.images.trim(NOW + 1, NOW, 10),
    ...webhookWrites(home),
    'ruleSets.has': (s) => s.ruleSets.has(workspace, id, 'update'),
    'ruleSets.insert': (s) => s.ruleSets.insert(ruleSet),
    'ruleSets.update': (s) => s.ruleSets.update(ruleSet, ruleSet),
    'ruleSets.delete': (s) => s.ruleSets.delete(ruleSet),
    'tags.retag': async (s) => {
      const before = await s.links.insert(newLink(home))
      if (before !== undefined) await s.tags.retag([{ before, after: before }])
    },
    'clickLeases.renew': (s) =>
      s.clickLeases.renew({
        ...{ linkSeq: 1, journalId: 'journal', granted: undefined, held: 0, wanted: 1 },
        atMicros: NOW,
      }),
    'clickLeases.forgetLinks': (s) => s.clickLeases.forgetLinks([1]),
    'clickSpools.open': (s) => s.clickSpools.open(newSpool(home)),
    'clickSpools.add': async (s) => {
      const spool = newSpool(home)
      await s.clickSpools.open(spool)
      await s.clickSpools.add(spool.id, [{ bucket: 1, clicks: 1, data: new Uint8Array(1) }])
    },
    'clickSpools.clear': (s) => s.clickSpools.clear(randomUUID(), 1),
    'clickSpools.seal': (s) =>
      s.clickSpools.seal(randomUUID(), { journal_id: 'journal', opening: 0, opening_links: 0 }),
    'clickSpools.removeCounted': (s) =>
      s.clickSpools.removeCounted(randomUUID(), { segment: 1, offset: 1 }),
    'clickSpools.markCounted': (s) => s.clickSpools.markCounted(randomUUID()),
    'clickSpools.remove': (s) => s.clickSpools.remove(randomUUID()),
    'visitorSalts.keep': (s) => s.visitorSalts.keep(1, 'salt'),
    'visitorSalts.forgetBefore': (s) => s.visitorSalts.forgetBefore(1),
    'nodes.beat': (s) => s.nodes.beat(newNode(id)),
    'nodes.forget': (s) => s.nodes.forget(id, NOW),
    'nodes.takeLost': (s) => s.nodes.takeLost(NOW, NOW),
    'changes.append': (s) => s.changes.append(hostChange(host), NOW),
    'changes.trim': (s) => s.changes.trim(0),
    'events.append': (s) => {
      const event = { type: 'link.deleted', subjectId: id, before: {}, after: null } as const
      return s.events.append(commandLine(workspace), event, NOW)
    },
    'events.trim': (s) => s.events.trim(0),
    'idempotency.insert': (s) => s.idempotency.insert({ ...record, created_at: NOW }),
    'idempotency.trim': (s) => s.idempotency.trim(0),
  }
}
