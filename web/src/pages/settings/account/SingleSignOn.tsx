import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ME_KEY, type MeResource } from '../../../api/me.ts'
import { startOidcLink, unlinkIdentity } from '../../../api/oidc.ts'
import { signInOptionsQuery } from '../../../api/session.ts'
import { ConfirmDialog } from '../../../shell/ConfirmDialog.tsx'
import { useChange } from '../../../shell/use-change.ts'
import { useFormats, useText } from '../../../text/use-text.ts'
import { Button } from '../../../widgets/Button.tsx'
import { Section } from '../Section.tsx'

/** Nothing where the instance has no single sign-on. */
export function SingleSignOn({ me }: { me: MeResource }) {
  const t = useText()
  const { data: options } = useQuery(signInOptionsQuery)
  const { mutate, isPending } = useChange(
    async () => location.assign(await startOidcLink('/app/settings/security')),
    { keys: [] },
  )
  const oidc = options?.oidc
  if (!oidc) return null
  return (
    <Section title={t.account.oidc}>
      <ul className="rows">
        {me.identities.map((identity) => (
          <LinkedAccount key={identity.id} identity={identity} />
        ))}
        {me.identities.length === 0 && (
          <li>
            <span className="who">{t.account.oidcNone}</span>
            <Button size="small" isBusy={isPending} onClick={() => mutate(undefined)}>
              {t.account.oidcLink(oidc.name)}
            </Button>
          </li>
        )}
      </ul>
    </Section>
  )
}

function LinkedAccount({ identity }: { identity: MeResource['identities'][number] }) {
  const t = useText()
  const formats = useFormats()
  const [isAsking, setAsking] = useState(false)
  const { id, issuer, linked_at: linkedAt } = identity
  return (
    <li>
      <span className="who">{t.account.oidcLinked(issuer)}</span>
      <span className="col">{formats.day(new Date(linkedAt))}</span>
      <Button
        size="small"
        aria-label={`${t.account.oidcUnlink}: ${issuer}`}
        onClick={() => setAsking(true)}
      >
        {t.account.oidcUnlink}
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={t.account.oidcUnlinkAsk(issuer)}
          text={t.account.oidcUnlinkText}
          verb={t.account.oidcUnlink}
          act={() => unlinkIdentity(id)}
          keys={[ME_KEY]}
          message={t.account.oidcUnlinked(issuer)}
          onClose={() => setAsking(false)}
        />
      )}
    </li>
  )
}
