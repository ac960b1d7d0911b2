import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { requestPasswordReset } from '../../api/session.ts'
import { Icon } from '../../icons/Icon.tsx'
import { CheckIcon } from '../../icons/index.ts'
import { SoloPage } from '../../shell/SoloPage.tsx'
import { useFaults } from '../../shell/use-faults.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { CopyButton } from '../../widgets/CopyButton.tsx'
import { Field, Input } from '../../widgets/Field.tsx'
import { FormNote } from '../../widgets/FormNote.tsx'

type ForgottenPasswordProps = {
  readonly email: string
  readonly sendsMail: boolean
  readonly onBack: () => void
}

export function ForgottenPassword({ email, sendsMail, onBack }: ForgottenPasswordProps) {
  const t = useText()
  return (
    <SoloPage title={t.signIn.forgotTitle}>
      {sendsMail ? <RequestForm email={email} /> : <AskSomebody email={email} />}
      <button type="button" className="link text-13" onClick={onBack}>
        {t.common.back}
      </button>
    </SoloPage>
  )
}

function RequestForm({ email }: { email: string }) {
  const t = useText()
  const [typed, setTyped] = useState(email)
  const { mutate, isPending, isSuccess, error } = useMutation({ mutationFn: requestPasswordReset })
  const faults = useFaults(error, ['email'])
  if (isSuccess) {
    return (
      <div className="note" role="status">
        <Icon of={CheckIcon} />
        <span>{t.signIn.forgotSent}</span>
      </div>
    )
  }
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        mutate(typed)
      }}
    >
      <p className="muted">{t.signIn.forgotHint}</p>
      <FormNote text={faults.general} />
      <Field label={t.signIn.email} errors={faults.of('email')}>
        {(control) => (
          <Input
            {...control}
            type="email"
            autoComplete="username"
            required
            autoFocus
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        )}
      </Field>
      <Button type="submit" look="ink" isBusy={isPending}>
        {t.signIn.forgotSubmit}
      </Button>
    </form>
  )
}

function AskSomebody({ email }: { email: string }) {
  const t = useText()
  const command = `npx terse person reset ${email === '' ? 'you@example.com' : email}`
  return (
    <div className="grid gap-4">
      <p className="muted">{t.signIn.forgotNoMail}</p>
      <div className="cmd">
        <pre className="term">{command}</pre>
        <CopyButton text={command} label={t.setUp.copyCommand} />
      </div>
    </div>
  )
}
