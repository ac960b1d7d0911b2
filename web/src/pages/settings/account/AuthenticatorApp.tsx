import { useMutation, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import {
  confirmTotp,
  ME_KEY,
  type MeResource,
  removeTotp,
  startTotp,
  type TotpSetupResource,
} from '../../../api/me.ts'
import { Icon } from '../../../icons/Icon.tsx'
import { CheckIcon } from '../../../icons/index.ts'
import { ConfirmDialog } from '../../../shell/ConfirmDialog.tsx'
import { useChange } from '../../../shell/use-change.ts'
import { useFaults } from '../../../shell/use-faults.ts'
import { useText } from '../../../text/use-text.ts'
import { Button } from '../../../widgets/Button.tsx'
import { CopyButton } from '../../../widgets/CopyButton.tsx'
import { Dialog } from '../../../widgets/Dialog.tsx'
import { Field, Input } from '../../../widgets/Field.tsx'
import { FormNote } from '../../../widgets/FormNote.tsx'
import { showMessage } from '../../../widgets/toasts.ts'
import { Section } from '../Section.tsx'

const QrCode = lazy(() => import('./QrCode.tsx'))

export function AuthenticatorApp({ me }: { me: MeResource }) {
  const t = useText()
  const [setup, setSetup] = useState<TotpSetupResource>()
  const [isRemoving, setRemoving] = useState(false)
  const { mutate: start, isPending } = useChange(async () => setSetup(await startTotp()), {
    keys: [],
  })
  return (
    <Section title={t.account.totp} hint={t.account.totpHint}>
      <ul className="rows">
        <li>
          <span className="who">
            {me.has_totp ? (
              <span className="badge ok">
                <Icon of={CheckIcon} />
                {t.account.totpOn}
              </span>
            ) : (
              <span className="badge off">{t.account.totpOff}</span>
            )}
          </span>
          <Button size="small" isBusy={isPending} onClick={() => start(undefined)}>
            {me.has_totp ? t.account.totpReplace : t.account.totpStart}
          </Button>
          {me.has_totp && (
            <Button size="small" onClick={() => setRemoving(true)}>
              {t.account.totpRemove}
            </Button>
          )}
        </li>
      </ul>
      {setup && <SetUpDialog setup={setup} onClose={() => setSetup(undefined)} />}
      {isRemoving && (
        <ConfirmDialog
          title={t.account.totpRemoveTitle}
          text={t.account.totpRemoveText}
          verb={t.account.totpRemove}
          act={removeTotp}
          keys={[ME_KEY]}
          message={t.account.totpRemoved}
          onClose={() => setRemoving(false)}
        />
      )}
    </Section>
  )
}

function SetUpDialog({ setup, onClose }: { setup: TotpSetupResource; onClose: () => void }) {
  const t = useText()
  const client = useQueryClient()
  const [code, setCode] = useState('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => confirmTotp(code.replaceAll(/\s/g, '')),
    onSuccess() {
      showMessage(t.account.totpDone)
      void client.invalidateQueries({ queryKey: ME_KEY })
      onClose()
    },
  })
  const faults = useFaults(error, ['code'])
  return (
    <Dialog
      isOpen
      isFirm
      onClose={onClose}
      onSubmit={() => mutate()}
      title={t.account.totpTitle}
      description={t.account.totpScan}
      footer={
        <>
          <Button onClick={onClose}>{t.common.cancel}</Button>
          <Button type="submit" look="ink" isBusy={isPending}>
            {t.account.totpConfirm}
          </Button>
        </>
      }
    >
      <div className="grid gap-4 pt-2">
        <FormNote text={faults.general} />
        <div className="totp-qr">
          <Suspense fallback={null}>
            <QrCode text={setup.url} label={t.account.totpQr} />
          </Suspense>
        </div>
        <Field label={t.account.totpKey}>
          {(control) => (
            <Input
              {...control}
              className="mono"
              readOnly
              value={setup.secret}
              after={<CopyButton text={setup.secret} label={t.account.copyKey} />}
            />
          )}
        </Field>
        <Field label={t.account.totpCode} errors={faults.of('code')}>
          {(control) => (
            <Input
              {...control}
              className="mono"
              required
              autoFocus
              inputMode="numeric"
              autoComplete="one-time-code"
              value={code}
              onChange={(event) => setCode(event.target.value)}
            />
          )}
        </Field>
      </div>
    </Dialog>
  )
}
