import { addDomain, DOMAINS_KEY } from '../../../api/domains.ts'
import { AddIcon } from '../../../icons/index.ts'
import { useChange } from '../../../shell/use-change.ts'
import { useMembership } from '../../../shell/use-membership.ts'
import { useText } from '../../../text/use-text.ts'
import { Button } from '../../../widgets/Button.tsx'

/** Says that a host is no domain of the workspace yet, with a button that adds it. */
export function MissingDomain({ host }: { host: string }) {
  const t = useText()
  const { may } = useMembership()
  const { mutate, isPending } = useChange(() => addDomain(host), {
    keys: [DOMAINS_KEY],
    message: () => t.domains.added(host),
  })
  return (
    <div className="missing-domain" role="status">
      <span className="muted text-13">
        {may('admin') ? t.imports.noDomain(host) : t.imports.noDomainForMembers(host)}
      </span>
      {may('admin') && (
        <Button size="small" icon={AddIcon} isBusy={isPending} onClick={() => mutate(undefined)}>
          {t.imports.addHost(host)}
        </Button>
      )}
    </div>
  )
}
