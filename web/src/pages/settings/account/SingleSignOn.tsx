import { useQuery } from '@tanstack/react-query'
import type { MeResource } from '../../../api/me.ts'
import { startOidcLink } from '../../../api/oidc.ts'
import { signInOptionsQuery } from '../../../api/session.ts'
import { useChange } from '../../../shell/use-change.ts'
import { useText } from '../../../text/use-text.ts'
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
        <li>
          <span className="who">
            {me.identities.length === 0
              ? t.account.oidcNone
              : me.identities.map(({ issuer }) => (
                  <span key={issuer}>{t.account.oidcLinked(issuer)}</span>
                ))}
          </span>
          {me.identities.length === 0 && (
            <Button size="small" isBusy={isPending} onClick={() => mutate(undefined)}>
              {t.account.oidcLink(oidc.name)}
            </Button>
          )}
        </li>
      </ul>
    </Section>
  )
}
