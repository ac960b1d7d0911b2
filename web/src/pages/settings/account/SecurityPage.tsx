import { useQuery } from '@tanstack/react-query'
import { meQuery } from '../../../api/me.ts'
import { LoadFailure } from '../../../shell/LoadFailure.tsx'
import { AuthenticatorApp } from './AuthenticatorApp.tsx'
import { Passkeys } from './Passkeys.tsx'
import { PasswordForm } from './PasswordForm.tsx'
import { RecoveryCodes } from './RecoveryCodes.tsx'
import { SingleSignOn } from './SingleSignOn.tsx'

/** The ways in which the person signs in. */
export default function SecurityPage() {
  const { data: me, error } = useQuery(meQuery)
  if (me === undefined) return error === null ? null : <LoadFailure error={error} />
  return (
    <>
      <PasswordForm me={me} />
      <Passkeys />
      <AuthenticatorApp me={me} />
      <RecoveryCodes me={me} />
      <SingleSignOn me={me} />
    </>
  )
}
