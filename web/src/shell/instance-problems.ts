import type { InstanceResource } from '../api/instance.ts'
import type { Catalogue } from '../text/en.ts'
import type { Formats } from '../text/formats.ts'

/** What is wrong with the instance now, a sentence for each; empty only where all that it knows of itself is well. */
export function instanceProblems(
  instance: InstanceResource,
  { instance: t }: Pick<Catalogue, 'instance'>,
  formats: Pick<Formats, 'list' | 'exact'>,
): readonly string[] {
  const { roles, nodes, certificates, damaged_files: damaged, counted_until: until } = instance
  const unready = Object.entries(roles).flatMap(([role, state]) =>
    state === 'ok' ? [] : [t.roles[role as keyof typeof t.roles] ?? role],
  )
  const lost = nodes.flatMap(({ state, name }) => (state === 'up' ? [] : [name]))
  const proxies = new Set(nodes.flatMap(({ untrusted_proxy: address }) => address ?? []))
  const { expired = 0, expiring = 0, failing = 0 } = certificates ?? {}
  const problems = [
    unready.length > 0 && t.problems.unready(formats.list(unready)),
    lost.length > 0 && t.problems.lostNodes(formats.list(lost)),
    instance.data_folder_fault,
    instance.journal_fault,
    instance.clicks_fault,
    instance.is_disk_low && t.problems.diskLow,
    damaged.length > 0 && t.problems.damaged(formats.list(damaged)),
    until !== null && t.problems.behind(formats.exact(new Date(until))),
    expired > 0 && t.problems.expired(expired),
    expiring > 0 && t.problems.expiring(expiring),
    failing > 0 && t.problems.failing(failing),
    proxies.size > 0 && t.untrustedProxy(formats.list([...proxies])),
  ]
  return problems.filter((problem) => typeof problem === 'string')
}
