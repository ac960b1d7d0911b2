import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { domainsQuery } from '../../../api/domains.ts'
import { Icon } from '../../../icons/Icon.tsx'
import { GoodIcon, WarningIcon } from '../../../icons/index.ts'
import { useServiceHost } from '../../../shell/use-service-host.ts'
import { useText } from '../../../text/use-text.ts'
import { MissingDomain } from './MissingDomain.tsx'

/** The hosts on which the links of an import are, and which of them do not redirect yet. */
export function DomainsOfLinks({ hosts }: { hosts: readonly string[] }) {
  const t = useText()
  const own = useServiceHost()
  const { data: domains } = useQuery(domainsQuery)
  if (domains === undefined || hosts.length === 0) return null
  const statusOf = (host: string) =>
    host === own ? 'active' : domains.find(({ domain }) => domain === host)?.status
  return (
    <div className="grid gap-2">
      <h3 className="lab">{t.imports.domainsOfLinks}</h3>
      <ul className="rows" aria-label={t.imports.domainsOfLinks}>
        {hosts.map((host) => (
          <li key={host} className="flex-wrap">
            {statusOf(host) === undefined ? (
              <MissingDomain host={host} />
            ) : (
              <HostState host={host} isActive={statusOf(host) === 'active'} />
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}

function HostState({ host, isActive }: { host: string; isActive: boolean }) {
  const t = useText()
  return (
    <>
      <span className="who">
        <b>{host}</b>
        {!isActive && <span>{t.imports.pendingDomain}</span>}
      </span>
      {isActive ? (
        <span className="badge ok">
          <Icon of={GoodIcon} />
          {t.domains.states.active}
        </span>
      ) : (
        <Link to="/domains" className="badge warn">
          <Icon of={WarningIcon} />
          {t.domains.states.pending}
        </Link>
      )}
    </>
  )
}
