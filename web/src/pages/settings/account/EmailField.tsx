import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { changeEmail, confirmEmail, ME_KEY } from '../../../api/me.ts'
import { sessionQuery } from '../../../api/session.ts'
import { FormDialog } from '../../../shell/FormDialog.tsx'
import { useFaults } from '../../../shell/use-faults.ts'
import { codeOf, takeLinkCode } from '../../../state/link-code.ts'
import { useText } from '../../../text/use-text.ts'
import { Button } from '../../../widgets/Button.tsx'
import { Field, Input } from '../../../widgets/Field.tsx'
import { showMessage } from '../../../widgets/toasts.ts'

/** The address with which the person signs in. The link of a mail opens the page with its code. */
export function EmailField({ email }: { email: string }) {
  const t = useText()
  const [codeOfLink] = useState(takeLinkCode)
  const [step, setStep] = useState<'address' | 'code' | undefined>(
    codeOfLink === undefined ? undefined : 'code',
  )
  const close = () => setStep(undefined)
  return (
    <>
      <Field label={t.account.email} hint={t.account.emailHint}>
        {(control) => (
          <div className="flex gap-2">
            <Input {...control} type="email" readOnly value={email} />
            <Button onClick={() => setStep('address')}>{t.account.changeEmail}</Button>
          </div>
        )}
      </Field>
      {step === 'address' && <AddressDialog onMailed={() => setStep('code')} onClose={close} />}
      {step === 'code' && <CodeDialog codeOfLink={codeOfLink} onClose={close} />}
    </>
  )
}

/** Returns what shows the new address everywhere. */
function useChanged(): () => Promise<void> {
  const t = useText()
  const client = useQueryClient()
  return async () => {
    void client.invalidateQueries({ queryKey: ME_KEY })
    await client.refetchQueries({ queryKey: sessionQuery.queryKey })
    showMessage(t.account.emailChanged)
  }
}

function AddressDialog({ onMailed, onClose }: { onMailed: () => void; onClose: () => void }) {
  const t = useText()
  const showChanged = useChanged()
  const [email, setEmail] = useState('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => changeEmail(email),
    async onSuccess({ status }) {
      if (status === 'mailed') return onMailed()
      await showChanged()
      onClose()
    },
  })
  const faults = useFaults(error, ['email'])
  return (
    <FormDialog
      title={t.account.changeEmailTitle}
      verb={t.account.changeEmail}
      fault={faults.general}
      isBusy={isPending}
      onSubmit={() => mutate()}
      onClose={onClose}
    >
      <Field label={t.account.newEmail} hint={t.account.newEmailHint} errors={faults.of('email')}>
        {(control) => (
          <Input
            {...control}
            type="email"
            required
            autoFocus
            autoComplete="email"
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        )}
      </Field>
    </FormDialog>
  )
}

type CodeDialogProps = { readonly codeOfLink: string | undefined; readonly onClose: () => void }

function CodeDialog({ codeOfLink, onClose }: CodeDialogProps) {
  const t = useText()
  const showChanged = useChanged()
  const [code, setCode] = useState(codeOfLink ?? '')
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => confirmEmail(code.trim()),
    async onSuccess() {
      await showChanged()
      onClose()
    },
  })
  const faults = useFaults(error, ['code'])
  return (
    <FormDialog
      title={t.account.confirmEmailTitle}
      verb={t.account.confirmEmail}
      fault={faults.general}
      isBusy={isPending}
      onSubmit={() => mutate()}
      onClose={onClose}
    >
      <Field label={t.account.emailCode} hint={t.account.emailCodeHint} errors={faults.of('code')}>
        {(control) => (
          <Input
            {...control}
            className="mono"
            required
            autoFocus
            autoComplete="off"
            spellCheck={false}
            value={code}
            onChange={(event) => setCode(codeOf(event.target.value) ?? event.target.value)}
          />
        )}
      </Field>
    </FormDialog>
  )
}
