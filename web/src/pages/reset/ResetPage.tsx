import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { completePasswordReset } from '../../api/session.ts'
import { SoloPage } from '../../shell/SoloPage.tsx'
import { useFaults } from '../../shell/use-faults.ts'
import { takeLinkCode } from '../../state/link-code.ts'
import { useText } from '../../text/use-text.ts'
import { Button, buttonClass } from '../../widgets/Button.tsx'
import { FormNote } from '../../widgets/FormNote.tsx'
import { PasswordField } from '../../widgets/PasswordField.tsx'

/** The length that is always enough. */
const PASSWORD_LENGTH = 15

/** A new password with the code of a link. */
export default function ResetPage() {
  const t = useText()
  const [code] = useState(takeLinkCode)
  const [password, setPassword] = useState('')
  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: (linkCode: string) => completePasswordReset(linkCode, password),
  })
  const faults = useFaults(error, ['password'])
  if (isSuccess) {
    return (
      <SoloPage title={t.reset.done}>
        <p className="muted" role="status">
          {t.reset.doneHint}
        </p>
        <Link to="/sign-in" className={buttonClass({ look: 'ink' })}>
          {t.signIn.title}
        </Link>
      </SoloPage>
    )
  }
  if (code === undefined) {
    return (
      <SoloPage title={t.reset.title}>
        <FormNote text={t.reset.noCode} />
      </SoloPage>
    )
  }
  return (
    <SoloPage title={t.reset.title}>
      <p className="muted">{t.reset.hint}</p>
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          mutate(code)
        }}
      >
        <FormNote text={faults.general} />
        <PasswordField
          label={t.reset.password}
          aside={<span className="hint">{t.reset.passwordAside}</span>}
          errors={faults.of('password')}
          lengthMin={PASSWORD_LENGTH}
          required
          autoFocus
          autoComplete="new-password"
          value={password}
          onChange={setPassword}
        />
        <Button type="submit" look="ink" isBusy={isPending}>
          {t.reset.submit}
        </Button>
      </form>
    </SoloPage>
  )
}
